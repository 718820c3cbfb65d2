package dev.twinbox.lock;

import dev.twinbox.KeyLock;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.lock.FenceTable.Decider;
import dev.twinbox.lock.FencedLock.Lease;
import dev.twinbox.lock.QuickLeases.AwayException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * Grants locks. With either provider the token is in the fence, durably, before the lock is handed out.
 *
 * <p>A store of leases is asked first and once more after the token was drawn. Between the two a pause may have outlived
 * the lease. Then another one has the lease, and perhaps works with an older token. It is refused and has to begin anew,
 * which is safe. If the store is away, the lease in the database decides.
 */
final class LockGrants {

    private static final Logger LOG = System.getLogger(LockGrants.class.getName());

    /** After so many grants one removes old rows. */
    private static final int REMOVAL = 1_000;

    private static final String OLD_ROWS_STAY = "Old rows of locks stay until the next time";

    private final FencedLock.Store store;

    LockGrants(FencedLock.Store store) {
        this.store = store;
    }

    /** Empty: somebody else has the lock. */
    Optional<KeyLock> grant(String key, Duration lease) throws SQLException {
        QuickLeases leases = store.leases();
        if (leases == null) {
            return byDatabase(key, null, lease);
        }
        String owner = UUID.randomUUID().toString();
        try {
            return byStore(leases, key, owner, lease);
        } catch (AwayException e) {
            return byDatabase(key, owner, lease);
        }
    }

    private Optional<KeyLock> byDatabase(String key, @Nullable String owner, Duration lease) throws SQLException {
        long asked = System.nanoTime();
        OptionalLong token = draw(key, lease, Decider.DATABASE);
        if (token.isEmpty()) {
            return Optional.empty();
        }
        return Optional.of(new FencedLock(
                store, key, token.getAsLong(), new Lease(owner, Decider.DATABASE), asked + lease.toNanos()));
    }

    private Optional<KeyLock> byStore(QuickLeases leases, String key, String owner, Duration lease)
            throws SQLException, AwayException {
        long asked = System.nanoTime();
        if (!leases.take(key, owner, lease)) {
            return Optional.empty();
        }
        OptionalLong token = OptionalLong.empty();
        try {
            token = draw(key, lease, Decider.STORE);
        } finally {
            if (token.isEmpty()) {
                giveBack(leases, key, owner);
            }
        }
        if (token.isEmpty() || !isStillHeld(leases, key, owner)) {
            return Optional.empty();
        }
        return Optional.of(new FencedLock(
                store, key, token.getAsLong(), new Lease(owner, Decider.STORE), asked + lease.toNanos()));
    }

    /** The token is ours already, so a store that went away meanwhile does not take the lock from us. */
    private static boolean isStillHeld(QuickLeases leases, String key, String owner) {
        try {
            return leases.isHeld(key, owner);
        } catch (AwayException e) {
            return true;
        }
    }

    private static void giveBack(QuickLeases leases, String key, String owner) {
        try {
            leases.release(key, owner);
        } catch (AwayException e) {
            LOG.log(Level.DEBUG, () -> "Lease of \"" + key + "\" ends by itself: " + e);
        }
    }

    private OptionalLong draw(String key, Duration lease, Decider decider) throws SQLException {
        OptionalLong token;
        AtomicLong drawn = new AtomicLong(); // no token is 0
        try {
            token = store.database().inNewTransaction(connection -> {
                OptionalLong granted = store.fences().grant(connection, key, lease, decider);
                drawn.set(granted.orElse(0));
                return granted;
            });
        } catch (SQLException e) {
            if (drawn.get() != 0) {
                later(() -> giveBack(key, drawn.get()), "The lock of \"" + key + "\" ends with its lease");
            }
            if (SqlState.LOCK_NOT_AVAILABLE.isOf(e)) {
                failIfTableIsLocked(e);
            } else if (!SqlState.isConflict(e)) {
                throw e;
            }
            return OptionalLong.empty(); // another grant of the key is on its way
        }
        if (token.isPresent() && FenceTable.number(token.getAsLong()) % REMOVAL == 0) {
            later(this::removeOld, OLD_ROWS_STAY); // a large table takes a while, for which the caller does not wait
        }
        return token;
    }

    /** The answer to the commit was lost, and the grant may be durable. Nobody else has this token. */
    private void giveBack(String key, long token) {
        try {
            boolean wasGranted = store.database()
                    .inNewTransaction(connection -> store.fences().release(connection, key, token));
            LOG.log(
                    Level.DEBUG,
                    () -> "Lock of \"" + key + "\", whose grant failed, was given back; it was granted: " + wasGranted);
        } catch (SQLException | RuntimeException e) {
            LOG.log(
                    Level.WARNING,
                    () -> "It is not known whether the lock of \"" + key
                            + "\" was granted before the database failed, and "
                            + "it could not be given back. If it was, others get the key at the end of its lease: "
                            + e.getMessage());
        }
    }

    /** A wait was too long: for another grant of the key, or for the table, which says nothing about the key. */
    private void failIfTableIsLocked(SQLException e) throws SQLException {
        String sessions = store.database().inNewTransaction(store.fences().sessions()::find);
        if (!sessions.isEmpty()) {
            throw new SQLException(
                    "the table of locks is locked by session " + sessions + " of the database: " + e.getMessage(),
                    e.getSQLState(),
                    e);
        }
    }

    private void later(Runnable work, String otherwise) {
        try {
            store.later().execute(work);
        } catch (RuntimeException e) { // the application is being undeployed
            LOG.log(Level.DEBUG, () -> otherwise + ": " + e);
        }
    }

    /** All of them: an earlier removal may have failed. */
    private void removeOld() {
        try {
            int removed = OldRows.AT_ONCE;
            while (removed == OldRows.AT_ONCE) {
                removed = store.database().inNewTransaction(store.fences().oldRows()::remove);
                LOG.log(Level.DEBUG, "{0} old rows of locks removed", removed);
            }
        } catch (SQLException | RuntimeException e) {
            LOG.log(Level.DEBUG, () -> OLD_ROWS_STAY + ": " + e.getMessage());
        }
    }
}
