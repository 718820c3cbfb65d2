package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.PostgresServer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a database that crashes, or is not the one it was, does to a position. On a server of its own. */
class DatabaseCrashIT {
    private static final int ROUNDS = 15;

    private static PostgresServer server;

    @BeforeAll
    static void start() {
        // Left alone, the WAL writer would make the ids of aborted transactions known to recovery within 200 ms.
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
     * Transactions that were rolled back before a crash may have left nothing, and their ids are issued again. In a snapshot
     * taken before the crash those ids have ended; whoever still uses it takes the new transactions for old ones.
     */
    @Test
    void idsThatAreIssuedAgainAfterACrashAreNotTakenForSent() throws Exception {
        try (EngineRig rig = new EngineRig(OutboxDatabaseFixture.create(server)).withTopic()) {
            EngineRig.Running relay = rig.start();
            int reused = 0;
            for (int round = 0; round < ROUNDS && reused == 0; round++) {
                long burnt = crashBehindRolledBackTransactions(rig, relay);
                try (Connection connection = rig.connect()) {
                    for (int i = 0; i < 5; i++) {
                        rig.insert(connection, "k", round + " " + i);
                    }
                    if (rig.number(
                                    "select min(tx::text::bigint) from (select tx from outbox_event order by seq desc limit 5) e")
                            <= burnt) {
                        reused++;
                    }
                }
                rig.awaitRecords(rig.number("select count(*) from outbox_event"));
            }
            assertThat(reused).as("rounds in which an id came again").isPositive();
            rig.assertExact();
        }
    }

    /** Returns the highest id that was rolled back. */
    private static long crashBehindRolledBackTransactions(EngineRig rig, EngineRig.Running relay) throws SQLException {
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
            server.kill();
            server.start();
            return burnt;
        } finally {
            await().until(() -> relay.progress().databaseCause() == null);
        }
    }

    @Test
    void aHotStandbyIsRefused(@TempDir Path folder) throws Exception {
        Files.setPosixFilePermissions(
                folder, PosixFilePermissions.fromString("rwxrwxrwx")); // the server's user is not root
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
