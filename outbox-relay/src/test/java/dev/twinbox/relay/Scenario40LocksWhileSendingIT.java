package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** LOCKS-WHILE-SENDING: a broker that does not answer blocks no one in the database. */
@Tag("proof")
class Scenario40LocksWhileSendingIT {
    private static final Duration OUTAGE = Duration.ofSeconds(8);
    /** A relay that waits for Kafka while it holds a lock would hold it as long as Kafka hangs, which is longer. */
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(15);

    private static final int PENDING = 200;

    @AfterEach
    void resume() {
        RelayRig.KAFKA.resume();
    }

    @Test
    void whileKafkaHangsBusinessVacuumAndDdlNeverWaitForALockOfTheRelay() throws Exception {
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            RelayProcess relay = rig.startRelay(Map.of());
            RelayProcess standby = rig.relay(Map.of()).start();
            Scenario20CrashClaimIT.awaitStandby(standby);
            park(rig, connection);
            RelayRig.KAFKA.pause();
            rig.insertAndCommit(PENDING);
            Scenario54ShutdownIT.awaitInFlight(relay, PENDING);
            // A statement that waits longer for a lock fails, and the test with it. Mere slowness fails nothing.
            execute(connection, "set lock_timeout = " + LONGEST_WAIT.toMillis());

            String events = rig.tables().events().sql();
            ParkedRows parked = new ParkedRows(connection, rig.tables(), "relay");
            long end = System.nanoTime() + OUTAGE.toNanos();
            for (int round = 0; System.nanoTime() < end; round++) {
                rig.insert(connection, "key" + round);
                execute(connection, "alter table " + events + " add column if not exists extra" + round % 3 + " text");
                execute(connection, "alter table " + events + " drop column if exists extra" + (round + 1) % 3);
                execute(connection, "vacuum " + events);
                execute(connection, "vacuum " + rig.tables().position());
                execute(connection, "vacuum " + rig.tables().lease());
                execute(connection, "vacuum " + rig.tables().parked());
                execute(
                        connection,
                        "alter table " + rig.tables().parked() + " set (fillfactor = " + (80 + round % 10) + ")");
                parked.retry(ParkedSelection.ALL);
                assertNoRelaySessionHoldsATransaction(rig);
            }

            assertThat(standby.log()).doesNotContain("Took the lease");
            RelayRig.KAFKA.resume();
            execute(connection, "delete from " + events + " where topic = 'nowhere'");
            rig.assertExact();
            relay.awaitReady();
        }
    }

    /** An event that waits for its topic, and one that it blocks. */
    private static void park(RelayRig rig, Connection connection) throws SQLException {
        OutboxDatabaseFixture.insert(connection, "nowhere", "k", new byte[1]);
        OutboxDatabaseFixture.insert(connection, "nowhere", "k", new byte[1]);
        await().until(() -> rig.count("select count(*) from " + rig.tables().parked()) == 2);
    }

    private static void assertNoRelaySessionHoldsATransaction(RelayRig rig) throws SQLException {
        await("no relay session stays within a transaction")
                .until(() -> rig.count("select count(*) from pg_stat_activity where datname = current_database()"
                                + " and application_name like 'twinbox-relay%' and state like 'idle in transaction%'")
                        == 0);
        assertThat(rig.count("select count(*) from pg_stat_activity where datname = current_database()"
                        + " and application_name like 'twinbox-relay%'"))
                .as("relay sessions")
                .isPositive();
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
