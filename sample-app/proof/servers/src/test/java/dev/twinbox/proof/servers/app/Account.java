package dev.twinbox.proof.servers.app;

import jakarta.persistence.Entity;
import jakarta.persistence.Id;

/** A row that many transactions change. A trigger numbers the changes in the order of the row's locks. */
@Entity
public class Account {

    @Id
    private long id;

    private String note;

    public void setNote(String changed) {
        note = changed;
    }

    public String getNote() {
        return note;
    }
}
