package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.config.DeliveryMode;
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
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A topic is paused and resumed under load, while the relays are killed at any point of both. */
@Tag("proof")
class PausedTopicKilledIT {
    private static final Duration SOON = Duration.ofSeconds(90);

    @ParameterizedTest
    @EnumSource(DeliveryMode.class)
    void aPausedTopicIsSentInOrderAfterKillsAndFailOvers(DeliveryMode mode) throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            Map<String, String> config = new HashMap<>(Map.of(
                    "twinbox.relay.name",
                    rig.database(),
                    "twinbox.relay.lease",
                    "PT2S",
                    "twinbox.relay.delivery",
                    mode.text(),
                    "twinbox.relay.page.rows",
                    "50"));
            rig.command(config, "migrate");
            String other = rig.topic() + "-other";
            RelayRig.KAFKA.createTopic(other, 1);
            List<RelayProcess> relays =
                    List.of(rig.relay(config).start(), rig.relay(config).start());
            try (BusinessLoad load = BusinessLoad.start(rig, 2)) {
                rig.awaitRecords(100);
                for (int round = 1; round <= 3; round++) {
                    assertThat(rig.command(config, "pause", "--topic", rig.topic()))
                            .contains("topic \"" + rig.topic() + "\" of relay \"" + rig.database()
                                    + "\" is paused since");
                    awaitMoreParked(rig, 60);
                    killOwner(rig, relays);
                    awaitMoreParked(rig, 60);
                    long sent = rig.recordCount();
                    insert(rig, other, "round " + round);
                    int expected = round;
                    await("the other topic")
                            .atMost(SOON)
                            .until(() -> distinct(other).size() == expected);
                    awaitMoreParked(rig, 20);
                    assertThat(rig.recordCount())
                            .as("nothing is sent meanwhile")
                            .isEqualTo(sent);

                    assertThat(rig.command(config, "resume", "--topic", rig.topic()))
                            .contains("is resumed");
                    await("some are sent").atMost(SOON).until(() -> rig.recordCount() > sent);
                    killOwner(rig, relays);
                }
                assertThat(load.commits()).isPositive();
            }
            // All keys are blocked. On a busy machine, more events may come than the retry thread sends in small pages.
            await("all are sent").atMost(SOON).until(() -> rig.count("select count(*) from outbox_parked") == 0);
            rig.assertExact();
            if (mode == DeliveryMode.EXACTLY_ONCE) {
                assertThat(RelayRig.KAFKA.readAll(rig.topic()).stream().map(RelayRig::id))
                        .doesNotHaveDuplicates();
            }
            for (RelayProcess relay : relays) {
                assertThat(relay.terminate()).as(relay.log()).isZero();
            }
        }
    }

    private static void awaitMoreParked(RelayRig rig, long more) throws SQLException {
        long before = rig.count("select coalesce(max(number), 0) from outbox_parked");
        await("parked")
                .atMost(SOON)
                .until(() -> rig.count("select coalesce(max(number), 0) from outbox_parked") >= before + more);
    }

    private static void killOwner(RelayRig rig, List<RelayProcess> relays) throws SQLException {
        long epoch = rig.epoch(); // Read before the kill: in between, a slow machine may cost the owner its lease.
        RelayProcess owner = rig.owner(relays);
        owner.kill();
        owner.start();
        await("another owner").atMost(SOON).until(() -> rig.epoch() > epoch);
    }

    private static Set<String> distinct(String topic) {
        List<String> payloads = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : RelayRig.KAFKA.readAll(topic)) {
            payloads.add(new String(record.value(), StandardCharsets.UTF_8));
        }
        return new HashSet<>(payloads);
    }

    private static void insert(RelayRig rig, String topic, String payload) throws SQLException {
        try (Connection connection = rig.connect()) {
            OutboxDatabaseFixture.insert(connection, topic, "key", payload.getBytes(StandardCharsets.UTF_8));
        }
    }
}
