package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ReceivedEvent;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Events of one partition that are handled one batch after the other; several lanes of a partition at the same time.
 *
 * <p><b>What parallel means.</b> A partition has one lane, or as many as are configured. All events of a key are in one lane, in
 * the order of their offsets, and of a lane one batch at most is with a worker: so the order of a key is kept by the same means as
 * with one lane, also when an event is tried again, when its batch is repeated singly and when it is parked. Between keys there is no
 * order any more: an event can be handled, and committed in the database, before one of another key with a smaller offset.
 *
 * <p><b>Why nothing is lost.</b> Kafka remembers one offset for a partition. {@link OffsetLedger} says how far it may go: to the first
 * record that is not settled in its lane. What other lanes have settled beyond it comes again after a crash or a rebalance and is
 * skipped by its inbox row, or repeated for {@code AT_LEAST_ONCE} handlers. How far lanes may be ahead of it is bounded, and with it
 * what is repeated.
 *
 * <p><b>Why nothing is committed too late.</b> A partition that is given away stops all its lanes, waits for them within bounds, and
 * commits what the ledger allows. A result that comes after that belongs to an {@link AssignedPartition} that no longer counts. The
 * next owner's claim of an event that is still being handled waits in the database for the end of that transaction.
 *
 * <p><b>A killer among several.</b> Whoever died had up to one batch in each lane, anywhere between the committed offset and as far as
 * lanes may be ahead; up to there the next owner handles event by event, see {@link Handover}.
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

    private final ArrayDeque<ReceivedEvent> events = new ArrayDeque<>();
    private State state = State.READY;
    private @Nullable Batch running;
    private long begunAt;
    private long lastTook;
    private long beforeTook;
    private long waitUntil;
    private int databaseFailures;

    void add(ReceivedEvent event) {
        events.add(event);
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

    /** Whether a worker has a batch and may bring it back within this time, as it did with one of the last two. */
    boolean endsWithin(Duration time, long now) {
        return isRunning() && Math.min(lastTook, beforeTook) < time.toNanos() && now - begunAt < time.toNanos();
    }

    /** Nanoseconds until a wait is over; {@link Long#MAX_VALUE} if there is none. */
    long nanosToWait(long now) {
        return state == State.WAITING ? Math.max(0, waitUntil - now) : Long.MAX_VALUE;
    }

    /** Hands out the first events; they stay here until they are settled. */
    Batch begin(int most, Duration maxTime, Handover handover) {
        List<ReceivedEvent> first = new ArrayList<>(Math.min(most, events.size()));
        Iterator<ReceivedEvent> each = events.iterator();
        while (each.hasNext() && first.size() < most) {
            first.add(each.next());
        }
        running = new Batch(first, maxTime, handover);
        state = State.RUNNING;
        begunAt = System.nanoTime();
        return running;
    }

    /** Asks whoever has the first events to come back soon. */
    void cutShort() {
        if (running != null) {
            running.cutShort();
        }
    }

    /** Takes back what was handed out. The first ones are done and leave the lane. */
    void end(int settled, Consumer<ReceivedEvent> onSettled) {
        running = null;
        state = State.READY;
        beforeTook = lastTook;
        lastTook = System.nanoTime() - begunAt;
        for (int i = 0; i < settled; i++) {
            onSettled.accept(events.removeFirst());
        }
        if (settled > 0) {
            databaseFailures = 0;
        }
    }

    void waitFor(Duration wait, long now) {
        state = State.WAITING;
        waitUntil = now + wait.toNanos();
    }

    /** Counts one more failure in a row; returns how many there are. */
    int databaseFailed() {
        return ++databaseFailures;
    }
}
