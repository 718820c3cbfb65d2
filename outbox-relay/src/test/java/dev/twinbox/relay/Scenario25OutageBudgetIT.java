package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** OUTAGE-BUDGET: an outage of Kafka, of any length and kind, counts against no event. */
class Scenario25OutageBudgetIT {
    private static final int EVENTS = 500;
    /** Much longer than the stall timeout and the relay's waits between its tries. */
    private static final Duration OUTAGE = Duration.ofSeconds(8);

    private static final Map<String, String> IMPATIENT = Map.of(
            "twinbox.relay.stall-timeout", "PT2S",
            "twinbox.relay.waiting-limit", "PT1S");

    @AfterEach
    void mend() {
        RelayRig.KAFKA.resume();
        RelayRig.KAFKA.start();
    }

    @Test
    @Tag("proof")
    void aBrokerThatIsDownCostsNoAttemptAndAllIsSentInOrderSoonAfter() throws SQLException {
        outage(RelayRig.KAFKA::kill, RelayRig.KAFKA::start);
    }

    @Test
    void aBrokerThatDoesNotAnswerCostsNoAttemptAndAllIsSentInOrder() throws SQLException {
        outage(RelayRig.KAFKA::pause, RelayRig.KAFKA::resume);
    }

    private static void outage(Runnable begin, Runnable end) throws SQLException {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(IMPATIENT);
            rig.insertAndCommit(20);
            rig.awaitRecords(20);
            long lines = relay.log().lines().count();

            begin.run();
            rig.insertAndCommit(EVENTS);
            Scenario54ShutdownIT.awaitInFlight(relay, 1);
            long from = System.nanoTime();
            await("the outage to pass").until(() -> System.nanoTime() - from > OUTAGE.toNanos());
            assertThat(rig.count("select count(*) from outbox_parked")).isZero();
            end.run();

            rig.assertExact();
            assertThat(rig.count("select coalesce(sum(attempts), 0) from outbox_parked"))
                    .isZero();
            await("nothing parked").until(() -> rig.count("select count(*) from outbox_parked") == 0);
            assertThat(relay.log().lines().count() - lines)
                    .as("log lines of the outage")
                    .isLessThan(60);
            relay.awaitReady();
        }
    }
}
