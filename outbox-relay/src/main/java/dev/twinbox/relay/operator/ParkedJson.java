package dev.twinbox.relay.operator;

import dev.twinbox.console.Json;
import dev.twinbox.relay.jdbc.ParkedRows;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObjectBuilder;
import org.jspecify.annotations.Nullable;

/** A parked event as JSON. */
public final class ParkedJson {

    private ParkedJson() {}

    /** As listed: without headers and payload. */
    public static JsonObjectBuilder line(ParkedRows.Line line) {
        JsonObjectBuilder json = Json.createObjectBuilder();
        json.add("number", line.number());
        json.add("state", line.state().sql());
        json.add("topic", line.topic());
        if (line.partition() != null) {
            json.add("partition", line.partition());
        }
        addText(json, "key", line.key());
        addText(json, "type", line.type());
        addText(json, "id", line.id());
        json.add("attempts", line.attempts());
        json.add("parkedAt", line.parkedAt().toString());
        addText(json, "error", line.error());
        return json;
    }

    /** All that is known except the payload. */
    public static JsonObjectBuilder details(ParkedRows.Details event) {
        JsonObjectBuilder json = line(event.line());
        json.add("seq", event.seq());
        addText(json, "source", event.source());
        addText(json, "subject", event.subject());
        addText(json, "occurredAt", event.occurredAt());
        addText(json, "contentType", event.contentType());
        JsonArrayBuilder headers = Json.createArrayBuilder();
        for (ParkedRows.Header each : event.headers()) {
            JsonObjectBuilder header = Json.createObjectBuilder();
            addText(header, "name", each.name());
            addText(header, "value", each.value());
            headers.add(header);
        }
        json.add("headers", headers);
        if (event.payloadBytes() != null) {
            json.add("valueBytes", event.payloadBytes());
        }
        json.add("behind", event.behind());
        return json;
    }

    /** What an event does not have is left out. */
    private static void addText(JsonObjectBuilder json, String name, @Nullable String value) {
        if (value != null) {
            json.add(name, value);
        }
    }
}
