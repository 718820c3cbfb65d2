package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.engine.EngineRig;
import dev.twinbox.relay.engine.Scenario24TooLargeIT;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Parking and retry by real processes under load, with kills at any point of both. */
@Tag("proof")
class RetryKilledIT {
    private static final Duration SOON = Duration.ofSeconds(90);
    private static final Map<String, String> CONFIG = Map.of(
            "twinbox.relay.lease", "PT2S",
            "twinbox.relay.page.rows", "20");

    @Test
    void parkedKeysThatStillGetEventsAreRetriedInOrderOverKills() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            EngineRig.setTopic(rig.topic(), "max.message.bytes", "5000");
            RelayProcess relay = rig.relay(CONFIG).start();
            try (BusinessLoad load = BusinessLoad.start(rig, 2)) {
                for (int key = 1; key <= 3; key++) {
                    insertLarge(rig, "key" + key);
                }
                await("refused").atMost(SOON).until(() -> count(rig, "refused") == 3);
                relay.kill();
                relay.start();
                await("behind").atMost(SOON).until(() -> count(rig, "behind") > 60);

                String list = command(rig, "parked", "list");
                assertThat(list).contains("\trefused\t" + rig.topic() + "\tkey1\t", "RecordTooLargeException");
                long number = rig.count("select min(number) from outbox_parked where key = 'key2'");
                assertThat(command(rig, "parked", "show", Long.toString(number)))
                        .contains("payload bytes   20000", "state           refused")
                        .doesNotContain("xxxx");

                EngineRig.setTopic(rig.topic(), "max.message.bytes", "1000000");
                assertThat(command(rig, "parked", "retry", "--topic", rig.topic(), "--key", "key2"))
                        .contains("1 retried");
                assertThat(command(rig, "parked", "retry", "--all")).contains("2 retried");
                relay.kill();
                relay.start();
                await("some retried").atMost(SOON).until(() -> count(rig, "refused") == 0);
                relay.kill();
                relay.start();
                await("all retried while events of these keys are written")
                        .atMost(SOON)
                        .until(() -> rig.count("select count(*) from outbox_parked") == 0);
                assertThat(load.commits()).isPositive();
            }
            rig.assertExact();
            assertThat(command(rig, "parked", "retry", "--all")).contains("0 retried");
            assertThat(command(rig, "parked", "list")).contains("0 parked events");
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    private static long count(RelayRig rig, String state) throws SQLException {
        return rig.count("select count(*) from outbox_parked where state = '" + state + "'");
    }

    /** Inserts as the load does, under the lock of the key's row, so that there is an order to keep. */
    private static void insertLarge(RelayRig rig, String key) throws SQLException {
        try (Connection connection = rig.connect()) {
            connection.setAutoCommit(false);
            OutboxDatabaseFixture.execute(
                    connection, "update account set version = version + 1 where key = '" + key + "'");
            byte[] payload = Scenario24TooLargeIT.incompressible(20_000).getBytes(StandardCharsets.UTF_8);
            OutboxDatabaseFixture.insert(connection, rig.topic(), key, payload);
            connection.commit();
        }
    }

    private static String command(RelayRig rig, String... arguments) {
        RelayProcess command = rig.relay(Map.of(), arguments).start();
        assertThat(command.awaitExit(SOON)).as(command.log()).isZero();
        return command.log();
    }
}
