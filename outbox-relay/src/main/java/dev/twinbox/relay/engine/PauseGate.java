package dev.twinbox.relay.engine;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the reading and the sending thread while an operator has paused the relay. The housekeeping thread opens and
 * closes it. Records that the producer already has are still sent, and the lease is kept.
 */
final class PauseGate {
    private static final Logger LOG = LoggerFactory.getLogger(PauseGate.class);

    private final Progress progress;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition opened = lock.newCondition();
    private @Nullable Instant closedSince;

    PauseGate(Progress progress) {
        this.progress = progress;
    }

    /** @param pausedSince null: the relay is not paused */
    void set(@Nullable Instant pausedSince) {
        lock.lock();
        try {
            boolean before = closedSince != null;
            closedSince = pausedSince;
            progress.recordPaused(pausedSince);
            if (before != (pausedSince != null)) {
                LOG.info(
                        pausedSince == null
                                ? "Resumed by an operator: sending again"
                                : "Paused by an operator: nothing is sent until \"twinbox-relay resume\"");
            }
            opened.signalAll();
        } finally {
            lock.unlock();
        }
    }

    boolean isClosed() {
        lock.lock();
        try {
            return closedSince != null;
        } finally {
            lock.unlock();
        }
    }

    void awaitOpen() throws InterruptedException {
        lock.lock();
        try {
            while (closedSince != null) {
                opened.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #awaitOpen()}, but returns false if it is not opened within this time. */
    boolean awaitOpen(Duration time) throws InterruptedException {
        lock.lock();
        try {
            long left = time.toNanos();
            while (closedSince != null && left > 0) {
                left = opened.awaitNanos(left);
            }
            return closedSince == null;
        } finally {
            lock.unlock();
        }
    }
}
