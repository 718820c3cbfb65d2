package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.LedgerReport.Fault;
import dev.twinbox.fixtures.LedgerReport.Kind;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares the events of series that were committed with those that were applied. What is applied has to be read first.
 * Then the cause of each effect is among the committed events.
 *
 * <p>Each event is applied once, by a version that has a handler for it. The effects of a type and key have the numbers
 * 1, 2, 3 and so on, without a gap. Only events of a {@link Moves move} may be applied in another order.
 */
final class SeriesLedger {

    private final Map<String, Written> committed = new HashMap<>();
    private final Moves moves;
    private final List<String> moved = new ArrayList<>();
    private final List<Fault> faults = new ArrayList<>();

    /**
     * A committed event.
     *
     * @param number counts the events of the type and key from 1
     */
    record Written(String id, String type, String key, long number) {}

    /**
     * An event that was applied.
     *
     * @param place grows with each effect of a key
     * @param version of the application
     * @param record where the event was on Kafka
     */
    record Applied(long place, String eventId, String type, String key, long number, int version, String record) {}

    private SeriesLedger(List<Written> written, Moves moves) {
        this.moves = moves;
        written.forEach(event -> committed.put(event.id(), event));
    }

    /** While events are on their way: what is not applied yet is no fault. */
    static SeriesReport compare(List<Written> written, List<Applied> applied, Moves moves) {
        return new SeriesLedger(written, moves).report(applied);
    }

    /** When no event is on its way any more: what is not applied is lost. */
    static SeriesReport compareAtTheEnd(List<Written> written, List<Applied> applied, Moves moves) {
        SeriesLedger ledger = new SeriesLedger(written, moves);
        Set<String> missing = new HashSet<>(ledger.committed.keySet());
        applied.forEach(effect -> missing.remove(effect.eventId()));
        written.stream()
                .filter(event -> missing.contains(event.id()))
                .forEach(event -> ledger.fault(
                        Kind.EFFECT_MISSING,
                        event.id(),
                        "was not applied: " + describe(event.type(), event.key()) + event.number()));
        return ledger.report(applied);
    }

    private SeriesReport report(List<Applied> applied) {
        Set<String> once = new HashSet<>();
        Map<String, Applied> last = new HashMap<>();
        Map<String, Integer> byVersion = new TreeMap<>();
        applied.stream().sorted(Comparator.comparingLong(Applied::place)).forEach(effect -> {
            check(effect);
            if (!once.add(effect.eventId())) {
                fault(Kind.EFFECT_REPEATED, effect.eventId(), "was applied twice: " + describe(effect));
                return;
            }
            Applied before = last.get(series(effect));
            checkOrder(before, effect);
            if (before == null || effect.number() > before.number()) {
                last.put(series(effect), effect);
            }
            byVersion.merge(effect.type() + " by version " + effect.version(), 1, Integer::sum);
        });
        return new SeriesReport(committed.size(), once.size(), byVersion, moved, faults);
    }

    private void checkOrder(@Nullable Applied before, Applied effect) {
        long expected = before == null ? 1 : before.number() + 1;
        if (effect.number() == expected) {
            return;
        }
        String what = describe(effect) + " at " + effect.record() + " was applied after "
                + (before == null ? "nothing" : "number " + before.number() + " at " + before.record());
        if (moves.has(effect.type(), effect.key(), effect.number())) {
            moved.add(effect.eventId() + " " + what);
        } else {
            fault(Kind.REORDERED, effect.eventId(), what);
        }
    }

    private void check(Applied effect) {
        Written cause = committed.get(effect.eventId());
        if (cause == null) {
            fault(Kind.EFFECT_PHANTOM, effect.eventId(), "was applied and is not committed: " + describe(effect));
        } else if (!cause.equals(new Written(cause.id(), effect.type(), effect.key(), effect.number()))) {
            fault(
                    Kind.CHANGED,
                    effect.eventId(),
                    "was applied as " + describe(effect) + "; committed is " + describe(cause.type(), cause.key())
                            + cause.number());
        }
        if (effect.type().equals(SeriesTraffic.RETURN_REFUNDED) && effect.version() != Versions.SECOND) {
            fault(
                    Kind.EFFECT_PHANTOM,
                    effect.eventId(),
                    "was applied by version " + effect.version() + ", which has no handler for " + effect.type());
        }
    }

    private static String series(Applied effect) {
        return effect.type() + " " + effect.key();
    }

    private static String describe(Applied effect) {
        return describe(effect.type(), effect.key()) + effect.number();
    }

    private static String describe(String type, String key) {
        return type + " of " + key + ", number ";
    }

    private void fault(Kind kind, String id, String what) {
        faults.add(new Fault(kind, id, what));
    }
}
