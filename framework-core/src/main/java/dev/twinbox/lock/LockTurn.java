package dev.twinbox.lock;

import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReentrantLock;

/**
 * Lets a lock's extensions and its end go to the database one after the other. Otherwise the end would skip the row while
 * an extension has it, and the key would stay locked.
 */
final class LockTurn {

    private final ReentrantLock turn = new ReentrantLock(true);
    private final Duration limit;

    /** @param limit how long to wait for the one before */
    LockTurn(Duration limit) {
        this.limit = limit;
    }

    /** Waits for the one before. Returns false if it does not end. An interrupt is kept for later. */
    boolean take() {
        long end = System.nanoTime() + limit.toNanos();
        boolean isInterrupted = false;
        try {
            while (true) {
                try {
                    return turn.tryLock(end - System.nanoTime(), TimeUnit.NANOSECONDS);
                } catch (InterruptedException e) {
                    isInterrupted = true;
                }
            }
        } finally {
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    void give() {
        turn.unlock();
    }
}
