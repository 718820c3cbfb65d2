package dev.twinbox.proof.matrix;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;

/** A database with an outbox: writes events and reads its tables. */
final class OutboxBook {
    private static final Duration LIMIT = Duration.ofMinutes(4);

    private static final String INSERT = """
            insert into outbox_event (slot, id, topic, key, type, source, occurred_at, content_type, payload)
            values (?, ?, ?, ?, 'proof.happened', '/proof', clock_timestamp(), 'text/plain', ?)""";

    /** Counts the events that are not before the relay's position, as the relay itself does. */
    private static final String AHEAD_OF_POSITION = """
            select count(*)
              from outbox_event e
              left join (select * from outbox_position order by number desc limit 1) p on true
             where e.topic like ?
               and (pg_visible_in_snapshot(e.tx, p.window_from)
                    or (p.window_to is not null and pg_visible_in_snapshot(e.tx, p.window_to) and e.seq <= p.seq))
                   is not true""";

    /** Counts prepared positions, which are valid if Kafka has committed them. */
    private static final String PREPARED = """
            select count(*)
              from (select * from outbox_position order by number desc limit 1) p
             where next_from is not null and ? <> ''""";

    /** Microseconds since 1970. */
    private static final String LEASE_END =
            "select (extract(epoch from ends_at) * 1000000)::bigint from outbox_lease where relay like ?";

    private static final String PARKED = "select count(*) from outbox_parked where topic like ?";
    private static final String ALL = "select count(*) from outbox_event where topic like ?";

    private final PostgresServer postgres;
    private final String name;

    OutboxBook(ProofServers servers, String name) throws SQLException {
        this.postgres = servers.postgres();
        this.name = name;
        servers.createOutboxDatabase(name);
        // The active slot stays the same, whatever the hour.
        execute("alter table outbox_event alter column slot set default 0::smallint");
    }

    /** Inserts and commits one event whose payload is its id; returns the id. */
    String insert(String topic, String key) throws SQLException {
        return insertTogether(1, 0, topic, key).get(0);
    }

    /** Inserts several events in one transaction, so that no page begins among them. */
    List<String> insertTogether(int events, int slot, String topic, String key) throws SQLException {
        List<String> ids = new ArrayList<>();
        try (Connection connection = postgres.connect(name);
                PreparedStatement insert = connection.prepareStatement(INSERT)) {
            connection.setAutoCommit(false);
            for (int i = 0; i < events; i++) {
                UUID id = UUID.randomUUID();
                insert.setInt(1, slot);
                insert.setObject(2, id);
                insert.setString(3, topic);
                insert.setString(4, key);
                insert.setBytes(5, id.toString().getBytes(StandardCharsets.UTF_8));
                insert.executeUpdate();
                ids.add(id.toString());
            }
            connection.commit();
        }
        return ids;
    }

    /** Waits until all events of topics with this prefix are sent or parked, and the relay has saved its position. */
    void awaitSent(String topic, RelayProcess relay) {
        awaitCount(AHEAD_OF_POSITION, topic, 0, relay);
    }

    void awaitParked(String topic, int events, RelayProcess relay) {
        awaitCount(PARKED, topic, events, relay);
    }

    /** Waits for the next renewal of the relay's lease. */
    void awaitRenewal(RelayProcess relay) throws SQLException {
        long before = count(LEASE_END, "");
        await("the lease of " + name + " is renewed")
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> count(LEASE_END, "") > before || !relay.isAlive());
        assertThat(relay.isAlive()).as(relay.log()).isTrue();
    }

    private void awaitCount(String sql, String topic, long wanted, RelayProcess relay) {
        await(sql + " = " + wanted + " for " + topic)
                .atMost(LIMIT)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> count(sql, topic) == wanted || !relay.isAlive());
        assertThat(relay.isAlive()).as(relay.log()).isTrue();
    }

    /** Describes the last events of topics with this prefix, for the matrix. There is one more event before them. */
    String describe(String topic, int events) throws SQLException {
        long ahead = count(AHEAD_OF_POSITION, topic);
        assertThat(ahead).as("events ahead of the position").isIn(0L, (long) events);
        String text = (count(ALL, topic) == 1 ? "slot empty" : "events") + ", position "
                + (ahead == 0 ? "after them" : "before them");
        if (count(PREPARED, topic) > 0) {
            text += ", the next one prepared";
        }
        long parked = count(PARKED, topic);
        return parked == 0 ? text : text + ", " + parked + " parked";
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = postgres.connect(name);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private long count(String sql, String topic) throws SQLException {
        try (Connection connection = postgres.connect(name);
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, topic + "%");
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }
}
