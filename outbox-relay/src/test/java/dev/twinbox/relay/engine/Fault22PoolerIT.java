package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.TestPooler;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A pooler hid a crash of PostgreSQL: the relay's connections stayed, and so did its open window. Transaction ids were
 * issued again after the crash. The window took their events for sent.
 */
@Tag("proof")
class Fault22PoolerIT {
    private static final int ROUNDS = 15;
    private static final int EVENTS = 20;
    private static final Duration SOON = Duration.ofSeconds(30);

    private static PostgresServer server;

    @BeforeAll
    static void start(@TempDir Path folder) throws IOException {
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path trust = Files.writeString(folder.resolve("pg_hba.conf"), "host all all 127.0.0.1/32 trust\n");
        Files.setPosixFilePermissions(trust, PosixFilePermissions.fromString("rw-r--r--"));
        // Otherwise the WAL writer makes the ids of aborted transactions durable within 200 ms.
        server = PostgresServer.create()
                .withSetting("hba_file", trust.toString())
                .withSetting("wal_writer_delay", "10s")
                .withSetting("bgwriter_delay", "10s")
                .start();
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    @Test
    void aCrashThatAPoolerHidesIsNoticedBeforeTheWindowIsUsedAgain() throws Exception {
        try (EngineRig rig = new EngineRig(OutboxDatabaseFixture.create(server)).withTopic();
                TestPooler pooler = new TestPooler(TestPooler.Mode.SESSION_THAT_HIDES_CRASHES, server.port())) {
            EngineRig.Running relay = startBehind(pooler, rig);
            boolean reused = false;
            for (int round = 0; round < ROUNDS && !reused; round++) {
                long burnt = ReissuedIds.readBehindRolledBackTransactions(rig, relay);
                pooler.pause();
                server.kill();
                server.start();
                reused = ReissuedIds.insert(rig, EVENTS) <= burnt;
                pooler.resume();
                long committed = rig.number("select count(*) from outbox_event");
                await("all committed events").atMost(SOON).until(() -> rig.recordCount() >= committed);
            }
            assertThat(reused).as("an id came again").isTrue();
            rig.assertExact();
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    /** What the relay sets for its sessions would not hold there: durable saves, and that no row is hidden. */
    @Test
    void aPoolerInTransactionModeIsRefusedAtStart() throws Exception {
        try (EngineRig rig = new EngineRig(OutboxDatabaseFixture.create(server)).withTopic();
                TestPooler pooler = new TestPooler(TestPooler.Mode.TRANSACTION, server.port())) {
            EngineRig.Running relay = startBehind(pooler, rig);
            await("it ends, or runs")
                    .atMost(SOON)
                    .until(() -> relay.end().isDone() || relay.progress().hasPolled());
            assertThat(relay.end()).isCompletedExceptionally();
            RelayException refusal = relay.refusal();
            assertThat(refusal.exitCode()).isEqualTo(ExitCode.DATABASE);
            assertThat(refusal).hasMessageContainingAll("transaction", "pooler", "session");
        }
    }

    private static EngineRig.Running startBehind(TestPooler pooler, EngineRig rig) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(pooler.jdbcUrl(rig.database.name()));
        rig.relayDatabase = new OutboxDatabase(source, Duration.ofSeconds(20));
        return rig.start();
    }
}
