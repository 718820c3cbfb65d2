package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import java.net.http.HttpResponse;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * MARK-FAIL: publishing succeeds, and saving the position after it fails. Saving needs a share lock on the lease's row.
 * A lock on this row stops the relay exactly between the last acknowledgement and the saved position.
 */
@Tag("proof")
class Scenario14MarkFailIT {
    private static final int EVENTS = 50;

    @Test
    void aCutBetweenAcknowledgementAndSavedPositionRepeatsAndLosesNone() throws Exception {
        try (RelayRig rig = RelayRig.create();
                TcpProxy proxy = TcpProxy.to("127.0.0.1", RelayRig.POSTGRES.port())) {
            RelayProcess relay = rig.startRelay(
                    Map.of("twinbox.relay.database.url", RelayRig.POSTGRES.jdbcUrl(rig.database(), proxy)));

            sendWithoutSaving(rig, proxy::cut);
            await("not ready, with the cause").until(() -> {
                HttpResponse<String> ready = RelayMetrics.get(relay, "/health/ready");
                return ready.statusCode() == 503 && ready.body().contains("\"name\":\"database\",\"status\":\"DOWN\"");
            });
            proxy.heal();

            assertRepeatedAndExact(rig, relay);
        }
    }

    @Test
    void aKillBetweenAcknowledgementAndSavedPositionRepeatsAndLosesNone() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(Map.of());

            sendWithoutSaving(rig, relay::kill);
            // The remaining lease of the killed relay is not under test.
            rig.execute("update " + rig.tables().lease() + " set ends_at = clock_timestamp()");
            relay.start();

            assertRepeatedAndExact(rig, relay);
        }
    }

    private static void sendWithoutSaving(RelayRig rig, Runnable fault) throws SQLException {
        try (Connection locker = rig.connect();
                Connection writer = rig.connect()) {
            locker.setAutoCommit(false);
            execute(locker, "select 1 from " + rig.tables().lease() + " for update");
            writer.setAutoCommit(false);
            for (int i = 0; i < EVENTS; i++) {
                rig.insert(writer, "key" + i % 5);
            }
            writer.commit();
            rig.awaitRecords(EVENTS);
            assertThat(rig.saves()).isZero();
            fault.run();
            // The statements of the relay's sessions must not run when the lock is released.
            execute(
                    writer,
                    "select pg_terminate_backend(pid) from pg_stat_activity "
                            + "where datname = current_database() and application_name like 'twinbox-relay%'");
            writer.commit();
        }
    }

    private static void assertRepeatedAndExact(RelayRig rig, RelayProcess relay) throws SQLException {
        rig.awaitRecords(2 * EVENTS);
        await("the position is saved").until(() -> rig.saves() > 0);
        rig.assertExact();
        Set<String> ids = new HashSet<>();
        for (ConsumerRecord<byte[], byte[]> record : rig.records()) {
            ids.add(RelayRig.id(record));
        }
        assertThat(ids).hasSize(EVENTS);
        relay.awaitReady();
        await("nothing unsent").until(() -> unsent(rig) == 0);
    }

    static int unsent(RelayRig rig) throws SQLException {
        try (Connection connection = rig.connect()) {
            Position position =
                    new PositionTable(connection, rig.tables(), "relay").load().position();
            return Backlog.behind(position, connection, rig.tables().events()).events();
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
