package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import java.sql.Connection;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A paused relay is stopped while events are unsent. The page that it held back counted as being sent. So it waited for
 * the whole shutdown timeout, and its exit code said that something was unfinished.
 */
@Tag("proof")
@Timeout(120)
class Fault59PausedRelayStopsIT {
    private static final int EVENTS = 40_000;

    /** Half of the rig's shutdown timeout. */
    private static final Duration SOON = Duration.ofSeconds(5);

    @ParameterizedTest
    @EnumSource(DeliveryMode.class)
    void aPausedRelayWithABacklogStopsAtOnce(DeliveryMode mode) throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.page = new RelayConfig.Page(10, 100_000, 4);
            rig.delivery = mode;
            if (mode == DeliveryMode.EXACTLY_ONCE) {
                rig.createPositionTopic();
            }
            Fault54SequenceRestartedIT.insert(connection, rig.topic, EVENTS);
            EngineRig.Running relay = rig.start();
            rig.awaitRecords(100);
            LeaseTable lease = new LeaseTable(connection, OutboxDatabaseFixture.SCHEMA, "relay");
            lease.pause(OutboxDatabase.identify(connection).systemIdentifier());
            await("paused").until(() -> relay.progress().pausedSince() != null);

            long begin = System.nanoTime();
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
            assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(SOON);
            assertThat(rig.recordCount()).as("it was in the middle").isLessThan(EVENTS);
            assertThat(rig.number("select count(*) from outbox_lease where owner is null"))
                    .as("released leases")
                    .isOne();

            lease.resume();
            rig.page = new RelayConfig.Page(2000, 4_194_304, 4);
            rig.start();
            rig.awaitRecords(EVENTS);
        }
    }
}
