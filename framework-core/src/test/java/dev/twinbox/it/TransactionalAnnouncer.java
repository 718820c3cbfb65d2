package dev.twinbox.it;

import dev.twinbox.Outbox;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.transaction.Transactional;

/** A CDI bean with transactions of its own. */
@ApplicationScoped
@Transactional
public class TransactionalAnnouncer {

    @Outbox
    public AccountChanged announce(long account, String what) {
        return new AccountChanged(account, what);
    }

    @Outbox
    @Transactional(Transactional.TxType.REQUIRES_NEW)
    public AccountChanged announceInNewTransaction(long account, String what) {
        return new AccountChanged(account, what);
    }
}
