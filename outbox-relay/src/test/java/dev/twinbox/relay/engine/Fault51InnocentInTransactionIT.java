package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.ParkedState;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Kafka's client does not take one event of a transaction. It then fails all events that wait to be sent, with the same
 * exception. These were parked as refused, too.
 */
@Tag("proof")
@Timeout(240)
class Fault51InnocentInTransactionIT {
    private static final int ALMOST_A_MEGABYTE = 1_048_576 - 100;
    private static final int GOOD = 200;
    private static final Duration LIMIT = Duration.ofSeconds(60);

    /** Its row is within the client's limit, its record is not. */
    @ParameterizedTest
    @EnumSource(DeliveryMode.class)
    void theClientRefusesOneEventAndTheOthersOfItsPageArrive(DeliveryMode mode) throws Exception {
        try (EngineRig rig = rig(mode).withTopic();
                Connection connection = rig.connect()) {
            rig.start();
            rig.insert(connection, "first", "first");
            rig.awaitRecords(1); // The producer knows the topic, so it sends a page at once.
            insertAll(rig, connection);
            assertThatOnlyTheBadOneIsParked(rig);
        }
    }

    /** All wait for a topic. When it is there they are sent as one batch. */
    @ParameterizedTest
    @EnumSource(DeliveryMode.class)
    void theClientRefusesOneParkedEventAndTheOthersOfItsBatchArrive(DeliveryMode mode) throws Exception {
        try (EngineRig rig = rig(mode);
                Connection connection = rig.connect()) {
            rig.start();
            insertAll(rig, connection);
            rig.awaitParked(ParkedState.WAITING, GOOD + 1);
            rig.withTopic();
            assertThatOnlyTheBadOneIsParked(rig);
        }
    }

    private static EngineRig rig(DeliveryMode mode) throws SQLException {
        EngineRig rig = EngineRig.create();
        rig.page = new RelayConfig.Page(2000, 4_194_304, 4);
        rig.delivery = mode;
        if (mode == DeliveryMode.EXACTLY_ONCE) {
            rig.createPositionTopic();
        }
        return rig;
    }

    private static void insertAll(EngineRig rig, Connection connection) throws SQLException {
        connection.setAutoCommit(false);
        for (int i = 0; i < GOOD; i++) {
            rig.insert(connection, "key" + i, "good");
        }
        OutboxDatabaseFixture.insert(
                connection, rig.topic, "bad", Fault50NotTakenIsNotSentIT.random(ALMOST_A_MEGABYTE));
        connection.commit();
    }

    private static void assertThatOnlyTheBadOneIsParked(EngineRig rig) throws SQLException {
        await("the others arrive").atMost(LIMIT).until(() -> goodOnes(rig) >= GOOD);
        await("only the bad one is parked")
                .atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(rig.number("select count(*) from outbox_parked where state = 'refused'"))
                                .isOne());
        assertThat(rig.number("select count(*) from outbox_parked where key <> 'bad'"))
                .isZero();
    }

    private static long goodOnes(EngineRig rig) {
        return rig.records().stream()
                .filter(record -> "good".equals(new String(record.value(), StandardCharsets.UTF_8)))
                .count();
    }
}
