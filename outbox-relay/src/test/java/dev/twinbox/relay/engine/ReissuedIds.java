package dev.twinbox.relay.engine;

import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;

/** Transaction ids that left nothing durable. PostgreSQL can issue them again after a crash. */
final class ReissuedIds {

    private ReissuedIds() {}

    /** Returns the highest id that was rolled back. The relay has seen that all of them have ended. */
    static long readBehindRolledBackTransactions(EngineRig rig, EngineRig.Running relay) throws SQLException {
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

    /** Inserts events, each in a transaction of its own. Returns the lowest id of these transactions. */
    static long insert(EngineRig rig, int events) throws SQLException {
        try (Connection connection = rig.connect()) {
            for (int i = 0; i < events; i++) {
                rig.insert(connection, "k", "after " + i);
            }
        }
        return rig.number("select min(tx::text::bigint) from (select tx from outbox_event order by seq desc limit "
                + events + ") e");
    }
}
