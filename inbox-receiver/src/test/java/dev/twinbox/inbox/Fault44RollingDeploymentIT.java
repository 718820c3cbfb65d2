package dev.twinbox.inbox;

import static dev.twinbox.inbox.MainApp.LIMIT;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.inbox.app.VersionOneHandler;
import dev.twinbox.inbox.app.VersionTwoHandler;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Fault 44: an old instance handles v1, a new one v1 and v2, both in one group. Half of the v2 events were skipped for
 * good. Here the new version comes, goes and comes again.
 */
@Tag("proof")
class Fault44RollingDeploymentIT {

    private static final String GROUP = "rolling";
    private static final String OLD = "rolling-old";
    private static final String NEW = "rolling-new";
    private static final int PARTITIONS = 4;

    private final Database database = new Database(GROUP);
    private final Map<String, List<String>> sent = new LinkedHashMap<>();

    @Test
    void forthAndBackEightyOfEighty() {
        Servers.kafka().createTopic(GROUP, PARTITIONS);
        try (Topics topics = new Topics()) {
            MainApp.deploy(app(OLD).with(VersionOneHandler.class));
            send(topics, "v1", 8);
            awaitLagZero(topics);

            MainApp.deploy(latest());
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(topics.owners(GROUP, GROUP)).hasSize(2));
            send(topics, "v2", 40); // forth
            awaitLagZero(topics);
            awaitEffects(40);

            Servers.payara().undeploy(NEW);
            send(topics, "v2", 40); // back
            awaitLagZero(topics);
            assertThat(database.effects("two")).as("nobody can").hasSize(40);
            assertThat(database.count("inbox_parked where handler = 'two'")).isEqualTo(40);

            MainApp.deploy(latest());
            awaitEffects(80);
            assertThat(MainApp.status(OLD, "skipped")).isZero();
            assertThat(database.effects("one")).hasSize(8);
            sent.forEach((key, ids) -> assertThat(database.effects("two").stream()
                            .filter(ids::contains)
                            .toList())
                    .as(key)
                    .isEqualTo(ids));
            assertThat(database.count("inbox_parked")).isZero();
        } finally {
            Servers.payara().undeploy(OLD);
            Servers.payara().undeploy(NEW);
        }
    }

    private TestApp latest() {
        return app(NEW).with(VersionOneHandler.class, VersionTwoHandler.class);
    }

    private TestApp app(String name) {
        return new TestApp(name, database.name())
                .with("twinbox.inbox.group", GROUP)
                .with("twinbox.inbox.kafka.session.timeout.ms", "6000");
    }

    private void send(Topics topics, String type, int number) {
        for (int i = 0; i < number; i++) {
            String key = "key-" + i % PARTITIONS;
            String id = Topics.id();
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                    GROUP, i % PARTITIONS, Topics.bytes(key), Topics.bytes(Topics.order(id, "", 0)));
            record.headers()
                    .add(CloudEventHeaders.ID, Topics.bytes(id))
                    .add(CloudEventHeaders.TYPE, Topics.bytes(type));
            topics.add(record);
            if (type.equals("v2")) {
                sent.computeIfAbsent(key, k -> new ArrayList<>()).add(id);
            }
        }
        topics.flush();
    }

    private void awaitEffects(int number) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.effects("two")).hasSize(number));
    }

    private static void awaitLagZero(Topics topics) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(GROUP, GROUP)).isZero());
    }
}
