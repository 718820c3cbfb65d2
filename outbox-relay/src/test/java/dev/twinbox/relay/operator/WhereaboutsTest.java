package dev.twinbox.relay.operator;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.console.search.TopicRecord;
import dev.twinbox.relay.jdbc.FoundEvent;
import dev.twinbox.relay.jdbc.FoundEvent.Place;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.operator.Whereabouts.State;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/** What is known of an event decides which answer it gets. */
class WhereaboutsTest {
    private static final List<TopicRecord> NONE = List.of();
    private static final List<TopicRecord> ONE = List.of(new TopicRecord("t", 0, 7, Instant.EPOCH, "id", "type"));

    @Test
    void aRowAndARecordTogetherDecide() {
        assertThat(state(null, null, NONE)).isEqualTo(State.NOT_HERE);
        assertThat(state(null, null, ONE)).isEqualTo(State.SENT);
        assertThat(state(row(Place.SCHEDULED, false), null, NONE)).isEqualTo(State.SCHEDULED);
        assertThat(state(row(Place.EVENTS, false), null, NONE)).isEqualTo(State.UNSENT);
        assertThat(state(row(Place.EVENTS, false), null, ONE)).isEqualTo(State.IN_FLIGHT);
        assertThat(state(row(Place.EVENTS, true), null, NONE)).isEqualTo(State.PASSED);
        assertThat(state(row(Place.EVENTS, true), null, ONE)).isEqualTo(State.SENT);
    }

    /** The position has passed what is parked. Nevertheless it is not sent. */
    @Test
    void whatIsParkedIsNotSent() {
        Map<ParkedState, State> expected = Map.of(
                ParkedState.REFUSED, State.PARKED,
                ParkedState.BEHIND, State.PARKED,
                ParkedState.READY, State.PARKED,
                ParkedState.WAITING, State.WAITING,
                ParkedState.SENDING, State.IN_FLIGHT,
                ParkedState.UNDECIDED, State.IN_FLIGHT,
                ParkedState.DISCARDED, State.DISCARDED);
        assertThat(expected).containsOnlyKeys(ParkedState.values());
        expected.forEach((parked, state) -> {
            assertThat(state(row(Place.EVENTS, true), parked(parked), NONE)).isEqualTo(state);
            assertThat(state(null, parked(parked), NONE)).isEqualTo(state);
        });
    }

    @Test
    void eachAnswerHasAnExplanation() {
        assertThat(State.values())
                .allSatisfy(state -> assertThat(state.explanation()).endsWith("."));
        assertThat(State.NOT_HERE.explanation()).contains("not committed", "never written", "cannot be told apart");
    }

    private static State state(FoundEvent row, FoundEvent parked, List<TopicRecord> records) {
        return new Whereabouts("id", row, parked, records).state();
    }

    private static FoundEvent row(Place place, boolean isSent) {
        return new FoundEvent(place, 1, null, "t", "k", "type", Instant.EPOCH, isSent, null, null, null);
    }

    private static FoundEvent parked(ParkedState state) {
        return new FoundEvent(Place.PARKED, 1, null, "t", "k", "type", Instant.EPOCH, false, null, state, "error");
    }
}
