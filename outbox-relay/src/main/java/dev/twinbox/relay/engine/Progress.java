package dev.twinbox.relay.engine;

import dev.twinbox.thread.LoopEnds;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongConsumer;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;
import org.jspecify.annotations.Nullable;

/**
 * What the relay does, for health, metrics and the log. The relay's threads write, each field by one thread; HTTP
 * threads only read. Nothing here controls the relay.
 */
public final class Progress {

    /** Who may send: this process, another process of the same relay name, or not known yet. */
    public enum Lease {
        NONE,
        HELD,
        ELSEWHERE
    }

    /** One side that can fail. {@code cause} is null while it works. */
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
    private final ObservedOutbox observed;
    private final LoopEnds loopEnds = new LoopEnds();
    private final Side database = new Side();
    private final Side broker = new Side();
    private volatile @Nullable String clock;
    private final LongAdder polls = new LongAdder();
    private volatile LongConsumer pageTimes = nanos -> {};
    private volatile LongConsumer deliveryTimes = nanos -> {};
    private volatile ObjLongConsumer<PagePart> parts = (part, nanos) -> {};
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
        this.observed = new ObservedOutbox(nanoTime);
        this.polledAt = started;
        this.pollStartedAt = started;
        this.movedAt = started;
        this.firstReadAt = started;
        this.acknowledgedAt = started;
    }

    /** Which threads have ended without being asked. Sessions come and go, this stays. */
    public LoopEnds loopEnds() {
        return loopEnds;
    }

    /** What the housekeeping thread sees. */
    public ObservedOutbox observed() {
        return observed;
    }

    /** Registers a listener for the duration of each successful poll in nanoseconds, called on the reading thread. */
    public void listenToPageTimes(LongConsumer listener) {
        pageTimes = listener;
    }

    /**
     * Registers a listener for the time from an event's commit to its acknowledgement, in nanoseconds. The commit's time
     * is not in the database. It lies after the last look at which the event was not visible yet, and that look is
     * counted from: the time is too long by the pause between two looks at most. The first look of a session has none
     * before it, so its events are left out.
     */
    public void listenToDeliveryTimes(LongConsumer listener) {
        deliveryTimes = listener;
    }

    /** Kafka acknowledged an event at this monotonic time. */
    public void recordDelivery(long committedAfter, long when) {
        if (committedAfter != 0) {
            deliveryTimes.accept(when - committedAfter);
        }
    }

    /** Registers a listener for the parts of each page with events, called on the relay's threads. */
    public void listenToParts(ObjLongConsumer<PagePart> listener) {
        parts = listener;
    }

    void recordPart(PagePart part, long nanos) {
        parts.accept(part, nanos);
    }

    /** Reading waits until the broker acknowledges some of the events in flight. This is no fault of the database. */
    void recordFull() {
        full = true;
    }

    /** Whether an operator has paused the relay. While it is paused, nothing is read or sent. */
    void recordPaused(@Nullable Instant since) {
        if (paused != null && since == null) {
            movedAt = nanoTime.getAsLong(); // The pause was no fault.
            polledAt = movedAt;
        }
        paused = since;
    }

    /** Since when the relay is paused, by the database's clock; null if it is not. */
    public @Nullable Instant pausedSince() {
        return paused;
    }

    /** A poll of the outbox begins. Only the first one of the process is kept: benchmarks count from it. */
    void recordPollStart() {
        full = false;
        pollStartedAt = nanoTime.getAsLong();
        if (firstReadAt == started) {
            firstReadAt = nanoTime.getAsLong();
        }
    }

    /** A poll of the outbox succeeded and found this many new rows. They now wait for their acknowledgement. */
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

    /** The broker acknowledged records. */
    public void recordAcknowledged(int records, long bytes) {
        acknowledged.add(records);
        acknowledgedBytes.add(bytes);
        acknowledgedAt = nanoTime.getAsLong();
        movedAt = acknowledgedAt;
        broker.cause = null;
        clock = null;
    }

    /** The position after acknowledged records is durable; {@code newPosition} is text for the operator. */
    public void recordSaved(String newPosition) {
        saves.increment();
        position = newPosition;
        movedAt = nanoTime.getAsLong();
        database.cause = null;
    }

    /** Events were durably parked instead of sent. */
    void recordParked(int events) {
        parked.add(events);
    }

    /** Parked events were acknowledged. */
    void recordRetried(int events) {
        retried.add(events);
    }

    /** Events in flight were dropped. They are read again from the saved position. */
    void recordDropped() {
        read.reset();
        read.add(acknowledged.sum());
    }

    /** This process holds the lease under this epoch. */
    public void recordLeaseHeld(long newEpoch) {
        epoch = newEpoch;
        leaseOwner = null;
        lease = Lease.HELD;
    }

    /** A standby's poll: another process holds the lease. {@code owner} is text for the operator. */
    public void recordLeaseElsewhere(String owner) {
        leaseOwner = owner;
        lease = Lease.ELSEWHERE;
        broker.cause = null; // Found as the owner. A standby does not ask Kafka, so the failure would stay forever.
        databaseAnswered();
    }

    /** This process holds the lease no longer. The owner is unknown. */
    public void recordLeaseGone() {
        lease = Lease.NONE;
        paused = null;
    }

    /** The database did not answer or refused; the relay retries. */
    public void recordDatabaseFailure(String cause) {
        database.failed(cause);
    }

    /** The broker did not answer or refused; the relay retries. */
    public void recordBrokerFailure(String cause) {
        broker.failed(cause);
    }

    /** Why Kafka refuses the timestamps of this process, text for the operator; null: it does not. */
    void recordClock(@Nullable String cause) {
        clock = cause;
    }

    /** The broker answers again, although nothing was sent to it. */
    void recordBrokerAnswer() {
        broker.cause = null;
    }

    /** The relay's loop has ended and does not start again in this process. */
    public void recordEnd(String cause) {
        ended = cause;
    }

    /** Rows that were read and are not acknowledged yet. */
    public long backlog() {
        return Math.max(0, read.sum() - acknowledged.sum());
    }

    public Duration sinceStart() {
        return since(started);
    }

    /** Whether a poll has succeeded since the start of the process. */
    public boolean hasPolled() {
        return polled;
    }

    /** Age of the last successful poll; zero while there is a reason not to poll. */
    public Duration sincePoll() {
        return full || paused != null ? Duration.ZERO : since(polledAt);
    }

    /**
     * How long the records in flight have seen neither an acknowledgement nor a saved position; zero without a backlog.
     */
    public Duration sinceMove() {
        return backlog() == 0 || paused != null ? Duration.ZERO : since(movedAt);
    }

    /** Time from the start of the process to its first poll of the outbox; zero before it. */
    public Duration firstRead() {
        return Duration.ofNanos(firstReadAt - started);
    }

    /** Time from the start of the process to the broker's latest acknowledgement; zero before the first. */
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
        String wrongClock = clock;
        return wrongClock == null ? broker.cause : wrongClock;
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
