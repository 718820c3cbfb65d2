package dev.twinbox.relay.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.jdbc.Transactions;
import dev.twinbox.relay.OutboxDatabaseFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What happens to parked rows when their topic is paused and resumed. */
class PausedEventsIT {
    private Connection connection;
    private PausedTopicTable topics;
    private PausedEvents events;

    @BeforeEach
    void create() throws SQLException {
        connection = OutboxDatabaseFixture.create().connect();
        topics = new PausedTopicTable(connection, OutboxDatabaseFixture.SCHEMA, "relay");
        events = new PausedEvents(connection, OutboxDatabaseFixture.SCHEMA, "relay");
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    @Test
    void onlyTheFirstReadyRowOfAKeyOfThatTopicIsSetAside() throws SQLException {
        park("ready", "t", "k", -1);
        park("ready", "t", "k", -1);
        park("behind", "t", "k", -1);
        park("ready", "t", null, -1);
        park("ready", "other", "k", -1);
        park("refused", "t", "other", -1);
        execute("insert into outbox_parked (relay, state, seq, topic) values ('another', 'ready', 1, 't')");

        assertThat(events.setAside(Set.of("t", "unknown"))).isEqualTo(2);
        assertThat(events.setAside(Set.of("t", "unknown"))).isZero();
        assertThat(query("select string_agg(state || ' ' || partition, ', ' order by number) from outbox_parked"))
                .isEqualTo("waiting -2, ready -1, behind -1, waiting -2, ready -1, refused -1, ready -1");
        assertThat(query("select max(error) from outbox_parked where state = 'waiting'"))
                .isEqualTo(ParkReason.pausedTopic("t").error());
        assertThat(ParkedCauses.of(connection, OutboxDatabaseFixture.SCHEMA, "relay")
                        .groups())
                .first()
                .satisfies(group -> assertThat(group.cause()).isEqualTo(ParkedCauses.Cause.PAUSED));
    }

    @Test
    void allThatIsParkedOfTheTopicsIsCounted() throws SQLException {
        park("refused", "t", "k", -1);
        park("behind", "t", "k", -1);
        park("waiting", "other", null, -2);
        execute("update outbox_parked set payload = decode(repeat('00', 1000), 'hex') where topic = 't'");

        assertThat(events.count(Set.of("t"), 10)).isEqualTo(new PausedEvents.Size(2, 3_002));
        assertThat(events.count(List.of("t", "other"), 10)).isEqualTo(new PausedEvents.Size(3, 3_502));
        assertThat(events.count(Set.of(), 10)).isEqualTo(PausedEvents.Size.NOTHING);
        assertThat(events.count(List.of("t", "other"), 2).rows()).isEqualTo(2);
    }

    /** Rows that waited before have waited as long afterwards. Rows that came during the pause have not waited at all. */
    @Test
    void aPauseDoesNotCountAsWaiting() throws SQLException {
        assertThat(topics.pause("t")).isTrue();
        park("waiting", "t", "before", -1);
        park("waiting", "t", "partition", 2);
        park("waiting", "t", "paused", -2);
        park("waiting", "other", "other", -1);
        execute("update outbox_paused set since = clock_timestamp() - interval '10 hours'");
        execute("update outbox_parked set since = clock_timestamp() - interval '12 hours'");
        park("waiting", "t", "during", -1);
        execute("update outbox_parked set since = clock_timestamp() - interval '3 hours' where key = 'during'");

        assertThat(Transactions.<Boolean, RuntimeException>inTransaction(connection, () -> topics.resume("t")))
                .isTrue();
        assertThat(waited("before")).isEqualTo("2");
        assertThat(waited("partition")).isEqualTo("2");
        assertThat(waited("during")).isEqualTo("0");
        assertThat(waited("paused")).isEqualTo("12");
        assertThat(waited("other")).isEqualTo("12");
        assertThat(topics.topics()).isEmpty();
        assertThat(topics.resume("t")).isFalse();
    }

    private String waited(String key) throws SQLException {
        return query("select round(extract(epoch from clock_timestamp() - since) / 3600)::int from outbox_parked"
                + " where key = '" + key + "'");
    }

    private void park(String state, String topic, String key, int partition) throws SQLException {
        execute("insert into outbox_parked (relay, state, partition, error, seq, topic, key) values ('relay', '" + state
                + "', " + partition + ", 'e', 1, '" + topic + "', " + (key == null ? "null" : "'" + key + "'") + ")");
    }

    private void execute(String sql) throws SQLException {
        OutboxDatabaseFixture.execute(connection, sql);
    }

    private String query(String sql) throws SQLException {
        return OutboxDatabaseFixture.query(connection, sql);
    }
}
