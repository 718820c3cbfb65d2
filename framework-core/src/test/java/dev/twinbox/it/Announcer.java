package dev.twinbox.it;

import dev.twinbox.Outbox;
import jakarta.enterprise.context.ApplicationScoped;

/** A CDI bean without a transaction of its own. */
@ApplicationScoped
public class Announcer {

    @Outbox
    public AccountChanged announce(long account, String what) {
        return new AccountChanged(account, what);
    }

    /** The documented trap: no interceptor sees this call. */
    public AccountChanged announceThroughThis(long account, String what) {
        return announce(account, what);
    }
}
