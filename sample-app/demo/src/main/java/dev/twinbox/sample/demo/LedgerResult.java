package dev.twinbox.sample.demo;

import dev.twinbox.fixtures.LedgerReport;
import dev.twinbox.fixtures.LedgerReport.Fault;
import dev.twinbox.proof.ledger.OrderLedgerReader.Look;
import java.util.List;
import java.util.stream.Collectors;

/**
 * What a comparison of orders, events and shipments found.
 *
 * @param events committed events
 * @param records on Kafka, repeats included
 * @param distinct different events on Kafka
 * @param reason for a reader of the page
 */
record LedgerResult(State state, long orders, long events, long records, long distinct, long shipments, String reason) {

    private static final int FAULTS_NAMED = 3;

    /** How orders, events and shipments compare. */
    enum State {
        /** The same ids in all three places. */
        EXACT,
        /** Events are on their way, and all that has arrived is right. */
        CATCHING_UP,
        /** Something is lost, repeated, invented or out of order. */
        WRONG
    }

    static LedgerResult none(String reason) {
        return new LedgerResult(State.CATCHING_UP, 0, 0, 0, 0, 0, reason);
    }

    static LedgerResult of(Look look) {
        LedgerReport report = look.report();
        if (!report.isExact()) {
            return of(look, State.WRONG, describe(report.faults()));
        }
        if (look.unsent() + look.unshipped() > 0) {
            return of(
                    look,
                    State.CATCHING_UP,
                    look.unsent() + " to send, " + look.unshipped()
                            + " to ship; nothing lost, repeated or out of order");
        }
        return of(look, State.EXACT, "each order has one event and one shipment, in order; compared id by id");
    }

    private static LedgerResult of(Look look, State state, String reason) {
        LedgerReport report = look.report();
        long shipments =
                report.effects().values().stream().mapToLong(Integer::longValue).sum();
        return new LedgerResult(
                state, report.committed(), look.events(), report.records(), look.onKafka(), shipments, reason);
    }

    private static String describe(List<Fault> faults) {
        String named = faults.stream()
                .limit(FAULTS_NAMED)
                .map(fault -> fault.id() + " " + fault.what())
                .collect(Collectors.joining("; "));
        int more = faults.size() - FAULTS_NAMED;
        return more > 0 ? named + "; and " + more + " more" : named;
    }

    LedgerResult with(State other, String otherReason) {
        return new LedgerResult(other, orders, events, records, distinct, shipments, otherReason);
    }
}
