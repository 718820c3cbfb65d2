package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.Rebase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * The database has a publication for all tables, as for logical replication. {@code rebase} could not change a row of the
 * event table, and its message told the operator to check user and password.
 */
@Tag("proof")
class Fault63PublicationIT {

    @Test
    void rebaseNamesThePublicationAndWorksAfterTheRemedy() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            rig.execute("create publication everything for all tables");
            rig.execute("insert into outbox_lease (relay, epoch, ends_at, system_identifier, events)"
                    + " values ('relay', 1, clock_timestamp(), 42, 'public.outbox_event')");
            rig.insertAndCommit(5);
            assertThatThrownBy(() -> rebase(rig))
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            e -> assertThat(OutboxDatabase.explain(e))
                                    .contains("outbox_event_slot", "publication", "replica identity full"));
            for (int slot = 0; slot < 3; slot++) {
                rig.execute("alter table outbox_event_slot" + slot + " replica identity full");
            }
            assertThat(rig.command(Map.of(), "rebase")).contains("written in this cluster:   5");
        }
    }

    private static void rebase(RelayRig rig) throws SQLException, RelayException {
        try (Connection connection = rig.connect()) {
            new Rebase(connection, rig.tables())
                    .run(OutboxDatabase.identify(connection).systemIdentifier());
        }
    }
}
