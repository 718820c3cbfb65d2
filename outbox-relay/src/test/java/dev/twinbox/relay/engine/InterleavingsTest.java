package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.engine.ModelRules.End;
import dev.twinbox.relay.engine.ModelRules.Faults;
import dev.twinbox.relay.engine.ModelRules.Script;
import dev.twinbox.relay.engine.ModelRules.Step;
import dev.twinbox.relay.engine.ModelRules.Wrong;
import dev.twinbox.relay.engine.ModelRules.Xid;
import dev.twinbox.relay.engine.ModelWorld.Phase;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.HashSet;
import java.util.LinkedList;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Searches all interleavings of three transactions and two relays. The guarantees hold in every reachable state. In
 * every final state all committed events are in Kafka. The relays use the real {@link Window}, {@code Position} and
 * {@code Snapshot}; the rest is {@link ModelRules a model}. A page that comes by COPY is no step of another kind: one
 * statement reads it, in one snapshot, and nothing else happens until its end.
 */
class InterleavingsTest {
    private static final String NAME =
            "{0}, pages of {1}, refused: {2}, kills: {3}, stops: {4}, crashes of the" + " database: {5}, fences: {6}";

    /** What the applications do. */
    private enum Scripts {
        /** One row lock for all. The first has its xid before it waits for the lock, the last is prepared. */
        ONE_KEY(
                new Script(0, Xid.EARLY, End.COMMIT_OR_ABORT),
                new Script(0, Xid.WITH_THE_LOCK, End.COMMIT),
                new Script(0, Xid.EARLY, End.PREPARED)),
        /** The prepared one is alone, so the others overtake it. */
        TWO_KEYS(
                new Script(0, Xid.EARLY, End.COMMIT_OR_ABORT),
                new Script(0, Xid.WITH_THE_LOCK, End.COMMIT),
                new Script(1, Xid.EARLY, End.PREPARED));

        final List<Script> scripts;

        Scripts(Script... scripts) {
            this.scripts = List.of(scripts);
        }
    }

    /** How a search ended. */
    private record Result(
            int states, @Nullable Node refutation, @Nullable String violation) {
        String trace() {
            LinkedList<String> steps = new LinkedList<>();
            for (Node node = refutation; node != null && node.parent != null; node = node.parent) {
                steps.addFirst(node.step.get());
            }
            StringBuilder trace = new StringBuilder();
            int number = 1;
            for (String step : steps) {
                trace.append(String.format("%3d. %s%n", number++, step));
            }
            return trace + "=> " + violation;
        }
    }

    private static final class Node {
        final @Nullable Node parent;
        final Supplier<String> step;

        @Nullable ModelWorld world;

        Node(@Nullable Node parent, Supplier<String> step, ModelWorld world) {
            this.parent = parent;
            this.step = step;
            this.world = world;
        }
    }

    private enum Order {
        /** Needs little memory. */
        DEPTH_FIRST,
        /** Finds the shortest counterexample. */
        BREADTH_FIRST
    }

    private static Result search(ModelRules rules, Order order) {
        Set<String> seen = new HashSet<>();
        Deque<Node> open = new ArrayDeque<>();
        ModelWorld start = rules.start();
        seen.add(start.key());
        open.add(new Node(null, () -> "", start));
        while (!open.isEmpty()) {
            Node node = order == Order.DEPTH_FIRST ? open.pollLast() : open.pollFirst();
            ModelWorld world = node.world;
            node.world = null; // A trace needs only the names of the steps.
            List<Step> steps = rules.steps(world);
            if (steps.isEmpty()) {
                String left = unsent(world);
                if (left != null) {
                    return new Result(seen.size(), node, left);
                }
            }
            for (Step step : steps) {
                Node next = new Node(node, step.name(), step.world());
                boolean isNew = seen.add(step.world().key());
                String violation = rules.violation(world, step.world());
                if (violation == null && isNew) {
                    violation = step.world().violation(rules);
                    open.addLast(next);
                }
                if (violation != null) {
                    return new Result(seen.size(), next, violation);
                }
            }
        }
        return new Result(seen.size(), null, null);
    }

    /** What is unsent in a state that no step can leave. */
    private static @Nullable String unsent(ModelWorld world) {
        for (int i = 0; i < world.transactions.length; i++) {
            if (world.transactions[i].phase == Phase.COMMITTED && !world.firstAppearances.contains(i)) {
                return "no event is skipped: nothing can happen any more, and event " + i + " is not on Kafka";
            }
        }
        return world.parked.isEmpty() ? null : "nothing can happen any more, and " + world.parked + " are still parked";
    }

    /** The numbers of states belong to the current model: another number means that the model has changed. */
    @ParameterizedTest(name = NAME)
    @CsvSource({
        "ONE_KEY, 2, -1, 0, 0, 0, 0, 10487",
        "TWO_KEYS, 2, -1, 0, 0, 0, 0, 17630",
        "ONE_KEY, 2, 1, 0, 0, 0, 0, 17397",
        "ONE_KEY, 1, -1, 1, 0, 0, 0, 204342",
        "ONE_KEY, 2, -1, 1, 0, 0, 0, 120531",
        "ONE_KEY, 2, -1, 0, 1, 0, 0, 701026",
        "ONE_KEY, 2, -1, 0, 0, 1, 0, 581681",
        "ONE_KEY, 2, -1, 0, 0, 0, 1, 140311",
    })
    void theGuaranteesHoldInEveryStateThatCanBeReached(
            Scripts scripts,
            int pageSize,
            int refused,
            int kills,
            int stops,
            int databaseCrashes,
            int fences,
            int states) {
        Faults faults = new Faults(kills, stops, databaseCrashes, fences);
        Result result = search(new ModelRules(scripts.scripts, pageSize, refused, null, faults), Order.DEPTH_FIRST);
        System.out.printf("%,d states of %s in pages of %d with %s%n", result.states(), scripts, pageSize, faults);
        assertThat(result.violation()).as(result.trace()).isNull();
        assertThat(result.states()).isEqualTo(states);
    }

    /** The searches that take minutes. */
    @ParameterizedTest(name = NAME)
    @CsvSource({
        "ONE_KEY, 1, -1, 0, 1, 0, 0, 1260479",
        "TWO_KEYS, 2, -1, 0, 0, 0, 2, 1381282",
        "ONE_KEY, 1, -1, 0, 0, 0, 2, 1312179",
    })
    @EnabledIfSystemProperty(named = "twinbox.it.interleavings", matches = "all")
    void theyHoldInLargerSearches(
            Scripts scripts,
            int pageSize,
            int refused,
            int kills,
            int stops,
            int databaseCrashes,
            int fences,
            int states) {
        theGuaranteesHoldInEveryStateThatCanBeReached(
                scripts, pageSize, refused, kills, stops, databaseCrashes, fences, states);
    }

    @ParameterizedTest
    @EnumSource
    void aRelayThatIsBuiltWrongIsRefuted(Wrong wrong) {
        Faults faults = switch (wrong) {
            case ORDER_BY_XID -> new Faults(0, 0, 0);
            case SAVE_BEFORE_ACK -> new Faults(1, 0, 0);
            case NO_EPOCH -> new Faults(0, 1, 0);
            case WINDOW_KEPT_OVER_A_DATABASE_CRASH -> new Faults(0, 0, 1);
            case SEQUENCE_READ_AFTER_THE_XID -> new Faults(0, 0, 0, 1);
            case FLOOR_WITHOUT_A_FENCE -> new Faults(0, 0, 0);
        };
        ModelRules rules = new ModelRules(Scripts.ONE_KEY.scripts, 2, -1, wrong, faults);
        Result result = search(rules, Order.BREADTH_FIRST);
        System.out.printf("%s is refuted after %,d states:%n%s%n", wrong, result.states(), result.trace());
        assertThat(result.violation())
                .startsWith(
                        switch (wrong) {
                            case ORDER_BY_XID -> "G2";
                            case SAVE_BEFORE_ACK,
                                    WINDOW_KEPT_OVER_A_DATABASE_CRASH,
                                    SEQUENCE_READ_AFTER_THE_XID,
                                    FLOOR_WITHOUT_A_FENCE -> "no event is skipped";
                            case NO_EPOCH -> "G6";
                        });
    }
}
