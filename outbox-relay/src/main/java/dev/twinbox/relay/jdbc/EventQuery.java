package dev.twinbox.relay.jdbc;

import dev.twinbox.console.search.IdTime;
import java.time.Duration;
import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The events that an operator looks for: one id, or all of a key.
 *
 * @param id null: by key
 * @param topic of the event; null: any
 * @param key of the event; null: not known
 * @param since records of topics are read from this time on; null: see {@code age}
 * @param age the same as a duration back from now, by the database's clock; null: from the time of the event
 * @param most events that are answered
 */
public record EventQuery(
        @Nullable UUID id,
        @Nullable String topic,
        @Nullable String key,
        @Nullable Instant since,
        @Nullable Duration age,
        int most) {
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    /** @throws IllegalArgumentException if there is neither id nor key, or a text that no event can have */
    public EventQuery {
        if (id == null && (key == null || key.isEmpty())) {
            throw new IllegalArgumentException("Give the id of an event, or a key");
        }
        check("topic", topic);
        check("key", key);
        if (since != null && (since.isBefore(Instant.EPOCH) || since.isAfter(LATEST))) {
            throw new IllegalArgumentException("\"since\" must be a time of the years 1970 to 9999");
        }
    }

    /** One event. */
    public static EventQuery of(UUID id) {
        return new EventQuery(id, null, null, null, null, 1);
    }

    /** The same with a time instead of an age. */
    EventQuery asOf(Instant now) {
        return age == null ? this : new EventQuery(id, topic, key, latest(Instant.EPOCH, now.minus(age)), null, most);
    }

    private static Instant latest(Instant one, Instant other) {
        return one.isAfter(other) ? one : other;
    }

    private static void check(String name, @Nullable String text) {
        if (text != null && text.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("\"" + name + "\" must not contain the character NUL");
        }
    }

    /** When the application made the event, by its id. Null if the id does not say it, as that of another library. */
    @Nullable Instant madeAt() {
        return IdTime.of(id);
    }

    /**
     * From when on a record of the event can be on a topic. Null: not known.
     *
     * @param occurredAt of the event's row; null: it is not found
     */
    public @Nullable Instant sentAfter(@Nullable Instant occurredAt) {
        if (since != null) {
            return since;
        }
        return IdTime.sentAfter(occurredAt == null ? madeAt() : occurredAt);
    }
}
