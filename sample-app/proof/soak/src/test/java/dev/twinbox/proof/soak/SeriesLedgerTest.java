package dev.twinbox.proof.soak;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import dev.twinbox.fixtures.LedgerReport.Fault;
import dev.twinbox.fixtures.LedgerReport.Kind;
import dev.twinbox.proof.soak.SeriesLedger.Applied;
import dev.twinbox.proof.soak.SeriesLedger.Written;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The ledger of the series reports each kind of fault. */
class SeriesLedgerTest {

    private final List<Written> written = new ArrayList<>();
    private final List<Applied> applied = new ArrayList<>();
    private final Moves moves = new Moves();

    @BeforeEach
    void twoSeries() {
        for (int number = 1; number <= 3; number++) {
            written.add(new Written("n" + number, SeriesTraffic.NOTICE_GIVEN, "a", number));
            written.add(new Written("r" + number, SeriesTraffic.RETURN_REFUNDED, "a", number));
        }
        long place = 10;
        for (Written event : written) {
            applied.add(effect(event, ++place, Versions.SECOND));
        }
    }

    @Test
    void whatWasAppliedOnceInOrderIsExact() {
        SeriesReport report = SeriesLedger.compareAtTheEnd(written, applied, moves);

        assertThat(report.faults()).isEmpty();
        assertThat(report.isExact()).isTrue();
        assertThat(report.onTheirWay()).isZero();
        assertThat(report.byVersion())
                .containsEntry("notice.given by version 2", 3)
                .containsEntry("return.refunded by version 2", 3);
    }

    @Test
    void bothVersionsMayApplyWhatBothHandle() {
        applied.set(0, effect(written.get(0), 1, Versions.FIRST));

        assertThat(SeriesLedger.compareAtTheEnd(written, applied, moves).isExact())
                .isTrue();
    }

    @Test
    void anEventOnItsWayIsLostOnlyAtTheEnd() {
        applied.remove(applied.size() - 1);

        assertThat(SeriesLedger.compare(written, applied, moves).faults()).isEmpty();
        assertThat(SeriesLedger.compare(written, applied, moves).onTheirWay()).isEqualTo(1);
        assertThat(SeriesLedger.compareAtTheEnd(written, applied, moves).faults())
                .extracting(Fault::kind, Fault::id)
                .containsExactly(tuple(Kind.EFFECT_MISSING, "r3"));
    }

    @Test
    void anEventThatIsMissingBeforeALaterOneOfItsKeyIsFoundAtOnce() {
        applied.removeIf(effect -> effect.eventId().equals("n2"));

        assertThat(kinds(SeriesLedger.compare(written, applied, moves))).containsExactly(Kind.REORDERED);
    }

    @Test
    void anEventThatIsAppliedAfterALaterOneOfItsKeyIsOutOfOrder() {
        applied.removeIf(effect -> effect.eventId().equals("n2"));
        applied.add(effect(written.get(2), 99, Versions.FIRST));

        assertThat(kinds(SeriesLedger.compareAtTheEnd(written, applied, moves))).contains(Kind.REORDERED);
    }

    @Test
    void onlyEventsOfAMoveMayBeOutOfOrder() {
        written.add(new Written("n4", SeriesTraffic.NOTICE_GIVEN, "a", 4));
        applied.removeIf(effect -> effect.eventId().equals("n2"));
        applied.add(effect(written.get(2), 98, Versions.FIRST));
        applied.add(effect(written.get(6), 99, Versions.FIRST));

        moves.begin(SeriesTraffic.NOTICE_GIVEN, Map.of("a", 1L));
        assertThat(SeriesLedger.compareAtTheEnd(written, applied, moves).faults())
                .as("2 and 3 are of the move, which lasts")
                .isEmpty();
        moves.end(Map.of("a", 3L));
        assertThat(SeriesLedger.compareAtTheEnd(written, applied, moves).faults())
                .as("2 and 3 are of the move, 4 follows")
                .isEmpty();
        assertThat(SeriesLedger.compareAtTheEnd(written, applied, moves).moved())
                .hasSize(2);

        moves.end(Map.of("a", 2L));
        assertThat(kinds(SeriesLedger.compareAtTheEnd(written, applied, moves)))
                .as("3 is not of the move")
                .containsExactly(Kind.REORDERED);
    }

    @Test
    void anEventThatIsAppliedTwiceIsRepeated() {
        applied.add(effect(written.get(0), 99, Versions.FIRST));

        assertThat(kinds(SeriesLedger.compare(written, applied, moves))).containsExactly(Kind.EFFECT_REPEATED);
    }

    @Test
    void whatWasRolledBackIsAPhantom() {
        written.removeIf(event -> event.id().equals("n3"));

        assertThat(kinds(SeriesLedger.compare(written, applied, moves))).containsExactly(Kind.EFFECT_PHANTOM);
    }

    @Test
    void anotherNumberIsAChange() {
        Applied last = applied.get(4);
        applied.set(
                4,
                new Applied(last.place(), last.eventId(), last.type(), last.key(), 4, last.version(), last.record()));

        assertThat(kinds(SeriesLedger.compare(written, applied, moves))).containsExactly(Kind.CHANGED, Kind.REORDERED);
    }

    @Test
    void aVersionWithoutTheHandlerCannotHaveAppliedTheEvent() {
        Written last = written.get(5);
        applied.set(5, effect(last, 99, Versions.FIRST));

        assertThat(kinds(SeriesLedger.compare(written, applied, moves))).containsExactly(Kind.EFFECT_PHANTOM);
    }

    private static Applied effect(Written event, long place, int version) {
        return new Applied(place, event.id(), event.type(), event.key(), event.number(), version, "t-0@" + place);
    }

    private static List<Kind> kinds(SeriesReport report) {
        return report.faults().stream().map(Fault::kind).toList();
    }
}
