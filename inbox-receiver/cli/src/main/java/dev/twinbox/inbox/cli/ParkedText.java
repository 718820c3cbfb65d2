package dev.twinbox.inbox.cli;

import dev.twinbox.ParkedEvent;
import dev.twinbox.console.cli.TextLine;
import dev.twinbox.console.operator.JsonText;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A parked event for an operator: as a line, as a page, as JSON. */
final class ParkedText {

    static final String COLUMNS = "NUMBER\tSTATE\tTOPIC\tKEY\tTYPE\tHANDLER\tATTEMPTS\tPARKED\tERROR";

    private static final int LONGEST_KEY = 40;
    private static final int LONGEST_ERROR = 160;
    private static final String CAUSED_BY = " <- ";

    private ParkedText() {}

    /** The values of {@link #COLUMNS}. */
    static String line(ParkedEvent event) {
        return TextLine.of(
                event.number(),
                event.state(),
                event.topic(),
                TextLine.cut(TextLine.orDash(text(event.key())), LONGEST_KEY),
                event.eventType(),
                event.handler(),
                event.attempts(),
                event.parkedAt(),
                TextLine.cut(rootFirst(event.error()), LONGEST_ERROR));
    }

    /** The first line of each cause, the root cause first: containers wrap what a handler throws. */
    private static String rootFirst(@Nullable String error) {
        if (error == null) {
            return "-";
        }
        List<String> causes = new ArrayList<>(List.of(error.split(CAUSED_BY)));
        Collections.reverse(causes);
        return causes.stream()
                .map(cause -> cause.lines().findFirst().orElse(""))
                .reduce((root, wrapper) -> root + ", in " + wrapper)
                .orElse("-");
    }

    /** All that is known, a line each. */
    static List<String> page(ParkedEvent event) {
        List<String> lines = new ArrayList<>(List.of(
                "number:    " + event.number(),
                "state:     " + event.state(),
                "group:     " + event.group(),
                "handler:   " + event.handler(),
                "event id:  " + event.eventId(),
                "type:      " + event.eventType(),
                "record:    " + event.coordinates() + " of " + event.time(),
                "parked at: " + event.parkedAt(),
                "attempts:  " + event.attempts() + ", the last failed at " + event.failedAt(),
                "next try:  " + event.nextTryAt(),
                "error:     " + event.error()));
        event.headers().forEach(header -> lines.add("header:    " + header.name() + " = " + text(header.value())));
        lines.add("key:       " + text(event.key()));
        lines.add("value:     " + text(event.value()));
        lines.replaceAll(TextLine::withLineBreaks);
        return lines;
    }

    /** As listed: without headers and value. */
    static JsonText json(ParkedEvent event) {
        return new JsonText()
                .with("number", event.number())
                .with("state", event.state())
                .with("group", event.group())
                .with("topic", event.topic())
                .with("partition", event.partition())
                .with("offset", event.offset())
                .with("key", text(event.key()))
                .with("type", event.eventType())
                .with("id", event.eventId())
                .with("handler", event.handler())
                .with("attempts", event.attempts())
                .with("parkedAt", event.parkedAt())
                .with("nextTry", event.nextTryAt())
                .with("error", event.error());
    }

    /** All that is known. */
    static JsonText jsonPage(ParkedEvent event) {
        byte[] value = event.value();
        return json(event)
                .with("time", event.time())
                .with("failedAt", event.failedAt())
                .with(
                        "headers",
                        event.headers().stream()
                                .map(header -> new JsonText()
                                        .with("name", header.name())
                                        .with("value", text(header.value())))
                                .toList())
                .with("valueBytes", value == null ? null : value.length)
                .with("value", text(value));
    }

    /** What is not UTF-8 in hexadecimal digits. */
    private static @Nullable String text(byte @Nullable [] bytes) {
        if (bytes == null) {
            return null;
        }
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(bytes))
                    .toString();
        } catch (CharacterCodingException e) {
            return "0x" + HexFormat.of().formatHex(bytes);
        }
    }
}
