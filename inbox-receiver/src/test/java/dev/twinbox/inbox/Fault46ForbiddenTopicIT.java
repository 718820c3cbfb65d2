package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.inbox.app.TwoTopicHandlers;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.ResourceType;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * One of two topics may not be read. The other one goes on. The forbidden one is a trouble that names the right, and is
 * read within seconds of the grant.
 */
@Tag("proof")
class Fault46ForbiddenTopicIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);
    private static final Duration SECONDS = Duration.ofSeconds(15);

    private final Database database = new Database("fault46");

    @AfterEach
    void undeploy() {
        Servers.payara().undeploy("fault46");
    }

    @Test
    void theOthersGoOnAndTheForbiddenOneIsReadAfterTheGrant() {
        try (KafkaBroker broker = KafkaBroker.create()
                .withSecuredListener()
                .withJvmOptions("-XX:TieredStopAtLevel=1")
                .start()) {
            broker.createTopic("first", 1);
            broker.createTopic("second", 1);
            broker.createUser("app", "secret");
            broker.allow("app", AclOperation.READ, ResourceType.GROUP, "fault46");
            broker.allow("app", AclOperation.READ, ResourceType.TOPIC, "second");
            String forbidden = send(broker, "first");
            String allowed = send(broker, "second");

            int log = Servers.payara().log().length();
            Servers.payara().deploy("fault46", app(broker).build());
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("second")).containsExactly(allowed));
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(Servers.payara().get("/fault46/status"))
                            .contains("trouble topic first=may not be read: grant Read on topic first"));
            assertThat(database.effects("first")).isEmpty();

            broker.allow("app", AclOperation.READ, ResourceType.TOPIC, "first");
            await().atMost(SECONDS)
                    .untilAsserted(() -> assertThat(database.effects("first")).containsExactly(forbidden));
            MainApp.awaitNoTrouble("fault46");

            // The right is taken away while the application runs.
            broker.disallow("app", AclOperation.READ, ResourceType.TOPIC, "first");
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(Servers.payara().get("/fault46/status"))
                            .contains("trouble topic first=may not be read"));
            String later = send(broker, "second");
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("second")).containsExactly(allowed, later));
            String sentMeanwhile = send(broker, "first");
            broker.allow("app", AclOperation.READ, ResourceType.TOPIC, "first");
            await().atMost(SECONDS)
                    .untilAsserted(
                            () -> assertThat(database.effects("first")).containsExactly(forbidden, sentMeanwhile));
            String said = Servers.payara().log().substring(log);
            assertThat(said.lines().filter(line -> line.contains("Topic first may not be read")))
                    .hasSize(2);
            assertThat(said.lines()).hasSizeLessThan(2000);
        }
    }

    private static String send(KafkaBroker broker, String topic) {
        String id = Topics.id();
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, 0, null, Topics.bytes(Topics.order(id, "", 0)));
        record.headers().add(CloudEventHeaders.ID, Topics.bytes(id));
        record.headers().add(CloudEventHeaders.TYPE, Topics.bytes("order"));
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", broker.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            producer.send(record);
        }
        return id;
    }

    private TestApp app(KafkaBroker broker) {
        TestApp app = new TestApp("fault46", database.name()).with(TwoTopicHandlers.class);
        broker.securedClientSettings("app", "secret")
                .forEach((name, value) -> app.with("twinbox.inbox.kafka." + name, value));
        return app;
    }
}
