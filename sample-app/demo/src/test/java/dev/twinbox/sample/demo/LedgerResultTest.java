package dev.twinbox.sample.demo;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.LedgerReport;
import dev.twinbox.fixtures.LedgerReport.Fault;
import dev.twinbox.fixtures.LedgerReport.Kind;
import dev.twinbox.proof.ledger.OrderLedgerReader.Look;
import dev.twinbox.sample.demo.LedgerResult.State;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class LedgerResultTest {

    @Test
    void nothingOnItsWayAndNothingWrongIsExact() {
        LedgerResult verdict = LedgerResult.of(look(report(3, 4, 3, List.of()), 3, 3, 0, 0));

        assertThat(verdict.state()).isEqualTo(State.EXACT);
        assertThat(verdict.orders()).isEqualTo(3);
        assertThat(verdict.events()).isEqualTo(3);
        assertThat(verdict.shipments()).isEqualTo(3);
    }

    @Test
    void aRepeatOnKafkaIsARecordAndNoEvent() {
        LedgerResult verdict = LedgerResult.of(look(report(3, 4, 3, List.of()), 3, 3, 0, 0));

        assertThat(verdict.records()).isEqualTo(4);
        assertThat(verdict.distinct()).isEqualTo(3);
    }

    @Test
    void eventsOnTheirWayAreCatchingUp() {
        LedgerResult verdict = LedgerResult.of(look(report(3, 2, 1, List.of()), 3, 2, 1, 1));

        assertThat(verdict.state()).isEqualTo(State.CATCHING_UP);
        assertThat(verdict.reason()).startsWith("1 to send, 1 to ship");
    }

    @Test
    void aFaultIsWrongAndNamed() {
        Fault fault = new Fault(Kind.LOST, "order 11", "is committed and not on Kafka");

        LedgerResult verdict = LedgerResult.of(look(report(3, 2, 2, List.of(fault)), 3, 2, 1, 0));

        assertThat(verdict.state()).isEqualTo(State.WRONG);
        assertThat(verdict.reason()).isEqualTo("order 11 is committed and not on Kafka");
    }

    @Test
    void ofManyFaultsThreeAreNamed() {
        List<Fault> faults = IntStream.rangeClosed(1, 5)
                .mapToObj(number -> new Fault(Kind.LOST, "order " + number, "is lost"))
                .toList();

        assertThat(LedgerResult.of(look(report(5, 0, 0, faults), 0, 0, 5, 0)).reason())
                .isEqualTo("order 1 is lost; order 2 is lost; order 3 is lost; and 2 more");
    }

    private static LedgerReport report(int committed, long records, int shipments, List<Fault> faults) {
        return new LedgerReport(committed, records, 0, Map.of("shipping", shipments), faults);
    }

    private static Look look(LedgerReport report, long events, long onKafka, long unsent, long unshipped) {
        return new Look(report, events, onKafka, unsent, unshipped, 0, 0);
    }
}
