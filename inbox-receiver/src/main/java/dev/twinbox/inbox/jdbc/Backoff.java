package dev.twinbox.inbox.jdbc;

import java.time.Duration;

/**
 * Waits that double from attempt to attempt, up to a maximum.
 *
 * @param initial wait after the first failure
 * @param max longest wait
 */
public record Backoff(Duration initial, Duration max) {

    /**
     * How long to wait before the next attempt.
     *
     * @param failures how many attempts in a row have failed, at least 1
     */
    public Duration after(int failures) {
        int doublings = Math.min(failures - 1, 30);
        Duration wait = initial.multipliedBy(1L << doublings);
        return wait.compareTo(max) < 0 ? wait : max;
    }
}
