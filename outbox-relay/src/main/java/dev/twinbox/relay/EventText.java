package dev.twinbox.relay;

import dev.twinbox.console.cli.TextLine;
import dev.twinbox.console.search.SearchedPlace;
import dev.twinbox.console.search.TopicRecord;
import dev.twinbox.relay.jdbc.FoundEvent;
import dev.twinbox.relay.operator.EventAnswer;
import dev.twinbox.relay.operator.Whereabouts;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Where events are, for an operator: as lines and as a page. */
final class EventText {
    private static final String COLUMNS = "ID\tSTATE\tTOPIC\tTYPE\tOCCURRED\tWHERE";

    private EventText() {}

    /** A line for each event, then where they were looked for. */
    static Stream<String> list(EventAnswer answer) {
        Stream<String> events = answer.events().isEmpty()
                ? Stream.of("0 events found")
                : Stream.concat(Stream.of(COLUMNS), answer.events().stream().map(EventText::line));
        return Stream.concat(events, searched(answer));
    }

    private static String line(Whereabouts event) {
        FoundEvent known = event.known();
        return TextLine.of(
                event.id(),
                event.state().text(),
                known == null ? topic(event) : known.topic(),
                known == null ? null : known.type(),
                known == null ? null : known.occurredAt(),
                where(event));
    }

    private static String topic(Whereabouts event) {
        return event.records().isEmpty() ? "-" : event.records().get(0).topic();
    }

    private static String where(Whereabouts event) {
        FoundEvent parked = event.parked();
        if (parked != null) {
            return "parked " + parked.number();
        }
        return event.records().isEmpty()
                ? "-"
                : event.records().stream().map(EventText::record).collect(Collectors.joining(", "));
    }

    private static String record(TopicRecord record) {
        return "partition " + record.partition() + " offset " + record.offset();
    }

    /** All that is known of one event, a line each. */
    static Stream<String> page(EventAnswer answer) {
        Whereabouts event = answer.events().get(0);
        FoundEvent known = event.known();
        FoundEvent parked = event.parked();
        Stream<String> facts = Stream.of(
                fact("id", event.id()),
                fact("state", event.state().text()),
                fact("meaning", event.state().explanation()),
                fact("topic", known == null ? topic(event) : known.topic()),
                fact("key", known == null ? null : known.key()),
                fact("type", known == null ? null : known.type()),
                fact("occurred at", known == null ? null : known.occurredAt()),
                fact("deliver at", known == null ? null : known.deliverAt()),
                fact("parked number", parked == null ? null : parked.number()),
                fact("error", parked == null ? null : parked.error()));
        Stream<String> records =
                event.records().stream().map(each -> fact("record", record(each) + ", sent at " + each.timestamp()));
        return Stream.of(facts, records, searched(answer)).flatMap(lines -> lines);
    }

    private static Stream<String> searched(EventAnswer answer) {
        return answer.searched().stream().map(EventText::searched);
    }

    private static String searched(SearchedPlace place) {
        String times = place.from() == null ? "" : " from " + place.from() + " to " + place.to();
        String end = place.isCut() ? ", cut there: there is more" : "";
        return fact(
                "searched",
                place.name() + ": "
                        + (place.problem() == null ? place.read() + " read" + times + end : place.problem()));
    }

    private static String fact(String name, @Nullable Object value) {
        return TextLine.withoutControls(String.format("%-15s %s", name, TextLine.orDash(value)));
    }
}
