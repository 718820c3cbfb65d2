package dev.twinbox.inbox.console;

import dev.twinbox.TopicName;
import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/**
 * Which events an operator wants to have handled again.
 *
 * @param group null: the one that has the handler
 * @param partition null: all
 * @param from the first event
 * @param to the end, itself not included; null: all that is there now
 * @param key only records with this key; null: all
 * @param known what happens to events that the inbox knows
 */
public record ReplaySelection(
        String topic,
        String handler,
        @Nullable String group,
        @Nullable Integer partition,
        Bound from,
        @Nullable Bound to,
        @Nullable String key,
        Known known) {

    private static final String OLDEST = "oldest";

    /** What happens to events that the inbox knows. */
    public enum Known {
        SKIPPED,
        AGAIN
    }

    /**
     * A limit of the range: an offset, or the time of a record, or the oldest record.
     *
     * @param text as the operator wrote it
     */
    public record Bound(
            String text, @Nullable Long offset, @Nullable Instant time) {

        private static Bound of(String name, String text) {
            if (text.equals(OLDEST) && name.equals("from")) {
                return new Bound(text, null, null);
            }
            if (text.matches("\\d{1,18}")) {
                return new Bound(text, Long.parseLong(text), null);
            }
            try {
                return new Bound(text, null, OffsetDateTime.parse(text).toInstant());
            } catch (DateTimeException e) {
                throw new IllegalArgumentException("\"" + name + "\" is \"" + text
                        + "\": give an offset, or a time with its zone, such as 2026-11-29T12:00:00Z"
                        + (name.equals("from") ? ", or " + OLDEST : ""));
            }
        }
    }

    /**
     * Checks what can be checked without database and Kafka.
     *
     * @throws IllegalArgumentException if a part is missing or illegal
     */
    public static ReplaySelection of(
            @Nullable String topic,
            @Nullable String handler,
            @Nullable String group,
            @Nullable Integer partition,
            @Nullable String from,
            @Nullable String to,
            @Nullable String key,
            Known known) {
        if (topic == null || handler == null || from == null) {
            throw new IllegalArgumentException("topic, handler and from are needed: give the one that is missing");
        }
        TopicName.check(topic);
        if (handler.isEmpty() || "".equals(group)) {
            throw new IllegalArgumentException("a handler or a group has no name: give one, or leave out the group");
        }
        if (partition != null && partition < 0) {
            throw new IllegalArgumentException("\"partition\" is " + partition + ": give its number, from 0 on");
        }
        return new ReplaySelection(
                topic,
                handler,
                group,
                partition,
                Bound.of("from", from),
                to == null ? null : Bound.of("to", to),
                key,
                known);
    }

    boolean isAgain() {
        return known == Known.AGAIN;
    }

    boolean hasOffsets() {
        return from.offset() != null || (to != null && to.offset() != null);
    }
}
