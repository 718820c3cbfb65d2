package dev.twinbox.inbox.console;

import dev.twinbox.ParkedEvent;
import dev.twinbox.console.operator.JsonText;
import dev.twinbox.console.search.TopicRecord;
import dev.twinbox.inbox.jdbc.HandledRows;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where one event is on the receiver's side.
 *
 * @param id null: an event without one
 * @param parked its rows among the parked events, one for each handler
 * @param handled who has handled it
 * @param records of it that were found on topics
 */
record Whereabouts(
        @Nullable String id, List<ParkedEvent> parked, List<HandledRows.Handled> handled, List<FoundRecord> records) {

    /**
     * A record on a topic.
     *
     * @param waiting groups that have not read it yet
     * @param passed groups that are after it
     */
    record FoundRecord(TopicRecord record, List<String> waiting, List<String> passed) {
        private JsonText json() {
            return new JsonText()
                    .with("topic", record.topic())
                    .with("partition", record.partition())
                    .with("offset", record.offset())
                    .with("timestamp", record.timestamp())
                    .with("waiting", waiting)
                    .with("passed", passed);
        }
    }

    /** The answer in a word. */
    enum State {
        PARKED("It was set aside for a handler. \"parked show\" with its number says why."),
        HANDLED("The handlers in \"handled\" have handled it, or an operator has discarded it for them."),
        UNREAD("Kafka has it, and the groups in \"waiting\" have not read it yet."),
        PASSED(
                "The groups are after it, and no handler has a row of it. No handler takes its type, its handlers keep no"
                        + " rows, or its row is older than the retention."),
        ON_TOPIC("Kafka has it. How far the groups are is not known."),
        NOT_HERE("It is in no table, and no record of it was found. It was never sent, is not sent yet, or was handled"
                + " and its row is older than the retention: these cannot be told apart.");

        private final String explanation;

        State(String explanation) {
            this.explanation = explanation;
        }

        /** As JSON has it: {@code not-here}. */
        String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }
    }

    /** A parked event is not handled by that handler; others may have handled it. */
    State state() {
        if (!parked.isEmpty()) {
            return State.PARKED;
        } else if (!handled.isEmpty()) {
            return State.HANDLED;
        } else if (records.isEmpty()) {
            return State.NOT_HERE;
        } else if (records.stream().anyMatch(each -> !each.waiting().isEmpty())) {
            return State.UNREAD;
        }
        return records.stream().allMatch(each -> each.passed().isEmpty()) ? State.ON_TOPIC : State.PASSED;
    }

    JsonText json() {
        State state = state();
        JsonText json =
                new JsonText().with("id", id).with("state", state.text()).with("explanation", state.explanation);
        if (!parked.isEmpty()) {
            ParkedEvent first = parked.get(0);
            json.with("topic", first.topic())
                    .with("key", ParkedJson.text(first.key()))
                    .with("type", first.eventType());
        } else if (!records.isEmpty()) {
            TopicRecord first = records.get(0).record();
            json.with("topic", first.topic()).with("type", first.type());
        }
        return json.with("parked", parked.stream().map(Whereabouts::json).toList())
                .with("handled", handled.stream().map(Whereabouts::json).toList())
                .with("records", records.stream().map(FoundRecord::json).toList());
    }

    private static JsonText json(ParkedEvent event) {
        return new JsonText()
                .with("number", event.number())
                .with("group", event.group())
                .with("handler", event.handler())
                .with("state", event.state())
                .with("error", event.error());
    }

    private static JsonText json(HandledRows.Handled row) {
        return new JsonText()
                .with("group", row.group())
                .with("handler", row.handler())
                .with("at", row.at());
    }
}
