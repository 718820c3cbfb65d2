package dev.twinbox.it;

import jakarta.enterprise.inject.spi.CDI;
import jakarta.persistence.PostPersist;
import jakarta.persistence.PostUpdate;
import jakarta.persistence.PrePersist;
import jakarta.persistence.PreUpdate;

/** Publishes during the flush, at the callbacks that the account's note names. */
public class AccountListener {

    @PrePersist
    void prePersist(Account account) {
        publish(account, "PrePersist");
    }

    @PostPersist
    void postPersist(Account account) {
        publish(account, "PostPersist");
    }

    @PreUpdate
    void preUpdate(Account account) {
        publish(account, "PreUpdate");
    }

    @PostUpdate
    void postUpdate(Account account) {
        publish(account, "PostUpdate");
    }

    private static void publish(Account account, String callback) {
        if (account.getNote().contains(callback)) {
            CDI.current().select(Announcer.class).get().announce(account.getId(), callback);
        }
    }
}
