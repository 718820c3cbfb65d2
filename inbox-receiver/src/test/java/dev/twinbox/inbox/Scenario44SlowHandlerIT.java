package dev.twinbox.inbox;

import static dev.twinbox.inbox.ParallelApp.LIMIT;
import static dev.twinbox.inbox.ParallelApp.awaitLagZero;
import static dev.twinbox.inbox.ParallelApp.database;
import static dev.twinbox.inbox.ParallelApp.topics;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.engine.KeyLane;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Scenario 44, SLOW-HANDLER: a handler runs longer than {@code max.poll.interval.ms}. The member stays in its group,
 * other keys go on, and no offset beyond the event is committed. {@link RebalanceStormIT} does it with members that
 * come and go.
 */
@Tag("proof")
class Scenario44SlowHandlerIT {

    private static final String APP = ParallelApp.GROUP;

    @BeforeAll
    static void deploy() {
        MainApp.deploy(ParallelApp.instance(APP));
        await().atMost(LIMIT).until(() -> !topics().owners(APP, APP).isEmpty());
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
    }

    @Test
    void aKeyWhoseHandlerIsSlowHoldsUpNoOtherLaneAndCostsNoMembership() {
        List<String> others = IntStream.range(0, 100)
                .mapToObj(i -> "key-" + i)
                .filter(key -> lane(key) != lane("slow"))
                .toList();
        Set<String> owner = topics().owners(APP, APP);
        try (Database.Gate gate = database().shutGate(771)) {
            topics().add(APP, "slow", "slow-0", "gate:771", 1);
            topics().add(APP, "slow", "slow-1", "", 0);
            others.forEach(key -> topics().add(APP, key, key, "", 0));
            topics().flush();
            await().atMost(LIMIT)
                    .untilAsserted(
                            () -> assertThat(database().effects("parallel")).containsAll(others));
            long since = System.nanoTime();
            await("longer than a member may go without a poll")
                    .atMost(LIMIT)
                    .until(() -> System.nanoTime() - since
                            > ParallelApp.MAX_POLL_INTERVAL.plusSeconds(1).toNanos());

            assertThat(topics().owners(APP, APP)).isEqualTo(owner);
            assertThat(database().waiting(771)).isEqualTo(1);
            assertThat(topics().lag(APP, APP))
                    .as("nothing behind the slow event is committed")
                    .isEqualTo(2 + others.size());
        }
        awaitLagZero(APP);

        assertThat(database().effects("parallel"))
                .containsSubsequence("slow-0", "slow-1")
                .doesNotHaveDuplicates();
    }

    private static int lane(String key) {
        return KeyLane.of(APP, key, ParallelApp.LANES);
    }
}
