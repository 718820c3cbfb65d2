package dev.twinbox.relay.engine;

import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.ParkedState;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * The producer does not take an event, so it is parked when the position is saved. Before that, the session ends for
 * another reason. The next session took the event for one that Kafka has, and the event was lost.
 */
@Tag("proof")
@Timeout(240)
class Fault50NotTakenIsNotSentIT {
    private static final int MEGABYTE = 1_048_576;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** The client refuses one event, which is parked. The broker refuses another one, which ends the session. */
    @ParameterizedTest
    @EnumSource(DeliveryMode.class)
    void theClientRefusesOneEventAndTheBrokerAnotherAndBothAreParked(DeliveryMode mode) throws Exception {
        try (EngineRig rig = rig(mode);
                Connection connection = rig.connect()) {
            String small = topicOfSmallRecords(rig, 1);
            rig.start();
            connection.setAutoCommit(false);
            OutboxDatabaseFixture.insert(connection, rig.topic, "client", random(MEGABYTE - 100));
            OutboxDatabaseFixture.insert(connection, small, "broker", random(100_000));
            rig.insert(connection, "good", "good");
            connection.commit();

            rig.awaitRecords(1);
            rig.awaitParked(ParkedState.REFUSED, 2);
        }
    }

    @Test
    void ofManyThatTheClientAndTheBrokerRefuseNoneIsLost() throws Exception {
        try (EngineRig rig = rig(DeliveryMode.AT_LEAST_ONCE);
                Connection connection = rig.connect()) {
            rig.kafka.put("max.request.size", "60000");
            String small = topicOfSmallRecords(rig, 3);
            rig.start();
            connection.setAutoCommit(false);
            int each = 10;
            for (int i = 0; i < each; i++) {
                OutboxDatabaseFixture.insert(connection, rig.topic, "client" + i, random(60_000 - 100));
                OutboxDatabaseFixture.insert(connection, small, "broker" + i, random(30_000));
                rig.insert(connection, "good" + i, "good" + i);
                connection.commit();
            }
            rig.awaitRecords(each);
            await("all are parked")
                    .atMost(LIMIT)
                    .until(() -> rig.number("select count(*) from outbox_parked where state = 'refused'") == 2 * each);
        }
    }

    private static EngineRig rig(DeliveryMode mode) throws SQLException {
        EngineRig rig = EngineRig.create().withTopic();
        rig.page = new RelayConfig.Page(2000, 4_194_304, 4);
        rig.delivery = mode;
        if (mode == DeliveryMode.EXACTLY_ONCE) {
            rig.createPositionTopic();
        }
        return rig;
    }

    private static String topicOfSmallRecords(EngineRig rig, int partitions) {
        String topic = rig.topic + "-small";
        EngineRig.KAFKA.createTopic(topic, partitions, Map.of("max.message.bytes", "20000"));
        return topic;
    }

    /** Random bytes cannot be compressed. */
    static byte[] random(int size) {
        byte[] bytes = new byte[size];
        new Random(size).nextBytes(bytes);
        return bytes;
    }
}
