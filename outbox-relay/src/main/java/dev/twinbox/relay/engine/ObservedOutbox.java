package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.ParkedCount;
import java.time.Duration;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;

/**
 * What the housekeeping thread last saw of the outbox, for health and metrics. That thread writes; HTTP threads read. A
 * standby sees nothing.
 */
public final class ObservedOutbox {
    private final LongSupplier nanoTime;
    private final LongAdder slotsEmptied = new LongAdder();
    private final LongAdder scheduledMoved = new LongAdder();
    private volatile int unsent;
    private volatile Duration oldestUnsent = Duration.ZERO;
    private volatile ParkedCount parked = ParkedCount.NONE;
    private volatile long bytes;
    private volatile String rotationStop = "";
    private volatile long rotationStoppedAt;

    /** @param nanoTime monotonic */
    ObservedOutbox(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    void recordSlotEmptied() {
        slotsEmptied.increment();
    }

    /** This many scheduled events have become due. */
    void recordScheduledMoved(int events) {
        scheduledMoved.add(events);
    }

    public long scheduledMoved() {
        return scheduledMoved.sum();
    }

    /**
     * The slots of the event table were checked.
     *
     * @param allBytes bytes of the event table with its indexes
     * @param stop what keeps an inactive slot from being emptied, for the operator; empty: nothing
     */
    void recordRotation(long allBytes, String stop) {
        bytes = allBytes;
        if (rotationStop.isEmpty() && !stop.isEmpty()) {
            rotationStoppedAt = nanoTime.getAsLong();
        }
        rotationStop = stop;
    }

    /** The committed events after the saved position. */
    void recordBacklog(Backlog backlog) {
        unsent = backlog.events();
        Duration oldest = backlog.oldest();
        oldestUnsent = oldest == null ? Duration.ZERO : oldest;
    }

    void recordParked(ParkedCount count) {
        parked = count;
    }

    /** Committed events after the saved position, at most {@link Backlog#LIMIT}. */
    public int unsent() {
        return unsent;
    }

    /** Age of the oldest of them, by the time that the application gave it; zero: there are none. */
    public Duration oldestUnsent() {
        return oldestUnsent;
    }

    /** The parked events. */
    public ParkedCount parked() {
        return parked;
    }

    /** Forgets everything: this process does not own the outbox. */
    void clear() {
        unsent = 0;
        oldestUnsent = Duration.ZERO;
        parked = ParkedCount.NONE;
        bytes = 0;
        rotationStop = "";
    }

    public long slotsEmptied() {
        return slotsEmptied.sum();
    }

    /** Bytes of the event table with its indexes. */
    public long bytes() {
        return bytes;
    }

    /** What keeps a slot from being emptied, for the operator; empty: nothing. */
    String rotationStop() {
        return rotationStop;
    }

    /** How long a slot could not be emptied; zero: no slot waits. */
    public Duration rotationStopped() {
        return rotationStop.isEmpty() ? Duration.ZERO : Duration.ofNanos(nanoTime.getAsLong() - rotationStoppedAt);
    }
}
