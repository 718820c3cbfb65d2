package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.jdbc.Backoff;
import java.time.Duration;
import java.util.Arrays;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

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
        /** It was open for as long as it may be. The handler is called until it returns, then the breaker is closed. */
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

    /** The one that is on its way. */
    private @Nullable Probe probe;

    Breaker() {
        clear();
    }

    private void clear() {
        Arrays.fill(second, Long.MIN_VALUE);
    }

    /** A call has ended. */
    synchronized void ended(Outcome outcome, long now) {
        if (state == State.WORN_OUT && outcome == Outcome.SUCCEEDED) {
            close();
        }
        if (state == State.CLOSED) {
            count(outcome, now);
            if (isBad(now)) {
                open(now);
            }
        }
    }

    private void open(long now) {
        state = State.OPEN;
        openedAt = now;
        failedProbes = 0;
        probeAt = now + PROBES.after(1).toNanos();
        probe = null; // one that still hangs began before, so it says nothing about now
    }

    private void close() {
        state = State.CLOSED;
        clear();
    }

    /** How a call ended. */
    enum Outcome {
        SUCCEEDED,
        /** By an exception that the handler names for its breaker. */
        FAILED,
        /** In another way. It says nothing about what the handler needs. */
        OTHER
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

    /** The retry that decides whether an open breaker is closed. There is one at a time. */
    static final class Probe {}

    /** Whether one parked event may be tried now. Null if not. The next one may be tried a while after its end. */
    synchronized @Nullable Probe takeProbe(long now) {
        if (state(now) != State.OPEN || probe != null || now - probeAt < 0) {
            return null;
        }
        probe = new Probe();
        return probe;
    }

    /**
     * A probe has ended. Only the first call for a probe counts. An outcome that does not close the breaker makes the
     * next wait longer, whatever the reason.
     */
    synchronized void ended(Probe ended, Outcome outcome, long now) {
        if (probe != ended) {
            return;
        }
        probe = null;
        if (state(now) != State.OPEN) {
            return;
        }
        if (outcome == Outcome.SUCCEEDED) {
            close();
        } else {
            failedProbes++;
            probeAt = now + PROBES.after(failedProbes + 1).toNanos();
        }
    }
}
