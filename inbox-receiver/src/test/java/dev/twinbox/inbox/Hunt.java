package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.errors.TopicExistsException;

/** What the classes of a hunt share. */
final class Hunt {

    private Hunt() {}

    static ProducerRecord<byte[], byte[]> record(
            String topic, int partition, String key, String id, String type, String value) {
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                topic, partition, key == null ? null : Topics.bytes(key), value == null ? null : Topics.bytes(value));
        if (id != null) {
            record.headers().add(CloudEventHeaders.ID, Topics.bytes(id));
        }
        if (type != null) {
            record.headers().add(CloudEventHeaders.TYPE, Topics.bytes(type));
        }
        return record;
    }

    static Admin admin() {
        return Admin.create(Map.of("bootstrap.servers", Servers.kafka().bootstrapServers()));
    }

    /** Deletes the topic and creates it again at once. */
    static void createAnew(String topic) throws Exception {
        try (Admin admin = admin()) {
            admin.deleteTopics(List.of(topic)).all().get();
            await().atMost(Duration.ofSeconds(30))
                    .pollInterval(Duration.ofMillis(20))
                    .until(() -> {
                        try {
                            admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1)))
                                    .all()
                                    .get();
                            return true;
                        } catch (ExecutionException e) {
                            if (e.getCause() instanceof TopicExistsException) {
                                return false;
                            }
                            throw e;
                        }
                    });
        }
    }

    static String status(String app) {
        return Servers.payara().get("/" + app + "/status");
    }

    static boolean says(String app) {
        String status = status(app);
        return status.contains("trouble ") || status.contains("note ");
    }

    static void awaitEffects(Database database, String handler, int number, Duration limit) {
        await().atMost(limit)
                .untilAsserted(() -> assertThat(database.effects(handler)).hasSizeGreaterThanOrEqualTo(number));
    }

    static void log(String text) {
        System.out.println("HUNT " + text);
    }
}
