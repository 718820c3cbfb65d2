package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.LeaseTable;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * A lease this process has taken. The main thread renews it; the sending thread asks before each record whether it still
 * holds, by a monotonic clock and counted from before the statement was sent, so that we never think it longer than the
 * database does.
 */
final class Lease {
    /** The shortest lease is twice as long, so one lost renewal does not end it. */
    private static final Duration RENEWAL = Duration.ofSeconds(1);

    private static final long CHECK = TimeUnit.MILLISECONDS.toNanos(10);

    private final LeaseTable table;
    private final UUID owner;
    private final long epoch;
    private final Duration length;
    private final LongSupplier nanoTime;
    private long renewedAt;
    private volatile long endsAt;

    private Lease(LeaseTable table, UUID owner, long epoch, Duration length, LongSupplier nanoTime, long takenAt) {
        this.table = table;
        this.owner = owner;
        this.epoch = epoch;
        this.length = length;
        this.nanoTime = nanoTime;
        holdFrom(takenAt);
    }

    /** The lease {@link LeaseTable#take taken} by a statement that was sent at {@code takenAt}. */
    static Lease taken(LeaseTable table, UUID owner, long epoch, Duration length, LongSupplier nanoTime, long takenAt) {
        return new Lease(table, owner, epoch, length, nanoTime, takenAt);
    }

    UUID owner() {
        return owner;
    }

    long epoch() {
        return epoch;
    }

    /** Whether it surely holds now. False is no loss yet: nobody need have taken it. */
    boolean isHeld() {
        return nanoTime.getAsLong() - endsAt < 0;
    }

    /** Waits while it is not sure whether it holds: the main thread is renewing it, or finds that it is lost and interrupts us. */
    void awaitHeld() throws InterruptedException {
        while (!isHeld()) {
            LockSupport.parkNanos(CHECK);
            if (Thread.interrupted()) {
                throw new InterruptedException("the lease is lost");
            }
        }
    }

    /** Until {@link #renewIfDue()} has something to do. */
    Duration untilRenewal() {
        return RENEWAL.minusNanos(nanoTime.getAsLong() - renewedAt);
    }

    /** @throws LeaseLostException if another process has taken it */
    void renewIfDue() throws SQLException, LeaseLostException {
        if (untilRenewal().isNegative()) {
            long sentAt = nanoTime.getAsLong();
            if (!table.renew(owner, epoch, length)) {
                end();
                throw new LeaseLostException("renewing the lease found epoch " + epoch + " over");
            }
            holdFrom(sentAt);
        }
    }

    /** From now on nothing may be sent under it. */
    void end() {
        endsAt = nanoTime.getAsLong();
    }

    /** Gives it back at once, for a successor. */
    void release() throws SQLException {
        end();
        table.release(owner, epoch);
    }

    private void holdFrom(long time) {
        renewedAt = time;
        endsAt = time + length.toNanos();
    }
}
