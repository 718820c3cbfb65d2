package dev.twinbox.proof.servers.app;

import jakarta.enterprise.inject.spi.CDI;
import jakarta.persistence.Entity;
import jakarta.persistence.Id;
import jakarta.persistence.PostPersist;

/** What a transaction did: one row for each, with the same reference as its event. */
@Entity
public class Business {

    @Id
    private String ref;

    private long account;

    private boolean announced;

    protected Business() {}

    /** @param announced whether it is published when the row has been written, which may be in the flush of the commit */
    public Business(String ref, long account, boolean announced) {
        this.ref = ref;
        this.account = account;
        this.announced = announced;
    }

    @PostPersist
    void announce() {
        if (announced) {
            CDI.current().select(Work.class).get().publish(account, ref);
        }
    }
}
