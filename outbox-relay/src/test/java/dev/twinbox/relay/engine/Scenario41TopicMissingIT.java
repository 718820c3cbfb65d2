package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.ParkedSelections;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.utils.Utils;
import org.junit.jupiter.api.Test;

/** TOPIC-MISSING: only the events of a missing topic wait for it, and the relay never creates it. */
class Scenario41TopicMissingIT {

    @Test
    void onlyEventsOfAMissingOrIllegalTopicWaitAndStayInOrder() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            String missing = rig.topic + "-missing";
            rig.execute("alter table outbox_event drop constraint topic_legal");
            connection.setAutoCommit(false);
            for (int i = 0; i < 100; i++) {
                rig.insert(connection, "k" + i % 7, "good " + i);
                if (i % 20 == 0) {
                    insert(connection, missing, "a", "a" + i);
                    insert(connection, missing, null, "keyless " + i);
                }
            }
            insert(connection, "a/b c", "k", "illegal");
            insert(connection, "", "k", "empty");
            insert(connection, "t".repeat(300), "k", "long");
            connection.commit();
            connection.setAutoCommit(true);
            EngineRig.Running relay = rig.start();

            rig.awaitRecords(100);
            rig.awaitParked(ParkedState.WAITING, 6);
            rig.awaitParked(ParkedState.BEHIND, 4);
            rig.awaitParked(ParkedState.REFUSED, 3);
            List<ParkedRows.Line> parked = rig.parked(connection).list(ParkedSelections.topic(missing), 11);
            assertThat(parked).hasSize(10);
            assertThat(parked.subList(6, 10)).extracting(ParkedRows.Line::state).containsOnly(ParkedState.BEHIND);
            assertThat(parked.subList(0, 6)).allSatisfy(line -> {
                assertThat(line.state()).isEqualTo(ParkedState.WAITING);
                assertThat(line.error()).contains("topic \"" + missing + "\" does not exist: create it");
                assertThat(line.attempts()).isZero();
            });
            await().until(() -> relay.progress().backlog() == 0);
            assertThat(topics()).doesNotContain(missing);

            insert(connection, missing, "a", "a last");
            EngineRig.KAFKA.createTopic(missing, 2, Map.of());
            await("those that waited").until(() -> payloads(missing).size() >= 11);
            assertThat(ofKeyA(missing)).containsExactly("a0", "a20", "a40", "a60", "a80", "a last");
            assertThat(payloads(missing))
                    .containsAll(IntStream.range(0, 5)
                            .mapToObj(i -> "keyless " + i * 20)
                            .toList());
            insert(connection, missing, "a", "a direct");
            await().until(() -> ofKeyA(missing).contains("a direct"));
            assertThat(rig.number("select count(*) from outbox_parked")).isEqualTo(3);
            assertThat(rig.recordCount()).as("sent once each").isEqualTo(100);
        }
    }

    @Test
    void anOperatorSendsInOrderWhatHasWaitedForLongerThanTheLimit() throws Exception {
        try (EngineRig rig = EngineRig.create();
                Connection connection = rig.connect()) {
            rig.waitingLimit = Duration.ofSeconds(1);
            rig.start();
            rig.insert(connection, "k", "1");
            rig.insert(connection, "k", "2");
            rig.awaitParked(ParkedState.REFUSED, 1);
            assertThat(rig.parked(connection)
                            .list(ParkedSelection.ALL, 10)
                            .get(0)
                            .error())
                    .contains("does not exist", "waited for PT1S");
            rig.withTopic();
            rig.insert(connection, "k", "3");
            rig.awaitParked(ParkedState.BEHIND, 2);
            assertThat(rig.recordCount()).isZero();

            rig.parked(connection).retry(ParkedSelection.ALL);
            rig.awaitNothingParked();
            assertThat(rig.payloadsOf("k")).containsExactly("1", "2", "3");
        }
    }

    @Test
    void aPartitionThatTakesNothingHoldsUpTheOthersForTheStallTimeoutAtMost() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect();
                BrokenProducer broken =
                        new BrokenProducer(BrokenProducer.Fault.NO_ANSWER, record -> isOf(0, rig.topic, record))) {
            rig.between = broken;
            rig.stallTimeout = Duration.ofSeconds(4);
            rig.page = new RelayConfig.Page(10, 3_000, 2); // Less room in flight than the stalled records need.
            EngineRig.Running relay = rig.start();
            connection.setAutoCommit(false);
            List<String> still = keysOf(0, 3);
            for (int i = 0; i < 60; i++) {
                rig.insert(connection, still.get(i % 3), still.get(i % 3) + " %03d".formatted(i));
            }
            for (String key : keysOf(1, 10)) {
                rig.insert(connection, key, key + " moves");
            }
            rig.insert(connection, null, "without a key");
            connection.commit();
            connection.setAutoCommit(true);

            await("the others").until(() -> rig.recordCount() >= 11);
            rig.awaitParked(ParkedState.WAITING, 3);
            rig.awaitParked(ParkedState.BEHIND, 57);
            assertThat(rig.number("select sum(attempts) from outbox_parked")).isZero();
            // An event behind the first of its key has no error of its own. It is listed after the first ones.
            assertThat(rig.parked(connection).list(ParkedSelection.ALL, 10))
                    .filteredOn(line -> line.error() != null)
                    .hasSizeGreaterThanOrEqualTo(3)
                    .allSatisfy(line -> assertThat(line.error()).contains("partition 0 of topic \"" + rig.topic + '"'));
            // The producer after the last stall is open when it has sent something.
            rig.insert(connection, keysOf(1, 1).get(0), "moves again");
            await().until(() -> rig.payloads().contains("moves again"));
            // A new key of the partition waits at once, and all others are sent.
            int senders = rig.senders.get();
            String late = keysOf(0, 4).get(3);
            rig.insert(connection, late, late + " 000");
            rig.insert(connection, keysOf(1, 1).get(0), "moves on");
            await().until(() -> rig.payloads().contains("moves on"));
            assertThat(rig.senders.get())
                    .as("producers of the sender, each opened anew after a stall")
                    .isEqualTo(senders);

            broken.mend();
            rig.awaitNothingParked();
            for (String key : still) {
                rig.insert(connection, key, key + " 999");
            }
            rig.awaitRecords(77);
            for (String key : still) {
                assertThat(rig.payloadsOf(key).stream().distinct()).hasSize(21).isSorted();
            }
            assertThat(rig.payloadsOf(late)).contains(late + " 000");
            assertThat(rig.number("select count(*) from outbox_parked")).isZero();
            assertThat(relay.end()).isNotDone();
        }
    }

    private static boolean isOf(int partition, String topic, ProducerRecord<byte[], byte[]> record) {
        return record.topic().equals(topic)
                && record.key() != null
                && Utils.toPositive(Utils.murmur2(record.key())) % 3 == partition;
    }

    /** Keys that belong to one of three partitions. */
    private static List<String> keysOf(int partition, int count) {
        return IntStream.range(0, 1_000)
                .mapToObj(i -> "key" + i)
                .filter(key -> Utils.toPositive(Utils.murmur2(key.getBytes(StandardCharsets.UTF_8))) % 3 == partition)
                .limit(count)
                .toList();
    }

    private static void insert(Connection connection, String topic, String key, String payload) throws Exception {
        OutboxDatabaseFixture.insert(connection, topic, key, payload.getBytes(StandardCharsets.UTF_8));
    }

    private static List<String> payloads(String topic) {
        List<String> payloads = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : EngineRig.KAFKA.readAll(topic)) {
            payloads.add(new String(record.value(), StandardCharsets.UTF_8));
        }
        return payloads;
    }

    private static List<String> ofKeyA(String topic) {
        return payloads(topic).stream()
                .filter(payload -> payload.startsWith("a"))
                .toList();
    }

    private static List<String> topics() throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", EngineRig.KAFKA.bootstrapServers()))) {
            return List.copyOf(admin.listTopics().names().get());
        }
    }
}
