package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.TwoTopicHandlers;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A Kafka transaction is aborted at the end of a partition. Its records are no events, so the group's offset goes past
 * them: the lag is 0. When retention deletes them, nothing is missing.
 */
@Tag("proof")
class Fault15AbortedTailIT {

    private static final TopicPartition PARTITION = new TopicPartition("first", 0);
    private static final Duration LIMIT = Duration.ofSeconds(40);

    private final Database database = new Database("fault15");

    @AfterEach
    void undeploy() {
        Servers.payara().undeploy("fault15");
    }

    @Test
    void theOffsetGoesPastTheTailAndItsDeletionIsNoLoss() throws Exception {
        Topics.ensure("first", 1);
        Topics.ensure("second", 1);
        try (Topics topics = new Topics()) {
            String before = Topics.id();
            String after = Topics.id();
            MainApp.deploy(app());
            topics.send("first", before);
            abort("first", 3);
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("first")).containsExactly(before));
            await("the lag is 0")
                    .atMost(LIMIT)
                    .untilAsserted(
                            () -> assertThat(topics.lag("fault15", "first")).isZero());
            Servers.payara().undeploy("fault15");

            topics.admin()
                    .deleteRecords(Map.of(PARTITION, RecordsToDelete.beforeOffset(-1)))
                    .all()
                    .get();
            int log = Servers.payara().log().length();
            MainApp.deploy(app());
            topics.send("first", after);
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("first")).containsExactly(before, after));
            assertThat(Servers.payara().log().substring(log)).doesNotContain("Events may be lost");
        }
    }

    private static void abort(String topic, int records) {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", Servers.kafka().bootstrapServers(), "transactional.id", "fault15"),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.initTransactions();
            producer.beginTransaction();
            for (int i = 0; i < records; i++) {
                producer.send(new ProducerRecord<>(topic, 0, null, Topics.bytes("aborted")));
            }
            producer.flush();
            producer.abortTransaction();
        }
    }

    private TestApp app() {
        return new TestApp("fault15", database.name()).with(TwoTopicHandlers.class);
    }
}
