package dev.twinbox.relay.http;

import dev.twinbox.TopicName;
import dev.twinbox.console.Api;
import dev.twinbox.console.Json;
import dev.twinbox.console.ProblemException;
import dev.twinbox.console.operator.Parameters;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObject;
import jakarta.json.JsonString;
import jakarta.json.JsonValue;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** The topics that a call pauses or resumes, and the answer. */
final class TopicsRequest {
    private static final String TOPICS = "topics";
    private static final int MOST = 100;

    private TopicsRequest() {}

    /** From the body; empty: the whole relay is meant. */
    static List<String> of(Api.Call call) {
        JsonObject body = call.body();
        Parameters.refuseUnknown(body.keySet(), Set.of(TOPICS));
        JsonValue value = body.get(TOPICS);
        if (value == null) {
            return List.of();
        }
        List<JsonValue> all = value.getValueType() == JsonValue.ValueType.ARRAY ? value.asJsonArray() : List.of();
        if (all.isEmpty() || all.size() > MOST || !all.stream().allMatch(JsonString.class::isInstance)) {
            throw new ProblemException(400, "\"" + TOPICS + "\" must be a list of 1 to " + MOST + " names of topics");
        }
        return all.stream()
                .map(each -> legal(((JsonString) each).getString()))
                .distinct()
                .toList();
    }

    private static String legal(String topic) {
        try {
            return TopicName.check(topic);
        } catch (IllegalArgumentException e) {
            throw new ProblemException(400, String.valueOf(e.getMessage()));
        }
    }

    /** Another operator may have resumed a topic since. */
    static JsonObject paused(List<String> topics, Map<String, Instant> since) {
        JsonArrayBuilder array = Json.createArrayBuilder();
        topics.stream()
                .filter(since::containsKey)
                .forEach(topic -> array.add(Json.createObjectBuilder()
                        .add("topic", topic)
                        .add("pausedSince", String.valueOf(since.get(topic)))));
        return Json.createObjectBuilder().add(TOPICS, array).build();
    }

    static JsonObject resumed(List<String> topics, Set<String> resumed) {
        JsonArrayBuilder array = Json.createArrayBuilder();
        topics.forEach(topic ->
                array.add(Json.createObjectBuilder().add("topic", topic).add("wasPaused", resumed.contains(topic))));
        return Json.createObjectBuilder().add(TOPICS, array).build();
    }
}
