package dev.twinbox.inbox.console;

import dev.twinbox.console.Api;
import dev.twinbox.console.ProblemException;
import dev.twinbox.console.operator.Parameters;
import dev.twinbox.console.operator.Since;
import dev.twinbox.console.search.IdTime;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * The events that an operator looks for: those of an id, or of a key.
 *
 * @param id null: by key
 * @param key null: not known
 * @param topic null: any
 * @param since from when on topics are read
 * @param most events that are answered
 */
record EventQuery(
        @Nullable String id, @Nullable String key, @Nullable String topic, Since since, int most) {
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");
    private static final int LONGEST_ID = 512;

    /** The event that the path names. */
    static EventQuery one(Api.Call call) {
        String id = call.path().getOrDefault("id", "");
        Map<String, String> query = call.query();
        Parameters.refuseUnknown(query.keySet(), Set.of("topic", "key", "since"));
        return of(id, query, 1);
    }

    /** Those of a key, or of an id that no path can have. */
    static EventQuery all(Api.Call call) {
        Map<String, String> query = call.query();
        Parameters.refuseUnknown(query.keySet(), Set.of("id", "key", "topic", "since", "limit"));
        if (query.getOrDefault("id", "").isEmpty()
                && query.getOrDefault("key", "").isEmpty()) {
            throw new ProblemException(400, "Give the id of an event, or a key");
        }
        return of(query.get("id"), query, Parameters.limit(query));
    }

    private static EventQuery of(@Nullable String id, Map<String, String> query, int most) {
        check("id", id);
        check("key", query.get("key"));
        check("topic", query.get("topic"));
        if (id != null && id.getBytes(StandardCharsets.UTF_8).length > LONGEST_ID) {
            throw new ProblemException(400, "\"id\" has more than " + LONGEST_ID + " bytes, which no event has");
        }
        return new EventQuery(id, query.get("key"), query.get("topic"), since(query.get("since")), most);
    }

    private static void check(String name, @Nullable String text) {
        if (text != null && (text.isEmpty() || text.indexOf('\0') >= 0)) {
            throw new ProblemException(400, "\"" + name + "\" must not be empty or contain the character NUL");
        }
    }

    private static Since since(@Nullable String text) {
        try {
            Since since = Since.parse("since", text);
            Instant time = since.time();
            if (time != null && (time.isBefore(Instant.EPOCH) || time.isAfter(LATEST))) {
                throw new IllegalArgumentException("\"since\" must be a time of the years 1970 to 9999");
            }
            return since;
        } catch (IllegalArgumentException e) {
            throw new ProblemException(400, String.valueOf(e.getMessage()));
        }
    }

    /**
     * From when on a record can be on a topic; null: not known.
     *
     * @param now of the database
     */
    @Nullable Instant sentAfter(Instant now) {
        if (since.time() != null) {
            return since.time();
        } else if (since.age() != null) {
            Instant time = now.minus(since.age());
            return time.isBefore(Instant.EPOCH) ? Instant.EPOCH : time;
        }
        return IdTime.sentAfter(IdTime.of(uuid()));
    }

    private @Nullable UUID uuid() {
        try {
            return id == null ? null : UUID.fromString(id);
        } catch (IllegalArgumentException e) {
            return null; // an id of another library
        }
    }
}
