package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import java.sql.Connection;
import org.junit.jupiter.api.Test;

/**
 * Fault 45: a row with a type of 513 bytes, written by plain SQL, was sent, and no inbox could handle it. It is parked
 * where its producer can see it.
 */
class Fault45TypeLimitIT {

    @Test
    void aTypeThatIsTooLongIsParkedAndTheLongestOneIsSent() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            connection.setAutoCommit(false);
            // A row from before the constraint.
            OutboxDatabaseFixture.execute(connection, "alter table outbox_event drop constraint type_limited");
            rig.insert(connection, "k1", "too long");
            OutboxDatabaseFixture.execute(connection, "update outbox_event set type = repeat('x', 513)");
            rig.insert(connection, "k2", "longest");
            OutboxDatabaseFixture.execute(
                    connection, "update outbox_event set type = repeat('x', 512) where key = 'k2'");
            connection.commit();

            rig.start();

            rig.awaitRecords(1);
            rig.awaitParked(ParkedState.REFUSED, 1);
            assertThat(rig.payloads()).containsExactly("longest");
            ParkedRows.Line parked =
                    rig.parked(connection).list(ParkedSelection.ALL, 10).get(0);
            assertThat(parked.error()).contains("its type has 513 bytes, allowed are 512");
        }
    }
}
