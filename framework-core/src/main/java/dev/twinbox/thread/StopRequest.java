package dev.twinbox.thread;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;

/**
 * Whether threads were asked to stop. It is a state of its own. The interrupt flag would not do: any code that a thread
 * calls may set or clear it.
 *
 * <p>All methods may be called from any thread.
 */
public final class StopRequest {

    private final CountDownLatch asked = new CountDownLatch(1);
    private final BooleanSupplier other;

    public StopRequest() {
        this(() -> false);
    }

    /** @param other another reason to stop, looked at by the threads that ask */
    public StopRequest(BooleanSupplier other) {
        this.other = other;
    }

    public void ask() {
        asked.countDown();
    }

    public boolean isAsked() {
        return asked.getCount() == 0 || other.getAsBoolean();
    }

    /**
     * Waits, and ends early when {@link #ask} is called. An interrupt ends this wait only, and its flag is cleared.
     *
     * @return whether the thread was asked to stop
     */
    public boolean await(Duration time) {
        try {
            return asked.await(time.toNanos(), TimeUnit.NANOSECONDS) || isAsked();
        } catch (InterruptedException e) {
            return isAsked();
        }
    }
}
