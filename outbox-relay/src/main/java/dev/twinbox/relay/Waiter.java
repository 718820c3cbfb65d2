package dev.twinbox.relay;

import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Waits for the next try: longer each time, up to a limit, until {@link #reset()}. One thread waits; any thread may wake it,
 * also in advance.
 */
final class Waiter {
    private final Duration min;
    private final Duration max;
    private final Semaphore wakes = new Semaphore(0);
    private Duration next;

    Waiter(RelayConfig.Idle idle) {
        this.min = idle.min();
        this.max = idle.max();
        this.next = min;
    }

    /** Something came: the next wait is a short one again. */
    void reset() {
        next = min;
    }

    /** Waits, and makes the next wait longer. */
    void await() throws InterruptedException {
        await(next);
        Duration doubled = next.multipliedBy(2);
        next = doubled.compareTo(max) > 0 ? max : doubled;
    }

    /** Waits this long, or until woken. */
    void await(Duration time) throws InterruptedException {
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
