package dev.twinbox.relay.http;

import dev.twinbox.console.Api;
import dev.twinbox.console.ProblemException;
import dev.twinbox.console.operator.Parameters;
import dev.twinbox.console.operator.Since;
import dev.twinbox.relay.jdbc.EventQuery;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Which events a call asks for. */
final class EventRequest {
    /** The whole form: {@code UUID.fromString} takes shorter ones, too. */
    private static final String ID = "\\p{XDigit}{8}(-\\p{XDigit}{4}){3}-\\p{XDigit}{12}";

    private EventRequest() {}

    /** The event that the path names. */
    static EventQuery one(Api.Call call) {
        String id = call.path().getOrDefault("id", "");
        if (!id.matches(ID)) {
            throw new ProblemException(404, "\"id\" of the path must be a UUID");
        }
        Map<String, String> query = call.query();
        Parameters.refuseUnknown(query.keySet(), Set.of("topic", "key", "since"));
        return query(UUID.fromString(id.toLowerCase(Locale.ROOT)), query, 1);
    }

    /** Those of a key. */
    static EventQuery all(Api.Call call) {
        Map<String, String> query = call.query();
        Parameters.refuseUnknown(query.keySet(), Set.of("key", "topic", "since", "limit"));
        return query(null, query, Parameters.limit(query));
    }

    private static EventQuery query(@Nullable UUID id, Map<String, String> query, int most) {
        try {
            Since since = Since.parse("since", query.get("since"));
            return new EventQuery(id, query.get("topic"), query.get("key"), since.time(), since.age(), most);
        } catch (IllegalArgumentException e) {
            throw new ProblemException(400, String.valueOf(e.getMessage()));
        }
    }
}
