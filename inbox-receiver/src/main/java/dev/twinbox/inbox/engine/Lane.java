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
 * A queue of events of one partition, handled one batch at a time. Several lanes of a partition are handled at the same
 * time.
 *
 * <p><b>What parallel means.</b> A partition has one lane, or as many as are configured. All events of a key are in one
 * lane, in order of their offsets. At most one batch of a lane is with a worker. So the order of a key holds, also
 * during retries, while a batch is repeated event by event, and while events are parked. There is no order between
 * keys. An event can be committed in the database before an event of another key with a smaller offset.
 *
 * <p><b>Why nothing is lost.</b> Kafka stores one offset per partition. {@link OffsetLedger} limits it to the first
 * record that is not settled in its lane. Other lanes may have settled later records. After a crash or a rebalance
 * those are redelivered. They are then skipped by their inbox row, or repeated for {@code AT_LEAST_ONCE} handlers. The
 * distance is bounded, and so is the number of redeliveries.
 *
 * <p><b>Why nothing is committed too late.</b> A partition that is given back stops all its lanes and waits for them,
 * for a bounded time. Then it commits the offset that the ledger allows. A later result belongs to an {@link
 * AssignedPartition} that no longer counts. The next owner's claim of an event that is still being handled waits in the
 * database for that transaction.
 *
 * <p><b>If an event kills the process.</b> The process had at most one batch per lane in progress. These lie between
 * the committed offset and the furthest that lanes may be ahead. Up to there the next owner handles event by event, see
 * {@link HandoverKind}.
 *
 * <p>Used by the poll thread only.
 */
final class Lane {

    private enum State {
        /** The first event may be handed out. */
        READY,
        /** A worker has the first events. */
        RUNNING,
        /** The first event may be handed out again when the wait is over. */
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
    private boolean held;

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

    /**
     * Whether a batch is with a worker and will probably end within this time. One of the last two batches took less.
     */
    boolean endsWithin(Duration time, long now) {
        return isRunning() && Math.min(lastTook, beforeTook) < time.toNanos() && now - begunAt < time.toNanos();
    }

    /** Nanoseconds until a wait is over; {@link Long#MAX_VALUE} if there is none. */
    long nanosToWait(long now) {
        return state == State.WAITING ? Math.max(0, waitUntil - now) : Long.MAX_VALUE;
    }

    /** Hands out the first events. They stay here until they are settled. */
    Batch begin(int most, Duration maxTime, HandoverKind handover) {
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

    /** Asks the worker that has the first events to end early. */
    void cutShort() {
        if (running != null) {
            running.cutShort();
        }
    }

    /** Takes back what was handed out. The first {@code settled} events leave the lane. */
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

    /** Waits, because too many events wait for the handler of the first one. */
    void hold(Duration wait, long now) {
        held = true;
        waitFor(wait, now);
    }

    boolean isHeld() {
        return held;
    }

    void release() {
        held = false;
    }

    /** Counts one more failure of the database in a row; returns the count. */
    int databaseFailed() {
        return ++databaseFailures;
    }
}
