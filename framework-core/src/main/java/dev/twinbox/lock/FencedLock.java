package dev.twinbox.lock;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import dev.twinbox.TwinboxException;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.lock.FenceTable.Decider;
import dev.twinbox.lock.QuickLeases.AwayException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
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

    /**
     * Where the lease is.
     *
     * @param owner in the store of leases; null: it was not asked
     * @param decider who has given the lease
     */
    record Lease(@Nullable String owner, Decider decider) {}

    private final Store store;
    private final String key;
    private final long token;

    private final @Nullable String owner;

    /** Who has decided last. Written by any thread. */
    private volatile Decider decider;

    /** By key, the transactions that have fenced the lock and have not ended, and the threads that did it. */
    private final Map<Object, Thread> fencing = new HashMap<>();

    /** What waits for their end. */
    private final List<Runnable> waiting = new ArrayList<>();

    private final LockTurn turn;

    private long until;
    private boolean lost;
    private boolean closed;

    /** @param until the end of the lease, as {@link System#nanoTime} */
    FencedLock(Store store, String key, long token, Lease lease, long until) {
        this.store = store;
        this.key = key;
        this.token = token;
        this.owner = lease.owner();
        this.decider = lease.decider();
        this.until = until;
        this.turn = new LockTurn(store.fences().limit());
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
        boolean isPassed = false;
        try {
            store.database().requireTransaction("KeyLock.fence");
            begin(store.database().transactionKey());
            pass();
            isPassed = true;
        } finally {
            if (!isPassed) {
                store.database().rollBack(); // also if the caller catches what is thrown: nothing fences its writes
            }
        }
    }

    private void pass() {
        Passage passage;
        try {
            passage = store.database()
                    .inCallersTransaction(connection -> store.fences().fence(connection, key, token));
        } catch (SQLException e) {
            if (SqlState.SERIALIZATION_FAILURE.isOf(e)) {
                throw stale(
                        "its row has changed since the transaction began: the key was granted to another holder, or "
                                + "the lease was extended (the latter counts above READ COMMITTED only)");
            }
            throw new TwinboxException(
                    "The lock of \"" + key + "\" cannot be fenced (data source "
                            + store.database().name() + "): " + e.getMessage() + ". The transaction rolls back; "
                            + LockFailures.remedy(e) + ", then try again",
                    e);
        }
        if (passage == Passage.OLD_SNAPSHOT) {
            throw stale(
                    "the transaction cannot see its row: the transaction is not READ COMMITTED, and began before the "
                            + "grant, or the key was granted to another holder");
        }
        if (passage == Passage.REFUSED) {
            lose();
            throw stale("the key was granted to another holder, or its row was deleted");
        }
    }

    private StaleLockException stale(String why) {
        return new StaleLockException("The lock of \"" + key + "\" with token " + token + " is no longer held, because "
                + why + ". The transaction rolls back; take the lock again to try again");
    }

    private void begin(Object transaction) {
        synchronized (this) {
            if (closed) {
                throw stale("it was closed");
            }
            if (fencing.containsKey(transaction)) {
                return;
            }
            if (fencing.containsValue(Thread.currentThread())) {
                throw new TwinboxException(
                        "The lock of \"" + key + "\" is fenced by a transaction that this thread has "
                                + "suspended, so this transaction would wait for itself. It rolls back; call fence() in one of "
                                + "the two, or end the first one before");
            }
            fencing.put(transaction, Thread.currentThread());
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
    public boolean extend(Duration anew) {
        LockRules.checkLease(anew);
        long end = System.nanoTime() + anew.toNanos();
        synchronized (this) {
            if (closed || lost) {
                return false;
            }
            if (isKept(anew)) {
                until = end;
                return true;
            }
        }
        try {
            return extendInTurn(end, anew);
        } catch (SQLException e) {
            throw new TwinboxException(
                    "The lock of \"" + key + "\" cannot be extended (data source "
                            + store.database().name() + "): " + e.getMessage() + ". While the lease lasts, "
                            + LockFailures.remedy(e) + ", then try again",
                    e);
        }
    }

    /** Whether the extension has to wait for the end of a transaction. */
    private synchronized boolean isKept(Duration anew) {
        if (fencing.isEmpty()) {
            return false;
        }
        waiting.add(() -> extendLater(anew));
        return true;
    }

    /** The holder may have fenced the lock once more meanwhile. */
    private void extendLater(Duration anew) {
        if (isKept(anew)) {
            return;
        }
        try {
            boolean isExtended = extendInTurn(System.nanoTime() + anew.toNanos(), anew);
            LOG.log(Level.DEBUG, () -> "Lock of \"" + key + "\" was extended: " + isExtended);
        } catch (SQLException | RuntimeException e) {
            LOG.log(Level.DEBUG, () -> "Lock of \"" + key + "\" was not extended: " + e);
        }
    }

    private boolean extendInTurn(long end, Duration anew) throws SQLException {
        if (!turn.take()) {
            return false;
        }
        try {
            return !isOver() && extendUntil(end, anew);
        } finally {
            turn.give();
        }
    }

    private synchronized boolean isOver() {
        return closed || lost;
    }

    private boolean extendUntil(long end, Duration anew) throws SQLException {
        Renewal done = isExtendedInStore(anew)
                ? store.database()
                        .inNewTransaction(connection -> store.fences().extend(connection, key, token, anew, decider))
                : Renewal.LOST;
        if (done == Renewal.LOST) {
            lose();
            return false;
        }
        if (done == Renewal.BUSY && !isKept(anew)) { // the holder may have fenced it a moment ago
            return false;
        }
        synchronized (this) {
            until = end;
        }
        return true;
    }

    /** A store that is away does not decide any more: the lease is the database's from then on. */
    private boolean isExtendedInStore(Duration anew) {
        QuickLeases leases = store.leases();
        if (leases == null || owner == null || decider != Decider.STORE) {
            return true;
        }
        try {
            return leases.extend(key, owner, anew);
        } catch (AwayException e) {
            decider = Decider.DATABASE;
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

    /** No extension is under way then, and none comes later. */
    private void release() {
        boolean isTurn = turn.take();
        try {
            if (!isTurn) {
                warnOfRelease(
                        "an extension has not come back for " + store.fences().limit());
            } else if (decider == Decider.DATABASE) {
                releaseInDatabase();
            }
        } finally {
            if (isTurn) {
                turn.give();
            }
        }
        releaseInStore();
    }

    private void releaseInDatabase() {
        try {
            boolean isOurs = store.database()
                    .inNewTransaction(connection -> store.fences().release(connection, key, token));
            LOG.log(Level.DEBUG, () -> "Lock of \"" + key + "\" was given back; it was still held: " + isOurs);
        } catch (SQLException | RuntimeException e) {
            warnOfRelease(String.valueOf(e.getMessage()));
        }
    }

    private void warnOfRelease(String why) {
        LOG.log(
                Level.WARNING,
                () -> "The lock of \"" + key + "\" could not be given back, so others get the key at the end of its "
                        + "lease: " + why);
    }

    /** Also if the store did not answer when it was asked for the lease: it may have granted it all the same. */
    private void releaseInStore() {
        QuickLeases leases = store.leases();
        if (leases == null || owner == null) {
            return;
        }
        try {
            leases.release(key, owner);
        } catch (AwayException e) {
            LOG.log(Level.DEBUG, () -> "Lock of \"" + key + "\" ends with its lease: " + e);
        }
    }

    private synchronized void lose() {
        lost = true;
    }

    @Override
    public String toString() {
        return "lock of \"" + key + "\" with token " + token;
    }
}
