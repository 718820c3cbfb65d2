package dev.twinbox.relay;

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
final class Progress {

    /** Who may send: us, another process of the same relay name, or not known yet. */
    enum Lease {
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

    /** @param nanoTime monotonic, {@code System::nanoTime} outside of tests */
    Progress(LongSupplier nanoTime) {
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
    Observed observed() {
        return observed;
    }

    /** Who hears from now on how long each successful poll took, in nanoseconds, on the reading thread. */
    void listenToPageTimes(LongConsumer listener) {
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
    @Nullable Instant pausedSince() {
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
    void recordPoll(int rows) {
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
    void recordAcknowledged(int records, long bytes) {
        acknowledged.add(records);
        acknowledgedBytes.add(bytes);
        acknowledgedAt = nanoTime.getAsLong();
        movedAt = acknowledgedAt;
        broker.cause = null;
    }

    /** The position behind acknowledged records is durable; {@code newPosition} is text for people. */
    void recordSaved(String newPosition) {
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
    void recordLeaseHeld(long newEpoch) {
        epoch = newEpoch;
        leaseOwner = null;
        lease = Lease.HELD;
    }

    /** The lease was looked at, and another process holds it; {@code owner} is text for people. This is a standby's poll. */
    void recordLeaseElsewhere(String owner) {
        leaseOwner = owner;
        lease = Lease.ELSEWHERE;
        broker.cause = null; // found out as the owner; a standby asks Kafka nothing, so it would stay for ever
        databaseAnswered();
    }

    /** We hold it no longer and do not know who does. */
    void recordLeaseGone() {
        lease = Lease.NONE;
        paused = null;
    }

    /** The database did not answer or refused; the relay tries again. */
    void recordDatabaseFailure(String cause) {
        database.failed(cause);
    }

    /** The broker did not answer or refused; the relay tries again. */
    void recordBrokerFailure(String cause) {
        broker.failed(cause);
    }

    /** The broker answers again, although nothing was sent to it. */
    void recordBrokerAnswer() {
        broker.cause = null;
    }

    /** The relay's loop has ended and will not come back in this process. */
    void recordEnd(String cause) {
        ended = cause;
    }

    /** Rows read and not yet acknowledged. */
    long backlog() {
        return Math.max(0, read.sum() - acknowledged.sum());
    }

    Duration sinceStart() {
        return since(started);
    }

    /** Whether there was a successful poll since the start of the process. */
    boolean hasPolled() {
        return polled;
    }

    /** Age of the last successful poll; zero while there is a reason not to poll. */
    Duration sincePoll() {
        return full || paused != null ? Duration.ZERO : since(polledAt);
    }

    /** How long the records in flight have seen neither an acknowledgement nor a saved position; zero without a backlog. */
    Duration sinceMove() {
        return backlog() == 0 || paused != null ? Duration.ZERO : since(movedAt);
    }

    /** From the start of the process to its first poll of the outbox; zero before it. */
    Duration firstRead() {
        return Duration.ofNanos(firstReadAt - started);
    }

    /** From the start of the process to the latest acknowledgement of the broker; zero before the first. */
    Duration lastAcknowledgement() {
        return Duration.ofNanos(acknowledgedAt - started);
    }

    private Duration since(long then) {
        return Duration.ofNanos(nanoTime.getAsLong() - then);
    }

    Lease lease() {
        return lease;
    }

    long epoch() {
        return epoch;
    }

    @Nullable String leaseOwner() {
        return leaseOwner;
    }

    String position() {
        return position;
    }

    @Nullable String databaseCause() {
        return database.cause;
    }

    @Nullable String brokerCause() {
        return broker.cause;
    }

    @Nullable String endCause() {
        return ended;
    }

    long polls() {
        return polls.sum();
    }

    long acknowledgedRecords() {
        return acknowledged.sum();
    }

    long acknowledgedBytes() {
        return acknowledgedBytes.sum();
    }

    long saves() {
        return saves.sum();
    }

    long parkedRecords() {
        return parked.sum();
    }

    long retriedRecords() {
        return retried.sum();
    }

    long databaseFailures() {
        return database.failures.sum();
    }

    long brokerFailures() {
        return broker.failures.sum();
    }
}
