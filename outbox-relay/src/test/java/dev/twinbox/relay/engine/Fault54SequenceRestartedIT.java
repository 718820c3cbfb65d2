package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.RelayConfig;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * The event table is emptied together with its sequence, as test suites do it. Numbers begin again at 1. The relay took
 * all of them for numbers that it had passed, if a thousand events or more were unsent.
 */
@Tag("proof")
@Timeout(120)
class Fault54SequenceRestartedIT {
    private static final int BEFORE = 2_500;

    enum Relay {
        RUNS,
        STOPPED,
        /** Nothing sees the event table at the moment between its emptying and its filling. */
        RUNS_AND_SEES_BOTH_AT_ONCE
    }

    /** @param after how many events are written then: the sequence stays below the former number, or passes it */
    @ParameterizedTest
    @CsvSource({
        "RUNS, 1500",
        "RUNS_AND_SEES_BOTH_AT_ONCE, 1500",
        "RUNS_AND_SEES_BOTH_AT_ONCE, 4000",
        "STOPPED, 1500",
        "STOPPED, 4000"
    })
    void whatIsWrittenAfterARestartOfTheSequenceIsSent(Relay state, int after) throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.page = new RelayConfig.Page(2000, 4_194_304, 4);
            EngineRig.Running relay = rig.start();
            insert(connection, rig.topic, BEFORE);
            await("the position has the floor of what is sent").until(() -> {
                rig.insert(connection, "k", "one more");
                return rig.number("select coalesce(max(from_floor), 0) from outbox_position") >= BEFORE;
            });
            long before = rig.number("select count(*) from outbox_event");
            rig.awaitRecords(before);
            if (state == Relay.STOPPED) {
                relay.stop();
            }
            connection.setAutoCommit(state != Relay.RUNS_AND_SEES_BOTH_AT_ONCE);
            OutboxDatabaseFixture.execute(connection, "truncate outbox_event restart identity");
            insert(connection, rig.topic, after);
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
            EngineRig.Running last = state == Relay.STOPPED ? rig.start() : relay;
            await("all of them")
                    .atMost(Duration.ofSeconds(20))
                    .pollInterval(Duration.ofMillis(200))
                    .untilAsserted(() -> assertThat(rig.recordCount()).isEqualTo(before + after));
            assertThat(last.end()).isNotDone();
        }
    }

    /** A few events are sent before anybody notices. The floor of the position is then one from before the restart. */
    @ParameterizedTest
    @CsvSource({"1500", "4000"})
    void aFewEventsAreSentAtOnceAndManyFollow(int after) throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.page = new RelayConfig.Page(2000, 4_194_304, 4);
            rig.start();
            insert(connection, rig.topic, BEFORE);
            rig.awaitRecords(BEFORE);
            OutboxDatabaseFixture.execute(connection, "truncate outbox_event restart identity");
            for (int i = 0; i < 3; i++) {
                rig.insert(connection, "k", "few");
                rig.awaitRecords(BEFORE + 1 + i);
            }
            insert(connection, rig.topic, after);
            await("all of them")
                    .atMost(Duration.ofSeconds(20))
                    .pollInterval(Duration.ofMillis(200))
                    .untilAsserted(() -> assertThat(rig.recordCount()).isEqualTo(BEFORE + 3 + after));
        }
    }

    static void insert(Connection connection, String topic, int events) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement(
                "insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " select gen_random_uuid(), ?, 'key' || n % 10, 't', '/s', now(), 'text/plain',"
                        + " convert_to('event ' || n, 'UTF8') from generate_series(1, ?) n")) {
            insert.setString(1, topic);
            insert.setInt(2, events);
            insert.executeUpdate();
        }
    }
}
