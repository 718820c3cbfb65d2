package dev.twinbox.relay.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the relay does, for health, metrics and the log. The relay's threads write it, each field by one of them; HTTP threads
 * only read. Nothing in here steers the relay.
 */
public final class Progress {

    /** Who may send: us, another process of the same relay name, or not known yet. */
    public enum Lease {
        NONE,
        HELD,
        ELSEWHERE
    }

    /** One side that can fail; {@code cause} is null while it works. */
    private static final class Side {
        volatile @Nullable String cause;
        final LongAdder failures = new LongAdder();

        void failed(String why) {
            cause = why;
            failures.increment();
        }
    }

    private final LongSupplier nanoTime;
    private final long started;
    private final Observed observed;
    private final Side database = new Side();
    private final Side broker = new Side();
    private final LongAdder polls = new LongAdder();
    private volatile LongConsumer pageTimes = nanos -> {};
    private volatile long pollStartedAt;
    private final LongAdder read = new LongAdder();
    private final LongAdder acknowledged = new LongAdder();
    private final LongAdder acknowledgedBytes = new LongAdder();
    private final LongAdder saves = new LongAdder();
    private final LongAdder parked = new LongAdder();
    private final LongAdder retried = new LongAdder();
    private volatile boolean polled;
    private volatile boolean full;
    private volatile @Nullable Instant paused;
    private volatile long polledAt;
    private volatile long movedAt;
    private volatile long firstReadAt;
    private volatile long acknowledgedAt;
    private volatile Lease lease = Lease.NONE;
    private volatile long epoch;
    private volatile @Nullable String leaseOwner;
    private volatile String position = "";
    private volatile @Nullable String ended;

    /**
     * Nothing has happened yet.
     *
     * @param nanoTime monotonic, {@code System::nanoTime} outside of tests
     */
    public Progress(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.started = nanoTime.getAsLong();
        this.observed = new Observed(nanoTime);
        this.polledAt = started;
        this.pollStartedAt = started;
        this.movedAt = started;
        this.firstReadAt = started;
        this.acknowledgedAt = started;
    }

    /** What the housekeeping thread sees. */
    public Observed observed() {
        return observed;
    }

    /** Who hears from now on how long each successful poll took, in nanoseconds, on the reading thread. */
    public void listenToPageTimes(LongConsumer listener) {
        pageTimes = listener;
    }

    /** Reading pauses until the broker acknowledges some of what is in flight: no fault of the database. */
    void recordFull() {
        full = true;
    }

    /** An operator has paused the relay, or not; nothing is read or sent meanwhile. */
    void recordPaused(@Nullable Instant since) {
        if (paused != null && since == null) {
            movedAt = nanoTime.getAsLong(); // the pause was no fault
            polledAt = movedAt;
        }
        paused = since;
    }

    /** Since when an operator has paused the relay, by the database's clock; null: it is not. */
    public @Nullable Instant pausedSince() {
        return paused;
    }

    /** A poll of the outbox is about to go to the database. Only the first one of the process is kept: benchmarks count from it. */
    void recordPollStart() {
        full = false;
        pollStartedAt = nanoTime.getAsLong();
        if (firstReadAt == started) {
            firstReadAt = nanoTime.getAsLong();
        }
    }

    /** A poll of the outbox succeeded and found this many new rows, which now wait for their acknowledgement. */
    public void recordPoll(int rows) {
        if (rows > 0 && backlog() == 0) {
            movedAt = nanoTime.getAsLong();
        }
        polls.increment();
        pageTimes.accept(nanoTime.getAsLong() - pollStartedAt);
        read.add(rows);
        databaseAnswered();
    }

    private void databaseAnswered() {
        polledAt = nanoTime.getAsLong();
        polled = true;
        database.cause = null;
    }

    /** The broker acknowledged records, or a page of them. */
    public void recordAcknowledged(int records, long bytes) {
        acknowledged.add(records);
        acknowledgedBytes.add(bytes);
        acknowledgedAt = nanoTime.getAsLong();
        movedAt = acknowledgedAt;
        broker.cause = null;
    }

    /** The position behind acknowledged records is durable; {@code newPosition} is text for people. */
    public void recordSaved(String newPosition) {
        saves.increment();
        position = newPosition;
        movedAt = nanoTime.getAsLong();
        database.cause = null;
    }

    /** Events were set aside durably, instead of being sent. */
    void recordParked(int events) {
        parked.add(events);
    }

    /** Events that had been set aside were acknowledged. */
    void recordRetried(int events) {
        retried.add(events);
    }

    /** What was read and not acknowledged has been dropped, it will be read again from the saved position. */
    void recordDropped() {
        read.reset();
        read.add(acknowledged.sum());
    }

    /** The lease is ours under this epoch. */
    public void recordLeaseHeld(long newEpoch) {
        epoch = newEpoch;
        leaseOwner = null;
        lease = Lease.HELD;
    }

    /** The lease was looked at, and another process holds it; {@code owner} is text for people. This is a standby's poll. */
    public void recordLeaseElsewhere(String owner) {
        leaseOwner = owner;
        lease = Lease.ELSEWHERE;
        broker.cause = null; // found out as the owner; a standby asks Kafka nothing, so it would stay for ever
        databaseAnswered();
    }

    /** We hold it no longer and do not know who does. */
    public void recordLeaseGone() {
        lease = Lease.NONE;
        paused = null;
    }

    /** The database did not answer or refused; the relay tries again. */
    public void recordDatabaseFailure(String cause) {
        database.failed(cause);
    }

    /** The broker did not answer or refused; the relay tries again. */
    public void recordBrokerFailure(String cause) {
        broker.failed(cause);
    }

    /** The broker answers again, although nothing was sent to it. */
    void recordBrokerAnswer() {
        broker.cause = null;
    }

    /** The relay's loop has ended and will not come back in this process. */
    public void recordEnd(String cause) {
        ended = cause;
    }

    /** Rows read and not yet acknowledged. */
    public long backlog() {
        return Math.max(0, read.sum() - acknowledged.sum());
    }

    public Duration sinceStart() {
        return since(started);
    }

    /** Whether there was a successful poll since the start of the process. */
    public boolean hasPolled() {
        return polled;
    }

    /** Age of the last successful poll; zero while there is a reason not to poll. */
    public Duration sincePoll() {
        return full || paused != null ? Duration.ZERO : since(polledAt);
    }

    /** How long the records in flight have seen neither an acknowledgement nor a saved position; zero without a backlog. */
    public Duration sinceMove() {
        return backlog() == 0 || paused != null ? Duration.ZERO : since(movedAt);
    }

    /** From the start of the process to its first poll of the outbox; zero before it. */
    public Duration firstRead() {
        return Duration.ofNanos(firstReadAt - started);
    }

    /** From the start of the process to the latest acknowledgement of the broker; zero before the first. */
    public Duration lastAcknowledgement() {
        return Duration.ofNanos(acknowledgedAt - started);
    }

    private Duration since(long then) {
        return Duration.ofNanos(nanoTime.getAsLong() - then);
    }

    public Lease lease() {
        return lease;
    }

    public long epoch() {
        return epoch;
    }

    public @Nullable String leaseOwner() {
        return leaseOwner;
    }

    public String position() {
        return position;
    }

    public @Nullable String databaseCause() {
        return database.cause;
    }

    public @Nullable String brokerCause() {
        return broker.cause;
    }

    public @Nullable String endCause() {
        return ended;
    }

    public long polls() {
        return polls.sum();
    }

    public long acknowledgedRecords() {
        return acknowledged.sum();
    }

    public long acknowledgedBytes() {
        return acknowledgedBytes.sum();
    }

    public long saves() {
        return saves.sum();
    }

    public long parkedRecords() {
        return parked.sum();
    }

    public long retriedRecords() {
        return retried.sum();
    }

    public long databaseFailures() {
        return database.failures.sum();
    }

    public long brokerFailures() {
        return broker.failures.sum();
    }
}
