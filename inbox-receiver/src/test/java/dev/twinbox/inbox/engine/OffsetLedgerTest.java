package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.kafka.PartitionStart;
import java.util.List;
import java.util.TreeMap;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.Example;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;

class OffsetLedgerTest {

    /**
     * One step of a run.
     *
     * @param fetches how many records are fetched; 0 if one is settled
     * @param gap how many offsets without a record are before each record and after the last; compaction and ends of
     *     transactions leave such gaps
     * @param which the one of the open records that is settled
     */
    record Step(int fetches, int gap, int which) {}

    @Property
    void theOffsetNeverPassesWhatIsNotSettledAndNeverGoesBack(
            @ForAll("offsets") long from, @ForAll("steps") List<Step> steps) {
        OffsetLedger ledger = new OffsetLedger(from);
        TreeMap<Long, Boolean> settled = new TreeMap<>();
        long next = from;
        long before = from;
        for (Step step : steps) {
            if (step.fetches() > 0) {
                for (int i = 0; i < step.fetches(); i++) {
                    next += step.gap();
                    ledger.open(next);
                    settled.put(next, false);
                    next++;
                }
                next += step.gap();
                ledger.fetchedTo(next);
            } else {
                settleOne(ledger, settled, step.which());
            }
            List<Long> open = settled.entrySet().stream()
                    .filter(entry -> !entry.getValue())
                    .map(entry -> entry.getKey())
                    .toList();
            assertThat(ledger.settledTo()).isEqualTo(open.isEmpty() ? next : open.get(0));
            assertThat(ledger.settledTo()).isGreaterThanOrEqualTo(before);
            assertThat(ledger.ahead()).isEqualTo(next - ledger.settledTo());
            assertThat(ledger.size()).isEqualTo(open.size());
            before = ledger.settledTo();
        }
    }

    private static void settleOne(OffsetLedger ledger, TreeMap<Long, Boolean> settled, int which) {
        List<Long> open = settled.entrySet().stream()
                .filter(entry -> !entry.getValue())
                .map(entry -> entry.getKey())
                .toList();
        if (!open.isEmpty()) {
            long offset = open.get(which % open.size());
            ledger.settle(offset);
            settled.put(offset, true);
        }
    }

    @Provide
    Arbitrary<Long> offsets() {
        return Arbitraries.longs().between(0, 1L << 50);
    }

    @Provide
    Arbitrary<List<Step>> steps() {
        return Combinators.combine(
                        Arbitraries.integers().between(0, 5),
                        Arbitraries.integers().between(0, 3),
                        Arbitraries.integers().between(0, 100))
                .as((fetches, gap, which) -> new Step(Math.max(0, fetches - 3), gap, which))
                .list()
                .ofMaxSize(200);
    }

    @Example
    void nothingIsKnownBeforeTheFirstRecordComes() {
        OffsetLedger ledger = new OffsetLedger(PartitionStart.NO_OFFSET);

        assertThat(ledger.settledTo()).isEqualTo(PartitionStart.NO_OFFSET);
        ledger.open(7);
        ledger.fetchedTo(8);
        assertThat(ledger.settledTo()).isEqualTo(7);
    }
}
