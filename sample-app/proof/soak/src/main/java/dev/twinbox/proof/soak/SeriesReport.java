package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.LedgerReport.Fault;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * What a {@link SeriesLedger} found.
 *
 * @param committed committed events
 * @param applied different events that were applied
 * @param byVersion effects by type and by version of the application
 * @param moved events of a move that were applied out of order: no faults
 * @param faults empty if everything is exact
 */
record SeriesReport(
        int committed, int applied, Map<String, Integer> byVersion, List<String> moved, List<Fault> faults) {

    private static final int SHOWN = 20;

    SeriesReport {
        moved = List.copyOf(moved);
        faults = List.copyOf(faults);
    }

    boolean isExact() {
        return faults.isEmpty();
    }

    /** Events that were not applied yet. */
    long onTheirWay() {
        return (long) committed - applied;
    }

    @Override
    public String toString() {
        return "Series: " + committed + " committed, " + applied + " applied, " + byVersion + ", out of order in moves "
                + moved.size()
                + (isExact() ? ": exact" : ": NOT exact, " + faults.size() + " faults")
                + faults.stream()
                        .limit(SHOWN)
                        .map(fault -> "\n    " + fault.kind() + " " + fault.id() + " " + fault.what())
                        .collect(Collectors.joining());
    }
}
