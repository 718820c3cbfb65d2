package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.Ledger;
import dev.twinbox.fixtures.LedgerReport;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.engine.EngineRig;
import dev.twinbox.relay.engine.Scenario24TooLargeIT;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Exactly-once publication by real processes that are killed and suspended in the middle of it, with parking and retry.
 */
@Tag("proof")
class ExactlyOnceKilledIT {
    private static final Duration SOON = Duration.ofSeconds(90);

    @Test
    void consumersOfCommittedRecordsSeeEachEventOnceAndInOrderOverKills() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            Map<String, String> config = new HashMap<>(Map.of(
                    "twinbox.relay.delivery", "exactly-once",
                    "twinbox.relay.name", rig.database(),
                    "twinbox.relay.lease", "PT4S",
                    "twinbox.relay.page.rows", "50"));
            assertThat(command(rig, config, "migrate")).contains("topic " + rig.database() + "-position: created");
            EngineRig.setTopic(rig.topic(), "max.message.bytes", "5000");
            List<RelayProcess> relays = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                relays.add(rig.relay(config).start());
            }
            String late = rig.topic() + "-late";
            try (BusinessLoad load = BusinessLoad.start(rig, 2)) {
                for (int i = 1; i <= 4; i++) {
                    insertLarge(rig, "key" + i);
                    insert(rig, late, "key" + i);
                    awaitSaves(rig);
                    killOwner(rig, relays);
                }
                sleepThroughTheLease(rig, relays);
                await("behind").atMost(SOON).until(() -> count(rig, "behind") > 30);
                insert(rig, late, "key1");

                EngineRig.setTopic(rig.topic(), "max.message.bytes", "1000000");
                RelayRig.KAFKA.createTopic(late, 1);
                assertThat(command(rig, config, "parked", "retry", "--all")).containsPattern("[1-9]\\d* retried");
                awaitRetryOf(rig);
                killOwner(rig, relays);
                awaitSaves(rig);
                assertThat(load.commits()).isPositive();
            }
            await("all retried").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 0);
            long all = rig.count("select count(*) from " + rig.tables().events());
            await("all published").atMost(SOON).until(() -> published(rig, late).size() >= all);
            assertOnceAndInOrder(rig, published(rig, late));
            assertThat(command(rig, config, "status"))
                    .containsPattern(
                            "delivery +exactly-once, position in topic and group " + rig.database() + "-position")
                    .containsPattern("stuck +no");
            for (RelayProcess relay : relays) {
                assertThat(relay.terminate()).as(relay.log()).isZero();
            }
        }
    }

    /** The ledger accepts repeats with equal ids. Here a repeat is an error. */
    private static void assertOnceAndInOrder(RelayRig rig, List<ConsumerRecord<byte[], byte[]>> records)
            throws SQLException {
        Set<String> ids = new HashSet<>();
        List<String> repeated = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (!ids.add(RelayRig.id(record))) {
                repeated.add(RelayRig.id(record));
            }
        }
        assertThat(repeated).as("events seen more than once").isEmpty();
        try (Connection connection = rig.connect()) {
            LedgerReport report = Ledger.create()
                    .committed(
                            connection,
                            "select topic, key, id, payload from "
                                    + rig.tables().events() + " order by seq")
                    .published(records)
                    .check();
            assertThat(report.isExact()).as(report.toString()).isTrue();
        }
    }

    private static List<ConsumerRecord<byte[], byte[]>> published(RelayRig rig, String late) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>(rig.records());
        records.addAll(RelayRig.KAFKA.readAll(late));
        return records;
    }

    private static void killOwner(RelayRig rig, List<RelayProcess> relays) throws SQLException {
        long epoch = rig.epoch(); // Read before the kill: in between, a slow machine may cost the owner its lease.
        RelayProcess owner = rig.owner(relays);
        owner.kill();
        owner.start();
        await("another owner").atMost(SOON).until(() -> rig.epoch() > epoch);
    }

    private static void sleepThroughTheLease(RelayRig rig, List<RelayProcess> relays) throws SQLException {
        long epoch = rig.epoch();
        RelayProcess owner = rig.owner(relays);
        owner.pause();
        await("another owner").atMost(SOON).until(() -> rig.epoch() > epoch);
        awaitSaves(rig);
        int log = owner.log().length();
        owner.resume();
        // The old owner meets the lease's row, Kafka's fence or a closed connection first. Then it finds another owner.
        await("it noticed")
                .atMost(SOON)
                .until(() -> Pattern.compile("[Ss]tanding by|Kafka failed|Took the lease")
                        .matcher(owner.log().substring(log))
                        .find());
        awaitSaves(rig);
    }

    private static void awaitSaves(RelayRig rig) throws SQLException {
        long goal = rig.saves() + 5;
        await("saves").atMost(SOON).until(() -> rig.saves() >= goal);
    }

    private static void awaitRetryOf(RelayRig rig) {
        await("a retry").atMost(SOON).until(() -> count(rig, "sending") > 0 || count(rig, "refused") == 0);
    }

    private static long count(RelayRig rig, String state) throws SQLException {
        return rig.count("select count(*) from outbox_parked where state = '" + state + "'");
    }

    /** Inserts as the load does, under the lock of the key's row, so that there is an order to keep. */
    private static void insertLarge(RelayRig rig, String key) throws SQLException {
        insert(rig, rig.topic(), key, Scenario24TooLargeIT.incompressible(20_000));
    }

    private static void insert(RelayRig rig, String topic, String key) throws SQLException {
        insert(rig, topic, key, "late");
    }

    private static void insert(RelayRig rig, String topic, String key, String payload) throws SQLException {
        try (Connection connection = rig.connect()) {
            connection.setAutoCommit(false);
            OutboxDatabaseFixture.execute(
                    connection, "update account set version = version + 1 where key = '" + key + "'");
            OutboxDatabaseFixture.insert(connection, topic, key, payload.getBytes(StandardCharsets.UTF_8));
            connection.commit();
        }
    }

    private static String command(RelayRig rig, Map<String, String> config, String... arguments) {
        RelayProcess command = rig.relay(config, arguments).start();
        assertThat(command.awaitExit(SOON)).as(command.log()).isZero();
        return command.log();
    }
}
