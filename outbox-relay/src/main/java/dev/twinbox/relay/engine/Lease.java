package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.resend.HeldLease;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;

/**
 * A lease that this process has taken. The main thread renews it. The sending thread checks it before each record, by a
 * monotonic clock. Its time counts from before the statement was sent. So this process never believes in the lease for
 * longer than the database does.
 */
final class Lease implements HeldLease {
    /** The shortest allowed lease is twice as long, so one failed renewal does not end it. */
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

    /** The lease that a statement has {@link LeaseTable#take taken}. The statement was sent at {@code takenAt}. */
    static Lease taken(LeaseTable table, UUID owner, long epoch, Duration length, LongSupplier nanoTime, long takenAt) {
        return new Lease(table, owner, epoch, length, nanoTime, takenAt);
    }

    @Override
    public UUID owner() {
        return owner;
    }

    @Override
    public long epoch() {
        return epoch;
    }

    /**
     * Waits while it is not certain that the lease is held. The main thread renews it, or finds it lost and interrupts
     * this thread.
     *
     * @return the monotonic time at which it was held
     */
    @Override
    public long awaitHeld() throws InterruptedException {
        long now = nanoTime.getAsLong();
        while (now - endsAt >= 0) {
            LockSupport.parkNanos(CHECK);
            if (Thread.interrupted()) {
                throw new InterruptedException("the lease is lost");
            }
            now = nanoTime.getAsLong();
        }
        return now;
    }

    /** The time until {@link #renewIfDue()} has something to do. */
    Duration untilRenewal() {
        return RENEWAL.minusNanos(nanoTime.getAsLong() - renewedAt);
    }

    /** @throws LeaseLostException if another process has taken it */
    void renewIfDue() throws SQLException, LeaseLostException {
        if (untilRenewal().isNegative()) {
            long sentAt = nanoTime.getAsLong();
            if (!table.renew(owner, epoch, length)) {
                end();
                throw new LeaseLostException("epoch " + epoch + " had ended when the lease was to be renewed");
            }
            holdFrom(sentAt);
        }
    }

    /** From now on nothing may be sent under it. */
    void end() {
        endsAt = nanoTime.getAsLong();
    }

    /** Releases it at once, for a successor. */
    void release() throws SQLException {
        end();
        table.release(owner, epoch);
    }

    private void holdFrom(long time) {
        renewedAt = time;
        endsAt = time + length.toNanos();
    }
}
