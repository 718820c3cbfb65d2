package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.ParkedCount;
import dev.twinbox.relay.resend.ResendFigures;
import java.time.Duration;
import java.time.Instant;
import java.util.SortedMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * What the housekeeping thread last saw of the outbox, for health and metrics. That thread writes; HTTP threads read.
 * What could not be read is null, not zero: an operator must not take it for an empty outbox.
 */
public final class ObservedOutbox {
    private final LongSupplier nanoTime;
    private final ResendFigures resend = new ResendFigures();
    private final LongAdder slotsEmptied = new LongAdder();
    private final LongAdder scheduledMoved = new LongAdder();
    private volatile @Nullable Backlog backlog;
    private volatile @Nullable ParkedCount parked;
    private volatile @Nullable Long bytes;
    private volatile @Nullable SortedMap<String, Instant> pausedTopics;
    private volatile @Nullable String held;
    private volatile String rotationStop = "";
    private volatile long rotationStoppedAt;

    /** @param nanoTime monotonic */
    ObservedOutbox(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** What is sent again for jobs. */
    public ResendFigures resend() {
        return resend;
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
    void recordBacklog(Backlog newBacklog) {
        backlog = newBacklog;
    }

    void recordParked(ParkedCount count) {
        parked = count;
    }

    /** The committed events after the saved position; null: not known. */
    public @Nullable Backlog backlog() {
        return backlog;
    }

    /** The parked events; null: not known. */
    public @Nullable ParkedCount parked() {
        return parked;
    }

    /**
     * The topics that an operator has paused were read.
     *
     * @param newHeld why their events hold the position, for the operator; null: they do not
     */
    void recordPausedTopics(SortedMap<String, Instant> topics, @Nullable String newHeld) {
        pausedTopics = topics;
        held = newHeld;
    }

    /** The topics that an operator has paused, each with the beginning of its pause; null: not known. */
    public @Nullable SortedMap<String, Instant> pausedTopics() {
        return pausedTopics;
    }

    /** Why events of paused topics hold the position, for the operator; null: they do not. */
    public @Nullable String held() {
        return held;
    }

    /** The last count failed. */
    void clearCounts() {
        backlog = null;
        parked = null;
    }

    /** Nothing is known any more: the last look at the outbox failed, or this process does not own it. */
    void clear() {
        backlog = null;
        parked = null;
        bytes = null;
        pausedTopics = null;
        held = null;
        rotationStop = "";
    }

    public long slotsEmptied() {
        return slotsEmptied.sum();
    }

    /** Bytes of the event table with its indexes; null: not known. */
    public @Nullable Long bytes() {
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
