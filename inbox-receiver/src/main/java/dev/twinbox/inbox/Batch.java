package dev.twinbox.inbox;

import java.time.Duration;
import java.util.List;

/** Consecutive events of one partition that a worker is to handle, and the sign to stop. */
final class Batch {

    /** What is known of whoever had the partition before. */
    enum Care {
        /** It gave the partition back in order. */
        NORMAL,
        /** It may have died, and of one of these events: each is begun and ended by itself, on the record. */
        AFTER_A_CRASH
    }

    private final List<ReceivedEvent> events;
    private final long maxNanos;
    private final Care care;

    /** Written by the poll thread, read by the worker. */
    private volatile boolean cutShort;

    /** Set by the worker when it begins. */
    private long begin = System.nanoTime();

    Batch(List<ReceivedEvent> events, Duration maxTime, Care care) {
        this.events = events;
        this.care = care;
        this.maxNanos = maxTime.toNanos();
    }

    Care care() {
        return care;
    }

    List<ReceivedEvent> events() {
        return events;
    }

    /** Starts the clock of the time limit. */
    void begin() {
        begin = System.nanoTime();
    }

    /** Asks the worker to end after the event that it is at. */
    void cutShort() {
        cutShort = true;
    }

    /** Whether no further event is to be begun. */
    boolean isOver() {
        return cutShort || System.nanoTime() - begin >= maxNanos;
    }
}
