package dev.twinbox.relay.operator;

import dev.twinbox.console.search.TopicRecord;
import dev.twinbox.relay.jdbc.FoundEvent;
import dev.twinbox.relay.jdbc.ParkedState;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where one event is.
 *
 * @param id null: a broken row without one
 * @param row of the event table, or of the table of scheduled events; null: it is in neither
 * @param parked its row among the parked events; null: it is not parked
 * @param records of it that were found on topics
 */
public record Whereabouts(
        @Nullable String id,
        @Nullable FoundEvent row,
        @Nullable FoundEvent parked,
        List<TopicRecord> records) {

    /** The answer in a word. */
    public enum State {
        SCHEDULED("It is sent at its time."),
        UNSENT(
                "It is committed, and the relay's saved position has not passed it. If it stays so, \"status\" says why."),
        IN_FLIGHT("It was handed to Kafka, and the relay has not saved that yet."),
        WAITING("Its topic is missing or its partition is stalled. The relay tries again by itself."),
        PARKED("It was set aside. \"parked show\" with its number says why, and \"parked retry\" sends it."),
        DISCARDED("An operator has discarded it. The relay removes it."),
        SENT("Kafka has it."),
        PASSED(
                "The relay is past it: it was sent, or discarded by an operator. Its record was not found on the topic."),
        NOT_HERE("It is in no table, and its record was not found. It is not committed yet, was never written, or was"
                + " sent and its rows are emptied: these cannot be told apart.");

        private final String explanation;

        State(String explanation) {
            this.explanation = explanation;
        }

        /** As JSON and the command line have it: {@code in-flight}. */
        public String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** What it means, and what to do. */
        public String explanation() {
            return explanation;
        }
    }

    /**
     * What is parked is not sent although the position has passed it. A record says more than a position, which is saved
     * after Kafka's answer.
     */
    public State state() {
        if (parked != null) {
            return parkedState(parked.state());
        }
        if (row == null) {
            return records.isEmpty() ? State.NOT_HERE : State.SENT;
        }
        if (row.place() == FoundEvent.Place.SCHEDULED) {
            return State.SCHEDULED;
        }
        if (records.isEmpty()) {
            return row.isSent() ? State.PASSED : State.UNSENT;
        }
        return row.isSent() ? State.SENT : State.IN_FLIGHT;
    }

    private static State parkedState(@Nullable ParkedState state) {
        return switch (state == null ? ParkedState.REFUSED : state) {
            case WAITING -> State.WAITING;
            case SENDING, UNDECIDED -> State.IN_FLIGHT;
            case DISCARDED -> State.DISCARDED;
            case REFUSED, BEHIND, READY -> State.PARKED;
        };
    }

    /** The row that says most about it; null: there is none. */
    public @Nullable FoundEvent known() {
        return row == null ? parked : row;
    }
}
