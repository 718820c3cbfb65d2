package dev.twinbox.inbox;

import java.time.Duration;

/**
 * Waits that double from attempt to attempt up to a cap.
 *
 * @param initial wait after the first failure
 * @param max longest wait
 */
record Backoff(Duration initial, Duration max) {

    /** @param failures how many attempts in a row have failed, at least 1 */
    Duration after(int failures) {
        int doublings = Math.min(failures - 1, 30);
        Duration wait = initial.multipliedBy(1L << doublings);
        return wait.compareTo(max) < 0 ? wait : max;
    }
}
