package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.ParkedQueue;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * What is not retried for a while, because it has failed: one parked event, one topic, or everything if Kafka itself
 * failed. Nothing else waits. Each pause is longer than the last one of the same thing, up to a limit. Only for the
 * retry thread.
 */
final class RetryPauses {
    private static final Duration LONGEST = Duration.ofMinutes(1);

    /** @param until monotonic time */
    private record Pause(Duration length, long until) {}

    private enum Everything {
        KAFKA
    }

    private final Duration first;
    /** By the number of an event, the name of a topic, or {@link Everything}. */
    private final Map<Object, Pause> pauses = new HashMap<>();

    /** @param first length of the first pause */
    RetryPauses(Duration first) {
        this.first = first;
    }

    boolean isEverythingPaused() {
        return isPaused(Everything.KAFKA);
    }

    boolean isTopicPaused(String topic) {
        return isPaused(topic);
    }

    private boolean isPaused(Object what) {
        Pause pause = pauses.get(what);
        return pause != null && System.nanoTime() - pause.until() < 0;
    }

    /** The events and topics that are paused now. */
    ParkedQueue.Paused paused() {
        pauses.values().removeIf(pause -> System.nanoTime() - pause.until() > LONGEST.toNanos());
        List<Long> events = new ArrayList<>();
        List<String> topics = new ArrayList<>();
        for (Object each : pauses.keySet()) {
            if (each instanceof Long number && isPaused(number)) {
                events.add(number);
            } else if (each instanceof String topic && isPaused(topic)) {
                topics.add(topic);
            }
        }
        return new ParkedQueue.Paused(events, topics);
    }

    void pauseEverything() {
        pause(Everything.KAFKA);
    }

    void pauseTopic(String topic) {
        pause(topic);
    }

    void pauseEvent(long number) {
        pause(number);
    }

    private void pause(Object what) {
        Pause last = pauses.get(what);
        Duration length = last == null ? first : last.length().multipliedBy(2);
        if (length.compareTo(LONGEST) > 0) {
            length = LONGEST;
        }
        pauses.put(what, new Pause(length, System.nanoTime() + length.toNanos()));
    }

    /** An event was sent: the next pause of it, of its topic, or of everything is a short one again. */
    void end(long number, String topic) {
        pauses.remove(number);
        pauses.remove(topic);
        pauses.remove(Everything.KAFKA);
    }
}
