package dev.twinbox.inbox;

import dev.twinbox.inbox.Batch.Care;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * One assigned partition: its events in order, and how far they are settled and committed. Belongs to one assignment; when the
 * partition is lost and comes back there is a new lane, so that what was begun under the old one can not count.
 *
 * <p>Used by the poll thread only.
 */
final class Lane {

    private enum State {
        /** The first event may be handed out. */
        READY,
        /** A worker has the first events. */
        RUNNING,
        /** The first event may be handed out again after a while. */
        WAITING
    }

    /** Stands for an offset before anything is known. */
    static final long UNKNOWN = -1;

    /** Stands for a number before anything was handed out. */
    private static final int UNKNOWN_SIZE = Integer.MAX_VALUE;

    private final TopicPartition partition;
    private Care care;
    private int eventsOfCare = UNKNOWN_SIZE;
    private final ArrayDeque<ReceivedEvent> events = new ArrayDeque<>();
    private State state = State.READY;
    private @Nullable Batch running;
    private long waitUntil;
    private int databaseFailures;
    private long fetchedTo = UNKNOWN;
    private long settledTo;
    private long committedTo;
    private boolean outOfRange;
    private boolean paused;

    /**
     * @param offset what is committed; {@link #UNKNOWN} if that is not known
     * @param care with which what the one before may have had in progress is handled
     */
    Lane(TopicPartition partition, long offset, Care care) {
        this.partition = partition;
        this.settledTo = offset;
        this.committedTo = offset;
        this.care = care;
    }

    TopicPartition partition() {
        return partition;
    }

    /** @param next offset of the record after these; beyond the last one's successor where a transaction ended */
    void add(List<ReceivedEvent> fetched, long next) {
        events.addAll(fetched);
        fetchedTo = next;
        noteSettled();
    }

    int size() {
        return events.size();
    }

    @Nullable ReceivedEvent first() {
        return events.peekFirst();
    }

    boolean isReady(long now) {
        return !events.isEmpty() && (state == State.READY || (state == State.WAITING && now - waitUntil >= 0));
    }

    boolean isRunning() {
        return state == State.RUNNING;
    }

    /** Nanoseconds until a wait is over; {@link Long#MAX_VALUE} if there is none. */
    long nanosToWait(long now) {
        return state == State.WAITING ? Math.max(0, waitUntil - now) : Long.MAX_VALUE;
    }

    /** Hands out the first events; they stay here until they are settled. */
    Batch begin(int most, Duration maxTime) {
        List<ReceivedEvent> first = new ArrayList<>(Math.min(most, events.size()));
        Iterator<ReceivedEvent> each = events.iterator();
        while (each.hasNext() && first.size() < most) {
            first.add(each.next());
        }
        if (eventsOfCare == UNKNOWN_SIZE) {
            eventsOfCare = most; // no more than these can have been in progress
        }
        running = new Batch(first, maxTime, care);
        state = State.RUNNING;
        return running;
    }

    /** Asks whoever has the first events to come back soon. */
    void cutShort() {
        if (running != null) {
            running.cutShort();
        }
    }

    /** Takes back what was handed out; the first ones are done. */
    void end(int settled) {
        running = null;
        state = State.READY;
        for (int i = 0; i < settled; i++) {
            settledTo = events.removeFirst().offset() + 1;
        }
        eventsOfCare -= settled;
        if (eventsOfCare <= 0) {
            care = Care.NORMAL;
        }
        if (settled > 0) {
            databaseFailures = 0;
        }
        noteSettled();
    }

    void waitFor(Duration wait, long now) {
        state = State.WAITING;
        waitUntil = now + wait.toNanos();
    }

    /** Counts one more failure in a row; returns how many there are. */
    int databaseFailed() {
        return ++databaseFailures;
    }

    /** With nothing left, what lies behind the last record (a transaction marker) is settled too. */
    private void noteSettled() {
        if (events.isEmpty()) {
            settledTo = Math.max(settledTo, fetchedTo);
        }
    }

    boolean hasOffsetToCommit() {
        return settledTo > committedTo;
    }

    /** Offset of the first record that is not settled. */
    long settledTo() {
        return settledTo;
    }

    void committed(long offset) {
        committedTo = Math.max(committedTo, offset);
    }

    /** Nothing more can be fetched. */
    void outOfRange() {
        outOfRange = true;
    }

    boolean isPaused() {
        return paused;
    }

    void pause() {
        paused = true;
    }

    void resume() {
        paused = false;
    }

    /** Whether enough is here, so that memory stays bounded. */
    boolean isFull(int enough) {
        return outOfRange || events.size() >= enough;
    }
}
