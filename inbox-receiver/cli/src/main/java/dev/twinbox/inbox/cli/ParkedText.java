package dev.twinbox.inbox.cli;

import dev.twinbox.ParkedEvent;
import dev.twinbox.console.cli.TextLine;
import dev.twinbox.inbox.console.ParkedJson;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A parked event for an operator: as a line and as a page. */
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
                TextLine.cut(TextLine.orDash(ParkedJson.text(event.key())), LONGEST_KEY),
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
        event.headers()
                .forEach(header -> lines.add("header:    " + header.name() + " = " + ParkedJson.text(header.value())));
        lines.add("key:       " + ParkedJson.text(event.key()));
        lines.add("value:     " + ParkedJson.text(event.value()));
        lines.replaceAll(TextLine::withLineBreaks);
        return lines;
    }
}
