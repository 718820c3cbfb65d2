package dev.twinbox.it;

import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.inject.Inject;
import jakarta.transaction.Transactional;
import java.sql.SQLException;

/** Writes under a lock, in a transaction of a CDI bean. */
@ApplicationScoped
public class LockedWork {

    @Inject
    KeyLocks locks;

    @Inject
    LockedEffects effects;

    @Transactional
    public void write(String key, KeyLock lock) throws SQLException {
        lock.fence();
        effects.writeWithoutFence(key, lock);
    }

    /** The exception does not leave the method. */
    @Transactional
    public void writeInSpiteOfTheRefusal(String key, KeyLock lock) throws SQLException {
        effects.writeWithoutFence(key, lock);
        try {
            lock.fence();
        } catch (RuntimeException e) {
            // The transaction has to end by a rollback nevertheless.
        }
    }

    @Transactional(Transactional.TxType.REQUIRES_NEW)
    public boolean isFreeInTransaction(String key) {
        return locks.tryLockInTransaction(key);
    }
}
