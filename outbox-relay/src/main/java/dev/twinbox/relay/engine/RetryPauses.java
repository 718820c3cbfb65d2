package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.ParkedQueue;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;

/**
 * How long a group of parked events is paused after a failure. Each pause is longer than the last, up to a limit. Only
 * for the retry thread.
 */
final class RetryPauses {
    private static final Duration LONGEST = Duration.ofMinutes(1);

    /** @param until monotonic time */
    private record Pause(Duration length, long until) {}

    private final Duration first;
    private final Map<ParkedQueue.WaitedFor, Pause> pauses = new HashMap<>();

    /** @param first length of the first pause */
    RetryPauses(Duration first) {
        this.first = first;
    }

    boolean isPaused(ParkedQueue.WaitedFor group) {
        Pause pause = pauses.get(group);
        return pause != null && System.nanoTime() - pause.until() < 0;
    }

    void pause(ParkedQueue.WaitedFor group) {
        Pause last = pauses.get(group);
        Duration length = last == null ? first : last.length().multipliedBy(2);
        if (length.compareTo(LONGEST) > 0) {
            length = LONGEST;
        }
        pauses.put(group, new Pause(length, System.nanoTime() + length.toNanos()));
    }

    /** The next pause is a short one again. */
    void end(ParkedQueue.WaitedFor group) {
        pauses.remove(group);
    }
}
