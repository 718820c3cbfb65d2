package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.TwoTopicHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.RangeAssignor;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A group is moved to Twinbox while consumers of another assignor are in it. The receiver cannot join; it says what to
 * do, and joins as soon as they have left.
 */
@Tag("proof")
class Fault42OtherAssignorIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Database database = new Database("fault42");

    @AfterEach
    void undeploy() {
        Servers.payara().undeploy("fault42");
    }

    @Test
    void theTroubleNamesTheRemedyAndTheReceiverJoinsWhenTheOthersHaveLeft() {
        Topics.ensure("first", 1);
        Topics.ensure("second", 1);
        try (Topics topics = new Topics()) {
            try (KafkaConsumer<byte[], byte[]> other = new KafkaConsumer<>(
                    Map.of(
                            "bootstrap.servers",
                            Servers.kafka().bootstrapServers(),
                            "group.id",
                            "fault42",
                            "auto.offset.reset",
                            "latest",
                            "partition.assignment.strategy",
                            RangeAssignor.class.getName()),
                    new ByteArrayDeserializer(),
                    new ByteArrayDeserializer())) {
                other.subscribe(List.of("second"));
                await().atMost(LIMIT).until(() -> {
                    other.poll(Duration.ofMillis(100));
                    return !other.assignment().isEmpty();
                });
                Servers.payara().deploy("fault42", app().build());
                await().atMost(LIMIT).untilAsserted(() -> {
                    other.poll(Duration.ofMillis(100));
                    assertThat(Servers.payara().get("/fault42/status"))
                            .contains(
                                    "trouble receiver of group fault42=Group fault42 still has consumers",
                                    "Stop them",
                                    "InconsistentGroupProtocolException");
                });
            }
            MainApp.awaitNoTrouble("fault42");
            String id = Topics.id();
            topics.send("second", id);
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("second")).containsExactly(id));
        }
    }

    private TestApp app() {
        return new TestApp("fault42", database.name()).with(TwoTopicHandlers.class);
    }
}
