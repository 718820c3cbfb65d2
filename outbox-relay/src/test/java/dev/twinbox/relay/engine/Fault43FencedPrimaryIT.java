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
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * A primary was fenced by {@code default_transaction_read_only}, its connections stayed open. The relay had switched the
 * fence off for its own sessions, and went on writing there.
 */
@Tag("proof")
class Fault43FencedPrimaryIT {
    private static final Duration SOON = Duration.ofSeconds(30);
    private static final String LEASE = "select ends_at::text from outbox_lease";

    @Test
    void theRelayLeavesAFencedServerAndGoesOnWhereTheAddressLeads(@TempDir Path folder) throws Exception {
        try (CopiedServer servers = new CopiedServer(folder)) {
            OutboxDatabaseFixture database =
                    OutboxDatabaseFixture.create(servers.first().start());
            servers.first().stop();
            servers.copy();
            servers.first().start();
            servers.second().start();
            try (EngineRig rig = new EngineRig(database).withTopic();
                    Connection fenced = servers.first().connect(database.name());
                    Connection next = servers.second().connect(database.name())) {
                rig.relayDatabase = new OutboxDatabase(servers.address(database.name()), Duration.ofSeconds(20));
                EngineRig.Running relay = rig.start();
                insert(rig, fenced, "before");
                rig.awaitRecords(1);
                OutboxDatabaseFixture.execute(fenced, "alter system set default_transaction_read_only = on");
                OutboxDatabaseFixture.query(fenced, "select pg_reload_conf()");
                await("not ready").atMost(SOON).until(() -> String.valueOf(
                                relay.progress().databaseCause())
                        .contains("read-only"));
                String lease = OutboxDatabaseFixture.query(fenced, LEASE);

                servers.switchOver();
                insert(rig, next, "after");
                await("sent from the new primary").atMost(SOON).until(() -> rig.recordCount() == 2);
                await("ready").atMost(SOON).until(() -> relay.progress().databaseCause() == null
                        && relay.progress().lease() == Progress.Lease.HELD);
                assertThat(OutboxDatabaseFixture.query(fenced, LEASE))
                        .as("nothing was written behind the fence")
                        .isEqualTo(lease);
                assertThat(relay.stop()).isEqualTo(ExitCode.OK);
            }
        }
    }

    private static void insert(EngineRig rig, Connection connection, String payload) throws Exception {
        OutboxDatabaseFixture.insert(connection, rig.topic, "k", payload.getBytes(StandardCharsets.UTF_8));
    }
}
