package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits before the next try. Each wait is longer, up to a limit, until {@link #reset()}. For a while after a reset all
 * waits stay short. One thread waits; any thread may wake it, even in advance.
 */
public final class Waiter {
    /**
     * How long waits stay short after a reset, in longest waits. Applications pause for a moment, too, and their next
     * event should not be delayed.
     */
    private static final int SHORT_WAITS = 5;

    /** The first wait after {@link #resetBriefly()} is so many times shorter. */
    private static final int SHORTER = 4;

    private final Duration min;
    private final Duration max;
    private final Semaphore wakes = new Semaphore(0);
    private Duration next;
    private @Nullable Long resetAt; // monotonic; null: never, or longer ago than SHORT_WAITS

    public Waiter(RelayConfig.Idle idle) {
        this.min = idle.min();
        this.max = idle.max();
        this.next = min;
    }

    /** There was work: the next waits are short. */
    void reset() {
        next = min;
        resetAt = System.nanoTime();
    }

    /** As {@link #reset()}, and the next wait is the shortest. */
    void resetBriefly() {
        reset();
        next = min.dividedBy(SHORTER);
    }

    /** Waits, and makes the next wait longer, unless there was a reset a short time ago. */
    public void await() throws InterruptedException {
        await(next);
        if (resetAt != null && System.nanoTime() - resetAt < max.toNanos() * SHORT_WAITS) {
            next = min;
            return;
        }
        Duration doubled = (resetAt == null ? next : min).multipliedBy(2);
        resetAt = null;
        next = doubled.compareTo(max) > 0 ? max : doubled;
    }

    /** Waits for this time, or until woken. */
    public void await(Duration time) throws InterruptedException {
        if (wakes.tryAcquire(Math.max(0, time.toNanos()), TimeUnit.NANOSECONDS)) {
            wakes.drainPermits();
        }
    }

    /** Ends the current wait, or the next one if no thread waits now. */
    void wake() {
        if (wakes.availablePermits() == 0) {
            wakes.release();
        }
    }
}
