package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Waits for the next try: longer each time, up to a limit, until {@link #reset()}; for a while behind it the waits stay short. One
 * thread waits; any thread may wake it, also in advance.
 */
public final class Waiter {
    /** Behind a reset, in longest waits: applications pause for a moment, too, and their next event should not pay for it. */
    private static final int PATIENCE = 5;

    private final Duration min;
    private final Duration max;
    private final Semaphore wakes = new Semaphore(0);
    private Duration next;
    private @Nullable Long resetAt; // monotonic; null: never, or longer ago than the patience

    public Waiter(RelayConfig.Idle idle) {
        this.min = idle.min();
        this.max = idle.max();
        this.next = min;
    }

    /** Something came: the next wait is a short one again. */
    void reset() {
        next = min;
        resetAt = System.nanoTime();
    }

    /** Waits, and makes the next wait longer, unless there was a reset a short time ago. */
    public void await() throws InterruptedException {
        await(next);
        if (resetAt != null && System.nanoTime() - resetAt < max.toNanos() * PATIENCE) {
            return;
        }
        resetAt = null;
        Duration doubled = next.multipliedBy(2);
        next = doubled.compareTo(max) > 0 ? max : doubled;
    }

    /** Waits this long, or until woken. */
    public void await(Duration time) throws InterruptedException {
        if (wakes.tryAcquire(Math.max(0, time.toNanos()), TimeUnit.NANOSECONDS)) {
            wakes.drainPermits();
        }
    }

    /** Ends the present wait, or the next one if there is none now. */
    void wake() {
        if (wakes.availablePermits() == 0) {
            wakes.release();
        }
    }
}
