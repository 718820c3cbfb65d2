package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.ParkedSelections;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.http.Health;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Events of a paused topic wait in order, within limits, and all others are sent. */
@Timeout(180)
class PausedTopicIT {

    @ParameterizedTest
    @EnumSource(DeliveryMode.class)
    void eventsOfAPausedTopicFollowInOrderWhenItIsResumed(DeliveryMode mode) throws Exception {
        try (EngineRig rig = rig(mode);
                Connection connection = rig.connect()) {
            String other = rig.topic + "-other";
            EngineRig.KAFKA.createTopic(other, 2, Map.of());
            pause(connection, rig.topic);
            EngineRig.Running relay = rig.start();
            await("it is read").until(() -> isPaused(relay, rig.topic));
            for (int i = 0; i < 30; i++) {
                rig.insert(connection, "k" + i % 3, "waits " + "%02d".formatted(i));
                insert(connection, other, "k" + i % 3, "goes on " + i);
            }
            rig.insert(connection, null, "keyless");

            await("the other topic").until(() -> payloads(other).size() == 30);
            rig.awaitParked(ParkedState.WAITING, 4);
            rig.awaitParked(ParkedState.BEHIND, 27);
            assertThat(rig.recordCount()).isZero();
            assertThat(rig.parked(connection).list(ParkedSelections.topic(rig.topic), 4))
                    .extracting(ParkedRows.Line::error)
                    .containsOnly(
                            "topic \"" + rig.topic + "\" is paused by an operator: \"twinbox-relay resume --topic "
                                    + rig.topic + "\" sends its events in order");
            assertThat(new Health(relay.progress(), Duration.ofSeconds(10))
                            .ready()
                            .json()
                            .toString())
                    .contains("\"status\":\"UP\"", "\"pausedTopics\":\"" + rig.topic + '"');

            resume(connection, rig.topic);
            rig.insert(connection, "k0", "waits late");
            rig.awaitNothingParked();
            await().until(() -> rig.payloads().size() >= 32);
            for (int key = 0; key < 3; key++) {
                assertThat(rig.payloadsOf("k" + key)).isSorted().doesNotHaveDuplicates();
            }
            assertThat(rig.payloadsOf("k0")).hasSize(11).endsWith("waits late");
            assertThat(rig.payloads()).contains("keyless");
            assertThat(payloads(other)).as("sent once each").hasSize(30);
        }
    }

    @Test
    void aPauseIsObeyedWhileEventsComeAndSurvivesTheNextRelay() throws Exception {
        try (EngineRig rig = rig(DeliveryMode.AT_LEAST_ONCE);
                Connection connection = rig.connect()) {
            EngineRig.Running first = rig.start();
            rig.insert(connection, "k", "before");
            rig.awaitRecords(1);

            Instant paused = pause(connection, rig.topic);
            for (int i = 0; rig.number("select count(*) from outbox_parked") == 0; i++) {
                rig.insert(connection, "k", "%04d".formatted(i));
            }
            assertThat(rig.number("select count(*) from outbox_parked where since > '" + paused
                            + "'::timestamptz + interval '10 seconds'"))
                    .as("obeyed much later than after a second, which a busy machine may take")
                    .isZero();
            assertThat(first.stop()).isEqualTo(ExitCode.OK);
            long sent = rig.recordCount();
            rig.insert(connection, "fresh", "is not sent before the topics are read");
            try (Connection locking = rig.connect()) {
                locking.setAutoCommit(false);
                OutboxDatabaseFixture.execute(locking, "lock table outbox_paused in access exclusive mode");
                rig.start();
                await("it wants to read them")
                        .until(() -> rig.number("select count(*) from pg_locks where not granted") > 0);
                await("nothing is sent").during(Duration.ofSeconds(1)).until(() -> rig.recordCount() == sent);
            }
            rig.insert(connection, "k", "9999");
            await("both").until(() -> rig.number("select count(*) from outbox_parked") >= 3);
            assertThat(rig.recordCount()).isEqualTo(sent);

            resume(connection, rig.topic);
            rig.assertExact();
            assertThat(rig.payloadsOf("k").stream().skip(1)).isSorted().endsWith("9999");
        }
    }

    @ParameterizedTest
    @EnumSource(DeliveryMode.class)
    void beyondTheLimitThePositionHoldsAndTheRelayIsNotReady(DeliveryMode mode) throws Exception {
        try (EngineRig rig = rig(mode);
                Connection connection = rig.connect()) {
            rig.pausedRows = 25;
            rig.page = new RelayConfig.Page(10, 100_000, 4);
            String other = rig.topic + "-other";
            EngineRig.KAFKA.createTopic(other, 1, Map.of());
            EngineRig.Running relay = rig.start();
            pause(connection, rig.topic);
            await("it is read").until(() -> isPaused(relay, rig.topic));
            for (int i = 0; i < 60; i++) {
                rig.insert(connection, "k" + i % 3, "%03d".formatted(i));
            }
            insert(connection, other, "k", "after them");

            await("held").until(() -> relay.progress().observed().held() != null);
            Health health = new Health(relay.progress(), Duration.ofSeconds(10));
            assertThat(health.ready().status()).isEqualTo(Health.Status.DOWN);
            assertThat(health.ready().json().toString())
                    .contains("set aside for paused topics (" + rig.topic + ")", "twinbox.relay.paused.rows (25)");
            assertThat(health.live().status()).isEqualTo(Health.Status.UP);
            assertThat(rig.number("select count(*) from outbox_parked")).isBetween(1L, 25L);
            assertThat(payloads(other)).isEmpty();

            // What an operator discards makes room.
            long discarded = rig.parked(connection).discard(ParkedSelection.ALL);
            await("room").until(() -> rig.number("select count(*) from outbox_parked where seq > 25") > 0);
            assertThat(relay.stop()).as("it stops although it holds").isEqualTo(ExitCode.OK);

            EngineRig.Running next = rig.start();
            await("held again").until(() -> next.progress().observed().held() != null);
            resume(connection, rig.topic);
            await("the other topic").until(() -> payloads(other).contains("after them"));
            rig.awaitNothingParked();
            assertThat(next.progress().observed().held()).isNull();
            assertThat(rig.payloads().stream().distinct()).hasSize((int) (60 - discarded));
            for (int key = 0; key < 3; key++) {
                assertThat(rig.payloadsOf("k" + key)).isSorted();
            }
        }
    }

    @Test
    void theLimitHoldsInBytesToo() throws Exception {
        try (EngineRig rig = rig(DeliveryMode.AT_LEAST_ONCE);
                Connection connection = rig.connect()) {
            rig.pausedBytes = 20_000;
            rig.page = new RelayConfig.Page(2, 100_000, 4);
            pause(connection, rig.topic);
            EngineRig.Running relay = rig.start();
            for (int i = 0; i < 12; i++) {
                rig.insert(connection, "k" + i, "%04d".formatted(i).repeat(1_000));
            }

            await("held").until(() -> relay.progress().observed().held() != null);
            assertThat(relay.progress().observed().held()).contains("twinbox.relay.paused.bytes (20000)");
            assertThat(rig.number("select sum(octet_length(payload)) from outbox_parked"))
                    .isBetween(8_000L, 20_000L);
            resume(connection, rig.topic);
            rig.assertExact();
        }
    }

    /** The relay parks them without reading them. */
    @Test
    void fault123EventsAboveTheProducersLimitCountByTheirBytes() throws Exception {
        try (EngineRig rig = rig(DeliveryMode.AT_LEAST_ONCE);
                Connection connection = rig.connect()) {
            rig.pausedBytes = 3_000_000;
            rig.page = new RelayConfig.Page(2, 100_000, 4);
            pause(connection, rig.topic);
            EngineRig.Running relay = rig.start();
            for (int i = 0; i < 8; i++) {
                rig.insert(connection, "k" + i, "%04d".formatted(i).repeat(300_000));
            }

            await("held").until(() -> relay.progress().observed().held() != null);
            assertThat(relay.progress().observed().held()).contains("twinbox.relay.paused.bytes (3000000)");
            assertThat(rig.number("select count(*) from outbox_parked")).isBetween(1L, 2L);
        }
    }

    /** As with a table of parked events that is so large that its rows are not counted in time. */
    @Test
    void fault122APauseDoesNotWaitUntilParkedEventsAreCounted() throws Exception {
        try (EngineRig rig = rig(DeliveryMode.AT_LEAST_ONCE);
                Connection connection = rig.connect()) {
            rig.start();
            rig.insert(connection, "k", "before");
            rig.awaitRecords(1);
            try (Connection locking = rig.connect()) {
                locking.setAutoCommit(false);
                OutboxDatabaseFixture.execute(locking, "lock table outbox_parked in access exclusive mode");
                pause(connection, rig.topic);
                await("it counts")
                        .until(() -> rig.number("select count(*) from pg_stat_activity "
                                        + "where query like '%how much is set aside%' and wait_event_type = 'Lock'")
                                > 0);
                rig.insert(connection, "k", "during");
                await("nothing is sent").during(Duration.ofSeconds(2)).until(() -> rig.recordCount() == 1);
            }
            rig.awaitParked(ParkedState.WAITING, 1);
            resume(connection, rig.topic);
            rig.assertExact();
        }
    }

    @Test
    void aKeyThatIsParkedForAnotherReasonWaitsForBoth() throws Exception {
        try (EngineRig rig = rig(DeliveryMode.AT_LEAST_ONCE);
                Connection connection = rig.connect()) {
            EngineRig.setTopic(rig.topic, "max.message.bytes", "5000");
            EngineRig.Running relay = rig.start();
            rig.insert(connection, "k", Scenario24TooLargeIT.incompressible(20_000));
            rig.insert(connection, "k", "second");
            rig.awaitParked(ParkedState.REFUSED, 1);
            rig.awaitParked(ParkedState.BEHIND, 1);
            pause(connection, rig.topic);
            await("it is read").until(() -> isPaused(relay, rig.topic));
            rig.insert(connection, "k", "third");
            rig.awaitParked(ParkedState.BEHIND, 2);

            EngineRig.setTopic(rig.topic, "max.message.bytes", "1000000");
            assertThat(rig.parked(connection).retry(ParkedSelection.ALL)).isEqualTo(1);
            rig.awaitParked(ParkedState.WAITING, 1);
            assertThat(rig.recordCount()).isZero();
            resume(connection, rig.topic);
            rig.awaitNothingParked();
            assertThat(rig.payloadsOf("k")).hasSize(3).endsWith("second", "third");
        }
    }

    @Test
    void theLimitOfWaitingStandsStillWhileTheTopicIsPaused() throws Exception {
        try (EngineRig rig = EngineRig.create();
                Connection connection = rig.connect()) {
            rig.waitingLimit = Duration.ofSeconds(3);
            EngineRig.Running relay = rig.start();
            rig.insert(connection, "a", "waits for the topic");
            rig.awaitParked(ParkedState.WAITING, 1);
            pause(connection, rig.topic);
            await("it is read").until(() -> isPaused(relay, rig.topic));
            rig.insert(connection, "b", "waits for the end of the pause");
            await("the limit is over")
                    .until(() -> rig.number("select count(*) from outbox_parked"
                                    + " where state = 'waiting' and since < clock_timestamp() - interval '5 seconds'")
                            == 2);
            String resumed = OutboxDatabaseFixture.query(connection, "select clock_timestamp()");
            resume(connection, rig.topic);
            rig.awaitParked(ParkedState.REFUSED, 2);
            assertThat(rig.number("select count(*) from outbox_parked where key = 'a' and error like '%waited for PT3S'"
                            + " and since > '" + resumed + "'::timestamptz - interval '3 seconds'"))
                    .as("the pause is not part of its time")
                    .isOne();
            assertThat(rig.number("select count(*) from outbox_parked where key = 'b' and error like '%does not exist%'"
                            + " and since > '" + resumed + "'::timestamptz"))
                    .as("its time began after the pause")
                    .isOne();
            rig.withTopic();
            rig.parked(connection).retry(ParkedSelection.ALL);
            rig.awaitRecords(2);
        }
    }

    @Test
    void eachRelayHasPausedTopicsOfItsOwn() throws Exception {
        try (EngineRig rig = rig(DeliveryMode.AT_LEAST_ONCE);
                Connection connection = rig.connect()) {
            PausedTopicTable others = new PausedTopicTable(connection, OutboxDatabaseFixture.SCHEMA, "another");
            assertThat(others.pause(rig.topic)).isTrue();
            assertThat(others.pause(rig.topic)).as("a second time").isFalse();
            rig.start();
            rig.insert(connection, "k", "1");
            rig.awaitRecords(1);

            assertThat(table(connection).topics()).isEmpty();
            assertThat(table(connection).resume(rig.topic)).isFalse();
            assertThat(others.topics()).containsOnlyKeys(rig.topic);
        }
    }

    private static EngineRig rig(DeliveryMode mode) throws SQLException {
        EngineRig rig = EngineRig.create().withTopic();
        rig.delivery = mode;
        if (mode == DeliveryMode.EXACTLY_ONCE) {
            rig.createPositionTopic();
        }
        return rig;
    }

    private static boolean isPaused(EngineRig.Running relay, String topic) {
        Map<String, Instant> topics = relay.progress().observed().pausedTopics();
        return topics != null && topics.containsKey(topic);
    }

    private static PausedTopicTable table(Connection connection) {
        return new PausedTopicTable(connection, OutboxDatabaseFixture.SCHEMA, "relay");
    }

    /** Returns since when it is paused. */
    private static Instant pause(Connection connection, String topic) throws SQLException {
        assertThat(table(connection).pause(topic)).isTrue();
        return table(connection).topics().get(topic);
    }

    private static void resume(Connection connection, String topic) throws SQLException {
        assertThat(table(connection).resume(topic)).isTrue();
    }

    private static void insert(Connection connection, String topic, String key, String payload) throws SQLException {
        OutboxDatabaseFixture.insert(connection, topic, key, payload.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> payloads(String topic) {
        List<String> payloads = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : EngineRig.KAFKA.readAll(topic)) {
            payloads.add(new String(record.value(), StandardCharsets.UTF_8));
        }
        return payloads;
    }
}
