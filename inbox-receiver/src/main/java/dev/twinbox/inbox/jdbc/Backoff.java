package dev.twinbox.inbox.jdbc;

import java.time.Duration;

/**
 * Waits that double from attempt to attempt, up to a maximum.
 *
 * @param initial wait after the first failure
 * @param max longest wait
 * @param atLeast shortest wait, which wins over the maximum
 */
public record Backoff(Duration initial, Duration max, Duration atLeast) {

    public Backoff(Duration initial, Duration max) {
        this(initial, max, Duration.ZERO);
    }

    /** Always the same wait. */
    public static Backoff always(Duration wait) {
        return new Backoff(Duration.ZERO, Duration.ZERO, wait);
    }

    /**
     * How long to wait before the next attempt.
     *
     * @param failures how many attempts in a row have failed, at least 1
     */
    public Duration after(int failures) {
        int doublings = Math.min(failures - 1, 30);
        Duration doubled = initial.multipliedBy(1L << doublings);
        Duration wait = doubled.compareTo(max) < 0 ? doubled : max;
        return wait.compareTo(atLeast) < 0 ? atLeast : wait;
    }
}
