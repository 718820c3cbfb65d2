package dev.twinbox.inbox.engine;

import dev.twinbox.thread.WorkerPool;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/**
 * How many workers may retry parked events. While new events come, at most half of them. Otherwise all but one, so that a
 * new event never waits for a slow retry. A single worker does both in turn.
 *
 * <p>Used by all threads.
 */
final class RetryShare {

    /** New events count as coming for this time after a batch of them. */
    private static final long QUIET_NANOS = TimeUnit.SECONDS.toNanos(1);

    private final WorkerPool pool;
    private final int workers;
    private final AtomicInteger taken = new AtomicInteger();
    private final AtomicLong lastBatch = new AtomicLong(System.nanoTime() - QUIET_NANOS);

    RetryShare(WorkerPool pool, int workers) {
        this.pool = pool;
        this.workers = workers;
    }

    /** Runs a batch of new events. */
    void execute(Runnable batch) {
        lastBatch.set(System.nanoTime());
        pool.execute(batch);
    }

    private int most() {
        boolean newEventsCome = pool.hasWaiting() || System.nanoTime() - lastBatch.get() < QUIET_NANOS;
        return Math.max(1, newEventsCome ? workers / 2 : workers - 1);
    }

    /** Takes the place of one worker. Returns null if retries have their share. */
    @Nullable Place take() {
        if (taken.incrementAndGet() <= most()) {
            return new Place();
        }
        leave();
        return null;
    }

    /** Waits until no worker retries any more. One whose thread hangs does not count. */
    synchronized void awaitNone() throws InterruptedException {
        while (taken.get() > 0) {
            wait();
        }
    }

    private synchronized void leave() {
        if (taken.decrementAndGet() == 0) {
            notifyAll();
        }
    }

    /** The place of one worker. */
    final class Place {
        private final AtomicBoolean isGivenBack = new AtomicBoolean();

        /** Runs the work, after the tasks that wait already. */
        void execute(Runnable work) {
            pool.execute(work);
        }

        /** Whether other tasks wait for a worker. */
        boolean isWanted() {
            return pool.hasWaiting();
        }

        /** Gives the place back if retries have more than their share now. Returns whether it is given back. */
        boolean giveBackIfTooMuch() {
            synchronized (RetryShare.this) {
                if (taken.get() > most()) {
                    giveBack();
                }
            }
            return isGivenBack.get();
        }

        /** Also called when its thread hangs. */
        void giveBack() {
            if (isGivenBack.compareAndSet(false, true)) {
                leave();
            }
        }
    }
}
