package dev.twinbox.console.search;

import java.time.Duration;
import java.util.function.LongSupplier;

/** Bounds a search in what it reads and in time. For one search; not for several threads. */
public final class SearchLimit {
    private final LongSupplier nanoTime;
    private final Duration time;
    private final long start;
    private int left;

    /**
     * The time begins now.
     *
     * @param most rows or records that are read
     * @param nanoTime monotonic
     */
    public SearchLimit(int most, Duration time, LongSupplier nanoTime) {
        this.left = most;
        this.time = time;
        this.nanoTime = nanoTime;
        this.start = nanoTime.getAsLong();
    }

    /** How many may still be read; 0 after the end of the time. */
    public int left() {
        return timeLeft().isZero() ? 0 : left;
    }

    public Duration timeLeft() {
        long nanos = time.toNanos() - (nanoTime.getAsLong() - start);
        return Duration.ofNanos(Math.max(0, nanos));
    }

    /** So many were read. */
    public void count(int read) {
        left = Math.max(0, left - read);
    }
}
