package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/** What happens to a position when the database crashes or is another one. On a server of its own. */
@Tag("proof")
class DatabaseCrashIT {
    private static final int ROUNDS = 15;

    private static PostgresServer server;

    @BeforeAll
    static void start() {
        // Otherwise the WAL writer makes the ids of aborted transactions durable within 200 ms.
        server = PostgresServer.create()
                .withSetting("wal_writer_delay", "10s")
                .withSetting("bgwriter_delay", "10s")
                .start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    /**
     * Transactions that were rolled back before a crash may leave no trace, and their ids are assigned again. In a
     * snapshot from before the crash those ids have ended. A relay that still used it would treat the new transactions
     * as sent.
     */
    @Test
    void idsThatAreIssuedAgainAfterACrashAreNotTakenForSent() throws Exception {
        AtomicBoolean keptAway = new AtomicBoolean();
        try (EngineRig rig = new EngineRig(OutboxDatabaseFixture.create(server)).withTopic()) {
            rig.relayDatabase = new OutboxDatabase(gate(rig.database, keptAway), Duration.ofSeconds(20));
            EngineRig.Running relay = rig.start();
            boolean reused = false;
            for (int round = 0; round < ROUNDS && !reused; round++) {
                long burnt = readBehindRolledBackTransactions(rig, relay);
                keptAway.set(true); // Until the ids are assigned: the relay's first query would correct the snapshot.
                server.kill();
                server.start();
                reused = insertFive(rig) <= burnt;
                keptAway.set(false);
                rig.awaitRecords(rig.number("select count(*) from outbox_event"));
            }
            assertThat(reused).as("an id came again").isTrue();
            rig.assertExact();
        }
    }

    private static DataSource gate(OutboxDatabaseFixture database, AtomicBoolean closed) {
        return new PGSimpleDataSource() {
            @Override
            public Connection getConnection() throws SQLException {
                if (closed.get()) {
                    throw new SQLTransientConnectionException("the test keeps the relay away");
                }
                return database.connect();
            }
        };
    }

    /** Returns the highest id that was rolled back. The relay has seen that all of them have ended. */
    private static long readBehindRolledBackTransactions(EngineRig rig, EngineRig.Running relay) throws SQLException {
        try (Connection connection = rig.connect()) {
            rig.insert(connection, "k", "before");
            rig.awaitRecords(rig.number("select count(*) from outbox_event"));
            connection.setAutoCommit(false);
            long burnt = 0;
            for (int i = 0; i < 50; i++) {
                burnt = Long.parseLong(
                        OutboxDatabaseFixture.query(connection, "select pg_current_xact_id()::text::bigint"));
                connection.rollback();
            }
            long polls = relay.progress().polls();
            await().pollDelay(Duration.ZERO)
                    .pollInterval(Duration.ofMillis(2))
                    .until(() -> relay.progress().polls() >= polls + 2);
            return burnt;
        }
    }

    /** Returns the lowest id of the transactions that wrote them. */
    private static long insertFive(EngineRig rig) throws SQLException {
        try (Connection connection = rig.connect()) {
            for (int i = 0; i < 5; i++) {
                rig.insert(connection, "k", "after " + i);
            }
        }
        return rig.number(
                "select min(tx::text::bigint) from (select tx from outbox_event order by seq desc limit 5) e");
    }

    @Test
    void aHotStandbyIsRefused(@TempDir Path folder) throws Exception {
        Files.setPosixFilePermissions(
                folder, PosixFilePermissions.fromString("rwxrwxrwx")); // The server's user is not root.
        Path data = folder.resolve("data");
        try (PostgresServer standby =
                PostgresServer.create().withDataDirectory(data).start()) {
            EngineRig rig = new EngineRig(OutboxDatabaseFixture.create(standby)).withTopic();
            standby.stop();
            Files.createFile(data.resolve("standby.signal"));
            standby.start();
            RelayException refusal = rig.start().refusal();
            assertThat(refusal.exitCode()).isEqualTo(ExitCode.DATABASE);
            assertThat(refusal).hasMessageContaining("hot standby").hasMessageContaining("primary");
        }
    }
}
