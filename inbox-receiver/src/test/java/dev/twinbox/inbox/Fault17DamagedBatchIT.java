package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.inbox.app.TwoTopicHandlers;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A record batch on the broker's disk is damaged. Its partition stands, with one error that names the command which
 * steps over it. All other partitions go on.
 */
@Tag("proof")
class Fault17DamagedBatchIT {

    private static final TopicPartition DAMAGED = new TopicPartition("first", 0);
    private static final Duration LIMIT = Duration.ofSeconds(40);

    @TempDir
    Path folder;

    private final Database database = new Database("fault17");

    @AfterEach
    void undeploy() {
        Servers.payara().undeploy("fault17");
    }

    @Test
    void onlyThatPartitionStandsUntilAnOperatorStepsOverTheBatch() throws Exception {
        try (KafkaBroker broker = KafkaBroker.create()
                .withDataDirectory(folder)
                .withJvmOptions("-XX:TieredStopAtLevel=1")
                .start()) {
            broker.createTopic("first", 2);
            broker.createTopic("second", 1);
            List<String> before = send(broker, "first", 0, 2);
            List<String> damaged = send(broker, "first", 0, 5);
            List<String> after = send(broker, "first", 0, 3);
            List<String> beside = send(broker, "first", 1, 4);
            List<String> other = send(broker, "second", 0, 4);
            damage(damaged.get(2));

            int log = Servers.payara().log().length();
            Servers.payara().deploy("fault17", app(broker).build());
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("second")).containsAll(other));
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("first"))
                            .containsAll(before)
                            .containsAll(beside));
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(Servers.payara().get("/fault17/status"))
                            .contains("trouble first-0=offset 2 of first-0 cannot be read", "--reset-offsets"));
            other.addAll(send(broker, "second", 0, 2));
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("second")).containsAll(other));
            assertThat(database.effects("first")).doesNotContainAnyElementsOf(damaged);
            String said = Servers.payara().log().substring(log);
            assertThat(said.lines().filter(line -> line.contains("Record batch damaged")))
                    .hasSize(1);
            assertThat(said.lines()).hasSizeLessThan(1000);

            Matcher command = Pattern.compile("kafka-consumer-groups.sh --bootstrap-server "
                            + broker.bootstrapServers()
                            + " --group fault17 --topic first:0 --reset-offsets --to-offset (\\d+) --execute")
                    .matcher(Servers.payara().get("/fault17/status"));
            assertThat(command.find()).isTrue();
            Servers.payara().undeploy("fault17");
            stepTo(broker, Long.parseLong(command.group(1)));
            MainApp.deploy(app(broker));
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("first")).containsAll(after));
            assertThat(database.effects("first"))
                    .doesNotHaveDuplicates()
                    .hasSize(before.size() + after.size() + beside.size());
        }
    }

    /** What the command does. */
    private static void stepTo(KafkaBroker broker, long offset) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            admin.alterConsumerGroupOffsets("fault17", Map.of(DAMAGED, new OffsetAndMetadata(offset)))
                    .all()
                    .get();
        }
    }

    /** Sends one batch. */
    private static List<String> send(KafkaBroker broker, String topic, int partition, int number) {
        List<String> ids = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers(), "linger.ms", "60000"),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            for (int i = 0; i < number; i++) {
                String id = Topics.id();
                ProducerRecord<byte[], byte[]> record =
                        new ProducerRecord<>(topic, partition, null, Topics.bytes(Topics.order(id, "", 0)));
                record.headers().add(CloudEventHeaders.ID, Topics.bytes(id));
                record.headers().add(CloudEventHeaders.TYPE, Topics.bytes("order"));
                producer.send(record);
                ids.add(id);
            }
            producer.flush();
        }
        return ids;
    }

    /** Changes one byte of the file. The broker reads it from there. */
    private void damage(String id) throws IOException {
        Path file = folder.resolve("log").resolve("first-0").resolve("00000000000000000000.log");
        String content = new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1);
        int at = content.indexOf(id);
        assertThat(at).isPositive();
        try (RandomAccessFile write = new RandomAccessFile(file.toFile(), "rw")) {
            write.seek(at);
            write.write('!');
        }
    }

    private TestApp app(KafkaBroker broker) {
        return new TestApp("fault17", database.name())
                .with(TwoTopicHandlers.class)
                .with("twinbox.inbox.kafka.bootstrap.servers", broker.bootstrapServers());
    }
}
