package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The process that stood by ended with 4 when the address led to a hot standby during a fail-over, because it had never
 * sent anything itself. After that nobody stood by.
 */
@Tag("proof")
class Fault21StandbyProcessIT {
    private static final Duration SOON = Duration.ofSeconds(60);

    @Test
    void aProcessThatHasOnlyStoodByWaitsAFailOverOutAsTheOwnerDoes(@TempDir Path folder) throws Exception {
        try (CopiedServer servers = new CopiedServer(folder)) {
            OutboxDatabaseFixture database =
                    OutboxDatabaseFixture.create(servers.first().start());
            servers.first().stop();
            servers.copy();
            servers.makeStandby();
            servers.first().start();
            servers.second().start();
            try (EngineRig rig = new EngineRig(database).withTopic()) {
                rig.relayDatabase = new OutboxDatabase(servers.address(database.name()), Duration.ofSeconds(20));
                EngineRig.Running owner = rig.start();
                await("owner").until(() -> owner.progress().lease() == Progress.Lease.HELD);
                EngineRig.Running standby = rig.start();
                await("standby").until(() -> standby.progress().lease() == Progress.Lease.ELSEWHERE);

                servers.switchOver();
                servers.first().kill();
                for (EngineRig.Running each : List.of(owner, standby)) {
                    await("it ends, or sees the hot standby")
                            .atMost(SOON)
                            .until(() -> each.end().isDone()
                                    || String.valueOf(each.progress().databaseCause())
                                            .contains("hot standby"));
                    assertThat(each.end()).isNotDone();
                }

                try (Connection promoted = servers.second().connect(database.name())) {
                    OutboxDatabaseFixture.query(promoted, "select pg_promote()");
                    insert(rig, promoted, "after");
                    rig.awaitRecords(1);
                    assertThat(List.of(owner.end().isDone(), standby.end().isDone()))
                            .containsExactly(false, false);
                    EngineRig.Running sending =
                            owner.progress().lease() == Progress.Lease.HELD ? owner : standby;
                    assertThat(sending.stop()).isEqualTo(ExitCode.OK);
                    insert(rig, promoted, "sent by the other one");
                    rig.awaitRecords(2);
                }
            }
        }
    }

    private static void insert(EngineRig rig, Connection connection, String payload) throws Exception {
        OutboxDatabaseFixture.insert(connection, rig.topic, "k", payload.getBytes(StandardCharsets.UTF_8));
    }
}
