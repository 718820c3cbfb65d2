package dev.twinbox.proof.bench;

import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BooleanSupplier;

/** The time limit of a whole benchmark: every wait ends with it. */
final class Deadline {
    private final long startNanos = System.nanoTime();
    private final Duration limit;

    Deadline(Duration limit) {
        this.limit = limit;
    }

    /**
     * Polls until the condition holds.
     *
     * @param what completes the sentence "the benchmark took longer than … while waiting for …"
     * @return {@link System#nanoTime()} of the moment just after the condition was seen
     * @throws InvalidRunException if the benchmark's time is over first
     */
    long await(String what, Duration interval, BooleanSupplier condition) {
        while (!condition.getAsBoolean()) {
            remaining(what);
            LockSupport.parkNanos(interval.toNanos());
            if (Thread.currentThread().isInterrupted()) {
                throw new InvalidRunException("interrupted while waiting for " + what);
            }
        }
        return System.nanoTime();
    }

    /** The remaining time, always positive. */
    Duration remaining(String what) {
        Duration left = limit.minusNanos(System.nanoTime() - startNanos);
        if (left.isNegative() || left.isZero()) {
            throw new InvalidRunException(
                    "the benchmark took longer than " + limit.toSeconds() + " s while waiting for " + what);
        }
        return left;
    }
}
