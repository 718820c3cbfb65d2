package dev.twinbox.lock;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import dev.twinbox.TwinboxException;
import dev.twinbox.lock.QuickLeases.AwayException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;

/**
 * A lock that was granted.
 *
 * <p>While a transaction has fenced it, its row is locked. An extension or a release would wait for that transaction, and
 * the transaction perhaps for them. So they are kept until its end.
 */
final class FencedLock implements KeyLock {

    private static final Logger LOG = System.getLogger(FencedLock.class.getName());

    /**
     * Where locks are kept.
     *
     * @param leases null: in the database alone
     * @param later runs what had to wait for the end of a transaction
     */
    record Store(
            LockDatabase database,
            FenceTable fences,
            @Nullable QuickLeases leases,
            Executor later) {}

    private final Store store;
    private final String key;
    private final long token;

    /** The owner in the store of leases; null: the lease is in the database alone. */
    private final @Nullable String owner;

    /** The keys of the transactions that have fenced the lock and have not ended. */
    private final Set<Object> fencing = new HashSet<>();

    /** What waits for their end. */
    private final List<Runnable> waiting = new ArrayList<>();

    private long until;
    private boolean lost;
    private boolean closed;

    /** @param until the end of the lease, as {@link System#nanoTime} */
    FencedLock(Store store, String key, long token, @Nullable String owner, long until) {
        this.store = store;
        this.key = key;
        this.token = token;
        this.owner = owner;
        this.until = until;
    }

    @Override
    public long token() {
        return token;
    }

    @Override
    public synchronized boolean isHeld() {
        return !closed && !lost && System.nanoTime() - until < 0;
    }

    @Override
    public void fence() {
        store.database().requireTransaction("KeyLock.fence");
        if (isClosed()) {
            throw stale("it was closed");
        }
        begin(store.database().transactionKey());
        boolean isOurs;
        try {
            isOurs = store.database()
                    .inCallersTransaction(connection -> store.fences().fence(connection, key, token));
        } catch (SQLException e) {
            throw new TwinboxException(
                    "The lock of \"" + key + "\" cannot be checked (data source "
                            + store.database().name() + "): " + e.getMessage()
                            + ". Try the transaction again when the database works",
                    e);
        }
        if (!isOurs) {
            lose();
            throw stale("the key was granted to another holder, or its row was deleted");
        }
    }

    private StaleLockException stale(String why) {
        store.database().rollBack();
        return new StaleLockException("The lock of \"" + key + "\" with token " + token + " is no longer held, because "
                + why + ". The transaction rolls back; take the lock again to try again");
    }

    private void begin(Object transaction) {
        synchronized (this) {
            if (!fencing.add(transaction)) {
                return;
            }
        }
        try {
            store.database().afterCompletion(() -> end(transaction));
        } catch (RuntimeException e) {
            end(transaction);
            throw e;
        }
    }

    private void end(Object transaction) {
        List<Runnable> due;
        synchronized (this) {
            fencing.remove(transaction);
            if (!fencing.isEmpty() || waiting.isEmpty()) {
                return;
            }
            due = List.copyOf(waiting);
            waiting.clear();
        }
        try {
            store.later().execute(() -> due.forEach(Runnable::run));
        } catch (RuntimeException e) { // the application is being undeployed
            LOG.log(Level.DEBUG, () -> "Lock of \"" + key + "\" ends with its lease: " + e);
        }
    }

    @Override
    public boolean extend(Duration lease) {
        LockRules.checkLease(lease);
        long end = System.nanoTime() + lease.toNanos();
        synchronized (this) {
            if (closed || lost) {
                return false;
            }
            if (!fencing.isEmpty()) {
                waiting.add(() -> extendLater(lease));
                until = end;
                return true;
            }
        }
        try {
            return extendUntil(end, lease);
        } catch (SQLException e) {
            throw new TwinboxException(
                    "The lock of \"" + key + "\" cannot be extended (data source "
                            + store.database().name() + "): " + e.getMessage()
                            + ". Try again while the lease lasts",
                    e);
        }
    }

    private void extendLater(Duration lease) {
        try {
            if (!extendUntil(System.nanoTime() + lease.toNanos(), lease)) {
                lose();
            }
        } catch (SQLException | RuntimeException e) {
            LOG.log(Level.DEBUG, () -> "Lock of \"" + key + "\" was not extended: " + e);
        }
    }

    private boolean extendUntil(long end, Duration lease) throws SQLException {
        boolean isExtended = isExtendedInStore(lease)
                && store.database()
                        .inNewTransaction(connection -> store.fences().extend(connection, key, token, lease));
        if (isExtended) {
            synchronized (this) {
                until = end;
            }
        }
        return isExtended;
    }

    /** A store that is away does not decide. */
    private boolean isExtendedInStore(Duration lease) {
        QuickLeases leases = store.leases();
        String ours = owner;
        if (leases == null || ours == null) {
            return true;
        }
        try {
            return leases.extend(key, ours, lease);
        } catch (AwayException e) {
            return true;
        }
    }

    @Override
    public void close() {
        synchronized (this) {
            if (closed) {
                return;
            }
            closed = true;
            if (!fencing.isEmpty()) {
                waiting.add(this::release);
                return;
            }
        }
        release();
    }

    private void release() {
        QuickLeases leases = store.leases();
        String ours = owner;
        try {
            if (leases == null || ours == null) {
                boolean unused = store.database()
                        .inNewTransaction(connection -> store.fences().release(connection, key, token));
            } else {
                leases.release(key, ours);
            }
        } catch (SQLException | AwayException | RuntimeException e) {
            LOG.log(Level.DEBUG, () -> "Lock of \"" + key + "\" ends with its lease: " + e);
        }
    }

    private synchronized boolean isClosed() {
        return closed;
    }

    private synchronized void lose() {
        lost = true;
    }

    @Override
    public String toString() {
        return "lock of \"" + key + "\" with token " + token;
    }
}
