package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import java.sql.Connection;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * A new relay is paused before its first start. It counted as one that has published at least once, and could not begin
 * to publish exactly once while events were unsent.
 */
@Tag("proof")
@Timeout(120)
class Fault60PausedBeforeItsStartIT {

    @Test
    void aNewRelayThatWasPausedPublishesExactlyOnceFromTheBeginning() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.delivery = DeliveryMode.EXACTLY_ONCE;
            rig.createPositionTopic();
            LeaseTable lease = new LeaseTable(connection, OutboxDatabaseFixture.SCHEMA, "relay");
            lease.pause(OutboxDatabase.identify(connection).systemIdentifier());
            assertThat(lease.names()).isEmpty();
            rig.insert(connection, "k", "first");
            assertThat(lease.resume()).isTrue();
            EngineRig.Running relay = rig.start();
            rig.awaitRecords(1);
            assertThat(relay.end()).isNotDone();
            assertThat(lease.names()).containsExactly("relay");
            assertThat(lease.look().delivery()).isEqualTo(DeliveryMode.EXACTLY_ONCE);
        }
    }

    /** A relay that has run and was released may have sent events that its position does not show. */
    @Test
    void aRelayThatHasRunStillNeedsADrainedOutbox() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            EngineRig.Running first = rig.start();
            rig.insert(connection, "k", "first");
            rig.awaitRecords(1);
            first.stop();
            LeaseTable lease = new LeaseTable(connection, OutboxDatabaseFixture.SCHEMA, "relay");
            lease.pause(OutboxDatabase.identify(connection).systemIdentifier());
            lease.resume();
            rig.insert(connection, "k", "second");
            rig.delivery = DeliveryMode.EXACTLY_ONCE;
            rig.createPositionTopic();
            assertThat(rig.start().refusal()).hasMessageContaining("drained outbox");
        }
    }
}
