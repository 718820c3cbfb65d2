package dev.twinbox.relay.pause;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds the reading and the sending thread while an operator has paused the relay. The housekeeping thread opens and
 * closes it. Records that the producer already has are still sent, and the lease is kept.
 */
public final class PauseGate {
    private static final Logger LOG = LoggerFactory.getLogger(PauseGate.class);

    private final Consumer<@Nullable Instant> listener;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private @Nullable Instant closedSince;

    /**
     * It is open at first.
     *
     * @param listener learns since when the relay is paused; null: it is not
     */
    public PauseGate(Consumer<@Nullable Instant> listener) {
        this.listener = listener;
    }

    /**
     * Closes or opens the gate.
     *
     * @param pausedSince null: the relay is not paused
     */
    public void set(@Nullable Instant pausedSince) {
        lock.lock();
        try {
            boolean before = closedSince != null;
            closedSince = pausedSince;
            listener.accept(pausedSince);
            if (before != (pausedSince != null)) {
                LOG.info(
                        pausedSince == null
                                ? "Resumed by an operator: sending again"
                                : "Paused by an operator: nothing is sent until \"twinbox-relay resume\"");
            }
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** What {@link #awaitOpen(BooleanSupplier)} waits for may have changed. */
    void recordChange() {
        lock.lock();
        try {
            changed.signalAll();
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

    public void awaitOpen() throws InterruptedException {
        awaitOpen(() -> true);
    }

    /** As {@link #awaitOpen()}, but returns false if it is not opened within this time. */
    public boolean awaitOpen(Duration time) throws InterruptedException {
        return awaitOpen(time, () -> true);
    }

    /** Waits until the gate is open and the condition holds. */
    void awaitOpen(BooleanSupplier condition) throws InterruptedException {
        lock.lock();
        try {
            while (closedSince != null || !condition.getAsBoolean()) {
                changed.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #awaitOpen(BooleanSupplier)}, but returns false if this is not so within this time. */
    boolean awaitOpen(Duration time, BooleanSupplier condition) throws InterruptedException {
        lock.lock();
        try {
            long left = time.toNanos();
            boolean mayPass = closedSince == null && condition.getAsBoolean();
            while (!mayPass && left > 0) {
                left = changed.awaitNanos(left);
                mayPass = closedSince == null && condition.getAsBoolean();
            }
            return mayPass;
        } finally {
            lock.unlock();
        }
    }
}
