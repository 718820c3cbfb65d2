package dev.twinbox.relay;

import dev.twinbox.console.cli.TextLine;
import dev.twinbox.relay.jdbc.ParkedRows;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** A parked event for an operator: as a line and as a page. */
final class ParkedText {

    static final String COLUMNS = "NUMBER\tSTATE\tTOPIC\tKEY\tTYPE\tATTEMPTS\tPARKED\tERROR";

    private static final int LONGEST_KEY = 40;

    /** An error begins with its event, so the reason comes late. */
    private static final int LONGEST_ERROR = 400;

    private ParkedText() {}

    /** The values of {@link #COLUMNS}. */
    static String line(ParkedRows.Line line) {
        return TextLine.of(
                line.number(),
                line.state().sql(),
                line.topic(),
                TextLine.cut(TextLine.orDash(line.key()), LONGEST_KEY),
                line.type(),
                line.attempts(),
                line.parkedAt(),
                TextLine.cut(firstLine(line.error()), LONGEST_ERROR));
    }

    private static String firstLine(@Nullable String text) {
        return text == null ? "-" : text.lines().findFirst().orElse("-");
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
                .map(TextLine::withLineBreaks)
                .toList();
    }

    private static String fact(String name, @Nullable Object value) {
        return String.format("%-15s %s", name, TextLine.orDash(value));
    }

    private static String headers(List<ParkedRows.Header> headers) {
        return headers.stream()
                .map(header -> TextLine.orDash(header.name()) + " = " + TextLine.orDash(header.value()))
                .collect(Collectors.joining(", "));
    }
}
