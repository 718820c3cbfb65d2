package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.config.DeliveryMode;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A topic is deleted and created again with one partition instead of three while the relay runs. Records for partitions
 * that were gone waited for ever, and with them all later events.
 */
@Tag("proof")
class Fault39TopicCreatedAnewIT {

    @ParameterizedTest
    @EnumSource(DeliveryMode.class)
    void aNewProducerSendsWhatWasMeantForPartitionsThatAreGone(DeliveryMode mode) throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.delivery = mode;
            if (mode == DeliveryMode.EXACTLY_ONCE) {
                rig.createPositionTopic();
            }
            EngineRig.Running relay = rig.start();
            for (int i = 0; i < 30; i++) {
                rig.insert(connection, "key" + i, "before " + i);
            }
            rig.awaitRecords(30);

            createAnew(rig.topic);
            Set<String> expected = new TreeSet<>();
            for (int i = 0; i < 20; i++) {
                expected.add("without a key " + i);
                rig.insert(connection, null, "without a key " + i);
                expected.add("with a key " + i);
                rig.insert(connection, "key" + i, "with a key " + i);
            }

            await("all of them")
                    .atMost(Duration.ofSeconds(25))
                    .pollInterval(Duration.ofMillis(200))
                    .untilAsserted(
                            () -> assertThat(new TreeSet<>(rig.payloads())).isEqualTo(expected));
            assertThat(rig.number("select count(*) from outbox_parked"))
                    .as("parked")
                    .isZero();
            await("the position").until(() -> relay.progress().backlog() == 0);
            assertThat(relay.end()).isNotDone();
        }
    }

    private static void createAnew(String topic) throws Exception {
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", EngineRig.KAFKA.bootstrapServers()))) {
            admin.deleteTopics(List.of(topic)).all().get(90, TimeUnit.SECONDS);
            await("the topic is gone").pollInterval(Duration.ofMillis(20)).until(() -> isGone(admin, topic));
        }
        EngineRig.KAFKA.createTopic(topic, 1);
    }

    private static boolean isGone(Admin admin, String topic) throws Exception {
        try {
            admin.describeTopics(List.of(topic)).allTopicNames().get(90, TimeUnit.SECONDS);
            return false;
        } catch (ExecutionException e) {
            return e.getCause() instanceof UnknownTopicOrPartitionException;
        }
    }
}
