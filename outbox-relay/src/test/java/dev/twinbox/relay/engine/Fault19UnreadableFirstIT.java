package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.ParkedSelections;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import java.sql.Connection;
import java.util.List;
import org.junit.jupiter.api.Test;

/**
 * The first event of a key cannot be read, the second one can, and both are in the first page of a session. The second
 * one was sent. It has to wait behind the first one.
 */
class Fault19UnreadableFirstIT {

    @Test
    void anEventBehindAnUnreadableOneOfItsKeyWaitsInTheFirstPageOfASession() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.execute("alter table outbox_event alter column type drop not null");
            connection.setAutoCommit(false);
            rig.insert(connection, "a", "a1");
            OutboxDatabaseFixture.execute(connection, "update outbox_event set type = null");
            rig.insert(connection, "a", "a2");
            rig.insert(connection, "b", "b1");
            connection.commit();
            connection.setAutoCommit(true);

            rig.start();
            rig.awaitRecords(1);
            rig.awaitParked(ParkedState.REFUSED, 1);

            assertThat(rig.payloads()).containsExactly("b1");
            rig.awaitParked(ParkedState.BEHIND, 1);
            List<ParkedRows.Line> lines = rig.parked(connection).list(ParkedSelection.ALL, 10);
            rig.parked(connection).discard(ParkedSelections.number(lines.get(0).number()));
            rig.awaitNothingParked();
            assertThat(rig.payloadsOf("a")).containsExactly("a2");
        }
    }
}
