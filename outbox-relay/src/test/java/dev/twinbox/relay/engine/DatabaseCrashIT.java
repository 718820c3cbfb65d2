package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

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
                long burnt = ReissuedIds.readBehindRolledBackTransactions(rig, relay);
                keptAway.set(true); // Until the ids are assigned: the relay's first query would correct the snapshot.
                server.kill();
                server.start();
                reused = ReissuedIds.insert(rig, 5) <= burnt;
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
