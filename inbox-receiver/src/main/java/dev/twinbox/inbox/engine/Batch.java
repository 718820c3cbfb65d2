package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ReceivedEvent;
import java.time.Duration;
import java.util.List;

/** Consecutive events of one partition that a worker handles. The poll thread can ask it to end early. */
final class Batch {

    private final List<ReceivedEvent> events;
    private final long maxNanos;
    private final HandoverKind handover;

    /** Written by the poll thread, read by the worker. */
    private volatile boolean cutShort;

    /** Set by the worker before it starts. */
    private CallWatch.Abandonment abandonment = (cause, isRolledBack) -> {};

    /** Set by the worker when it starts. */
    private long startedAt = System.nanoTime();

    Batch(List<ReceivedEvent> events, Duration maxTime, HandoverKind handover) {
        this.events = events;
        this.handover = handover;
        this.maxNanos = maxTime.toNanos();
    }

    /** How the previous owner of the partition left these events. */
    HandoverKind handover() {
        return handover;
    }

    List<ReceivedEvent> events() {
        return events;
    }

    /** @param whenHung called if a handler does not return */
    void onAbandonment(CallWatch.Abandonment whenHung) {
        abandonment = whenHung;
    }

    CallWatch.Abandonment abandonment() {
        return abandonment;
    }

    /** Starts the time limit. */
    void start() {
        startedAt = System.nanoTime();
    }

    /** Asks the worker to end after the current event. */
    void cutShort() {
        cutShort = true;
    }

    /** Whether no further event may be started. */
    boolean isOver() {
        return cutShort || System.nanoTime() - startedAt >= maxNanos;
    }
}
