package dev.twinbox.it;

import jakarta.persistence.Entity;
import jakarta.persistence.EntityListeners;
import jakarta.persistence.Id;

/** The entity that the tests change. Its listener publishes where {@link #note} says so. */
@Entity
@EntityListeners(AccountListener.class)
public class Account {

    @Id
    private long id;

    private String note;

    protected Account() {}

    public Account(long id, String note) {
        this.id = id;
        this.note = note;
    }

    public long getId() {
        return id;
    }

    public String getNote() {
        return note;
    }

    public void setNote(String note) {
        this.note = note;
    }
}
