package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.DeliveryMode;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Attacks with brokers that forget: deleted records, expired producers and transactions. */
@Tag("proof")
class HuntBrokerIT {

    private static void insertMany(Connection connection, String topic, int from, int to) throws SQLException {
        OutboxDatabaseFixture.execute(
                connection,
                "insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " select gen_random_uuid(), '" + topic + "', 'k' || (i % 20), 't.x', '/test', clock_timestamp(),"
                        + " 'text/plain', convert_to('p' || i, 'UTF8')"
                        + " from generate_series(" + from + ", " + to + ") i");
    }

    @Test
    void attack31AllRecordsAreDeletedBetweenTwoBatches() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection writer = rig.connect();
                Admin admin = Admin.create(Map.of("bootstrap.servers", EngineRig.KAFKA.bootstrapServers()))) {
            rig.start();
            long ends = 0;
            for (int round = 0; round < 5; round++) {
                insertMany(writer, rig.topic, round * 100 + 1, round * 100 + 100);
                ends += 100;
                rig.awaitRecords(ends);
                Map<TopicPartition, RecordsToDelete> all = new HashMap<>();
                EngineRig.KAFKA
                        .endOffsets(rig.topic)
                        .forEach((partition, end) -> all.put(partition, RecordsToDelete.beforeOffset(end)));
                admin.deleteRecords(all).all().get(60, TimeUnit.SECONDS);
            }
            insertMany(writer, rig.topic, 1_001, 1_100);
            rig.awaitRecords(ends + 100);
            assertThat(rig.recordCount()).isEqualTo(ends + 100);
            assertThat(rig.senders.get()).isEqualTo(1);
        }
    }

    @Test
    void attack32TheBrokerForgetsProducersAndTransactionalIds() throws Exception {
        try (KafkaBroker broker = KafkaBroker.create()
                .withJvmOptions("-XX:TieredStopAtLevel=1")
                .withSetting("transactional.id.expiration.ms", "4000")
                .withSetting("transaction.remove.expired.transaction.cleanup.interval.ms", "1000")
                .withSetting("producer.id.expiration.ms", "3000")
                .withSetting("producer.id.expiration.check.interval.ms", "1000")
                .start()) {
            for (DeliveryMode mode : DeliveryMode.values()) {
                try (EngineRig rig = EngineRig.create();
                        Connection writer = rig.connect()) {
                    rig.kafka.put("bootstrap.servers", broker.bootstrapServers());
                    rig.delivery = mode;
                    broker.createTopic(rig.topic, 3);
                    if (mode == DeliveryMode.EXACTLY_ONCE) {
                        broker.createTopic(rig.config().delivery().positionTopic(), 2);
                    }
                    rig.start();
                    for (int round = 0; round < 3; round++) {
                        insertMany(writer, rig.topic, round * 50 + 1, round * 50 + 50);
                        int all = round * 50 + 50;
                        await("round " + round + " " + mode)
                                .atMost(Duration.ofSeconds(45))
                                .until(() -> new HashSet<>(payloads(broker, rig.topic)).size() == all);
                        Thread.sleep(9_000);
                    }
                    assertThat(payloads(broker, rig.topic)).as("each once, " + mode).hasSize(150);
                }
            }
        }
    }

    private static List<String> payloads(KafkaBroker broker, String topic) {
        return broker.readAll(topic).stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }
}
