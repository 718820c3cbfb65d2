package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.jdbc.EventSlots;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.Rebase;
import dev.twinbox.relay.jdbc.Snapshot;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * An operator mistypes the name of a relay in {@code pause}. No relay has this name, so nobody sends its events. No slot
 * was emptied any more, and a rebase took all events for unsent.
 */
@Tag("proof")
class Fault65MistypedNameIT {
    private static final String MISTYPED = "relya";

    @Test
    void aPausedNameThatHasNeverRunKeepsNothing() throws Exception {
        RelayRig.KAFKA.start();
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            long cluster = OutboxDatabase.identify(connection).systemIdentifier();
            LeaseTable lease = new LeaseTable(connection, rig.tables(), "relay");
            UUID owner = UUID.randomUUID();
            long epoch = lease.take(owner, Duration.ofMinutes(1), cluster);
            rig.insertAndCommit(5);
            String now = OutboxDatabaseFixture.query(connection, "select pg_current_snapshot()");
            Position sent = Position.closed(Snapshot.parse(now));
            assertThat(new PositionTable(connection, rig.tables(), "relay")
                            .save(new PositionTable.Saved(1, sent), owner, epoch))
                    .isTrue();
            lease.release(owner, epoch);

            assertThat(rig.command(Map.of("twinbox.relay.name", MISTYPED), "pause"))
                    .contains("No relay of this name has run here yet", "Known names: relay");
            rig.command(Map.of("twinbox.relay.name", MISTYPED), "resume");
            assertThat(rig.command(Map.of("twinbox.relay.name", MISTYPED), "status"))
                    .contains("never taken");
            assertThat(rig.command(Map.of(), "pause")).doesNotContain("Known names");

            // The lease has ended, so a rebase is allowed. Only what nothing proves to be sent is unsent.
            await("the lease has ended").until(() -> lease.look().isFreeFor(UUID.randomUUID()));
            rig.execute("update outbox_event set tx = tx"); // As restored: no row shows that it was written here.
            rig.execute("update outbox_lease set system_identifier = 42");
            Rebase.Result result = new Rebase(connection, rig.tables()).preview(cluster);
            assertThat(result.unsent()).as(result.toString()).isZero();

            rig.execute("update outbox_lease set system_identifier = " + cluster);
            assertThat(new EventSlots(connection, rig.tables(), "relay").unsent(0))
                    .isEmpty();
            assertThat(new EventSlots(connection, rig.tables(), "relay").tryEmpty(0))
                    .isEqualTo(new EventSlots.Outcome(EventSlots.Outcome.Kind.EMPTIED, ""));
        }
    }
}
