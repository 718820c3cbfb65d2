package dev.twinbox.relay;

import dev.twinbox.relay.jdbc.ParkedRows;
import jakarta.json.Json;
import jakarta.json.JsonArrayBuilder;
import jakarta.json.JsonObjectBuilder;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A parked event for an operator: as a line, as a page, as JSON. */
final class ParkedText {

    static final String COLUMNS = "NUMBER\tSTATE\tTOPIC\tKEY\tTYPE\tATTEMPTS\tPARKED\tERROR";

    private static final int LONGEST_KEY = 40;

    /** An error begins with its event, so the reason comes late. */
    private static final int LONGEST_ERROR = 400;

    private ParkedText() {}

    /** The values of {@link #COLUMNS}. */
    static String line(ParkedRows.Line line) {
        return Stream.of(
                        line.number(),
                        line.state().sql(),
                        line.topic(),
                        cut(orDash(line.key()), LONGEST_KEY),
                        orDash(line.type()),
                        line.attempts(),
                        line.parkedAt(),
                        cut(firstLine(line.error()), LONGEST_ERROR))
                .map(value -> value.toString().replaceAll("[\\s\\p{Cc}]", " "))
                .collect(Collectors.joining("\t"));
    }

    private static String firstLine(@Nullable String text) {
        return text == null ? "-" : text.lines().findFirst().orElse("-");
    }

    private static String cut(String text, int longest) {
        return text.length() <= longest ? text : text.substring(0, longest - 1) + '…';
    }

    private static String orDash(@Nullable Object value) {
        return value == null ? "-" : value.toString();
    }

    /** All that is known except the payload, a line each. */
    static List<String> page(ParkedRows.Details event) {
        ParkedRows.Line line = event.line();
        return Stream.of(
                        fact("number", line.number()),
                        fact("state", line.state().sql()),
                        fact("topic", line.topic()),
                        fact("partition", line.partition()),
                        fact("key", line.key()),
                        fact("id", line.id()),
                        fact("type", line.type()),
                        fact("source", event.source()),
                        fact("subject", event.subject()),
                        fact("occurred at", event.occurredAt()),
                        fact("content type", event.contentType()),
                        fact("headers", event.headers().isEmpty() ? null : headers(event.headers())),
                        fact("payload bytes", event.payloadBytes()),
                        fact("attempts", line.attempts()),
                        fact("parked at", line.parkedAt()),
                        fact("error", line.error()),
                        fact("seq", event.seq()),
                        fact("behind it", event.behind()))
                .map(ParkedText::withoutControls)
                .toList();
    }

    /** Escape sequences of an event must not reach the operator's terminal. Line breaks and tabs may. */
    private static String withoutControls(String text) {
        return text.replaceAll("[\\p{Cc}&&[^\\r\\n\\t]]", "\uFFFD");
    }

    private static String fact(String name, @Nullable Object value) {
        return String.format("%-15s %s", name, orDash(value));
    }

    private static String headers(List<ParkedRows.Header> headers) {
        return headers.stream()
                .map(header -> orDash(header.name()) + " = " + orDash(header.value()))
                .collect(Collectors.joining(", "));
    }

    /** As listed: without headers and payload. */
    static JsonObjectBuilder json(ParkedRows.Line line) {
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
    static JsonObjectBuilder jsonPage(ParkedRows.Details event) {
        JsonObjectBuilder json = json(event.line());
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
