package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.jdbc.Backoff;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;

/**
 * Decides by the latest calls of one handler whether it is called for further events. Used by all workers.
 *
 * <p>All times are as {@link System#nanoTime} gives them.
 */
final class Breaker {

    enum State {
        /** The handler is called. */
        CLOSED,
        /** Its events are parked, and one at a time is tried. */
        OPEN,
        /** It was open for as long as it may be. The handler is called until it succeeds, then the breaker is closed. */
        WORN_OUT
    }

    static final int FEWEST_CALLS = 20;
    static final int FAILED_PERCENT = 80;
    static final Duration WINDOW = Duration.ofSeconds(10);
    static final Duration LONGEST_OPEN = Duration.ofMinutes(10);

    /** Between two probes. */
    private static final Backoff PROBES = new Backoff(Duration.ofSeconds(1), Duration.ofSeconds(30));

    private static final int SECONDS = (int) WINDOW.toSeconds();

    /** The calls of the window, by the second in which they ended. */
    private final long[] second = new long[SECONDS];

    private final int[] calls = new int[SECONDS];
    private final int[] failures = new int[SECONDS];

    private State state = State.CLOSED;
    private long openedAt;
    private long probeAt;
    private int failedProbes;

    Breaker() {
        clear();
    }

    private void clear() {
        Arrays.fill(second, Long.MIN_VALUE);
    }

    /** A call has ended. */
    synchronized void ended(Outcome outcome, long now) {
        if (state == State.WORN_OUT && outcome == Outcome.SUCCEEDED) {
            state = State.CLOSED;
            clear();
        }
        if (state == State.CLOSED) {
            count(outcome, now);
            if (isBad(now)) {
                state = State.OPEN;
                openedAt = now;
                failedProbes = 0;
                probeAt = now + PROBES.after(1).toNanos();
            }
        }
    }

    /** How a call ended. */
    enum Outcome {
        SUCCEEDED,
        /** By an exception that the handler names for its breaker. */
        FAILED
    }

    private void count(Outcome outcome, long now) {
        long current = TimeUnit.NANOSECONDS.toSeconds(now);
        int i = Math.floorMod(current, SECONDS);
        if (second[i] != current) {
            second[i] = current;
            calls[i] = 0;
            failures[i] = 0;
        }
        calls[i]++;
        failures[i] += outcome == Outcome.FAILED ? 1 : 0;
    }

    private boolean isBad(long now) {
        long current = TimeUnit.NANOSECONDS.toSeconds(now);
        int all = 0;
        int failed = 0;
        for (int i = 0; i < SECONDS; i++) {
            long age = current - second[i];
            if (age >= 0 && age < SECONDS) {
                all += calls[i];
                failed += failures[i];
            }
        }
        return all >= FEWEST_CALLS && failed * 100L >= (long) all * FAILED_PERCENT;
    }

    synchronized State state(long now) {
        if (state == State.OPEN && now - openedAt >= LONGEST_OPEN.toNanos()) {
            state = State.WORN_OUT;
        }
        return state;
    }

    /** Whether a parked event may be tried now. If so, the next one may after a wait. */
    synchronized boolean takeProbe(long now) {
        if (state(now) != State.OPEN || now - probeAt < 0) {
            return false;
        }
        probeAt = now + PROBES.after(failedProbes + 1).toNanos();
        return true;
    }

    synchronized void probeFailed() {
        failedProbes++;
    }

    /** Closes it, if it is open. Returns whether it was. */
    synchronized boolean probeSucceeded() {
        boolean wasOpen = state == State.OPEN;
        if (wasOpen) {
            state = State.CLOSED;
            clear();
        }
        return wasOpen;
    }
}
