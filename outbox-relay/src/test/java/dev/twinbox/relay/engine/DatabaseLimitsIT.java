package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.jdbc.ParkedState;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The database has limits for its sessions, as hosters set them. They must not end the relay's session. */
@Tag("proof")
@Timeout(120)
class DatabaseLimitsIT {

    @Test
    void aLimitForIdleSessionsEndsNoSessionOfTheRelay() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = OutboxDatabaseFixture.server().connect("postgres")) {
            rig.execute("alter database " + rig.database.name() + " set idle_session_timeout = '700ms'");
            rig.execute("alter database " + rig.database.name() + " set lock_timeout = '50ms'");
            EngineRig.Running relay = rig.start();
            try (Connection application = rig.connect()) {
                // From now on two of the relay's connections are used for parked events only.
                OutboxDatabaseFixture.insert(
                        application, "missing-" + rig.topic, "k", "x".getBytes(StandardCharsets.UTF_8));
                rig.awaitParked(ParkedState.WAITING, 1);
            }
            for (int i = 0; i < 3; i++) { // Longer than the relay needs to begin another session.
                awaitEndOfAnIdleSession(rig, connection);
            }
            try (Connection application = rig.connect()) {
                rig.insert(application, "k", "after");
            }
            rig.awaitRecords(1);
            assertThat(rig.number("select epoch from outbox_lease"))
                    .as("the first lease")
                    .isOne();
            assertThat(relay.end()).isNotDone();
        }
    }

    private static void awaitEndOfAnIdleSession(EngineRig rig, Connection connection) throws SQLException {
        try (Connection idle = rig.connect()) {
            String pid = OutboxDatabaseFixture.query(idle, "select pg_backend_pid()");
            await("the limit ends a session")
                    .until(() -> OutboxDatabaseFixture.query(
                                    connection, "select count(*) from pg_stat_activity where pid = " + pid)
                            .equals("0"));
        }
    }
}
