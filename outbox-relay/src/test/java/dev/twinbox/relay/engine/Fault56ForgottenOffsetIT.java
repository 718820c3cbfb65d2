package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.jdbc.ParkedState;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Exactly once. Nothing was parked for a week, so Kafka has forgotten the offset of parked events, while it knows that of
 * pages. Then a relay died while it was sending a parked event, and the next one did not start.
 */
@Tag("proof")
@Timeout(120)
class Fault56ForgottenOffsetIT {
    private static final int PARKED = 1;

    @Test
    void theOffsetOfParkedEventsIsCommittedInEachSessionThoughNothingIsParked() throws Exception {
        try (EngineRig rig = EngineRig.create();
                Connection connection = rig.connect();
                Admin admin = Admin.create(Map.of("bootstrap.servers", EngineRig.KAFKA.bootstrapServers()))) {
            rig.delivery = DeliveryMode.EXACTLY_ONCE;
            rig.createPositionTopic();
            EngineRig.Running first = rig.start();
            TopicPartition parked = new TopicPartition(rig.positionTopic, PARKED);
            await("the first offset").until(() -> isKnown(admin, parked));
            first.stop();
            admin.deleteConsumerGroupOffsets(rig.positionTopic, Set.of(parked))
                    .all()
                    .get(90, TimeUnit.SECONDS);
            assertThat(isKnown(admin, parked)).isFalse();

            EngineRig.Running second = rig.start();
            await("the offset again").atMost(Duration.ofSeconds(20)).until(() -> isKnown(admin, parked));
            OutboxDatabaseFixture.insert(connection, rig.topic, "k", "late".getBytes(StandardCharsets.UTF_8));
            rig.awaitParked(ParkedState.WAITING, 1);
            second.stop();
            // What a relay leaves behind that dies between the claim and the commit. Other tests kill it there.
            rig.execute("update outbox_parked set state = 'sending', sent_as = 1");
            rig.withTopic();

            EngineRig.Running third = rig.start();
            rig.awaitRecords(1);
            rig.awaitNothingParked();
            assertThat(rig.payloads()).containsExactly("late");
            assertThat(third.end()).isNotDone();
        }
    }

    private static boolean isKnown(Admin admin, TopicPartition partition) throws Exception {
        return admin.listConsumerGroupOffsets(partition.topic())
                        .partitionsToOffsetAndMetadata()
                        .get(90, TimeUnit.SECONDS)
                        .get(partition)
                != null;
    }
}
