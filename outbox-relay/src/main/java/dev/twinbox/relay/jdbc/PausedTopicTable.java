package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Collections;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The table of the topics that an operator has paused, with a row for each relay name and topic. Only an operator changes
 * it. Tables of an earlier version do not have it. Bound to one connection; not for several threads.
 */
public final class PausedTopicTable {
    private static final String EXISTS = """
            -- relay: can topics be paused
            select to_regclass(?) is not null
            """;

    private static final String TOPICS = """
            -- relay: paused topics
            select topic, since from {paused} where relay = ?
            """;

    private static final String HELD = """
            -- relay: topics that wait for a job
            select h.topic, r.requested_at from {resend} r cross join unnest(r.held) h(topic)
            where r.relay = ? and r.state in ('requested', 'running')
            """;

    private static final String PAUSE = """
            -- relay: pause a topic
            insert into {paused} (relay, topic) values (?, ?) on conflict do nothing
            """;

    private static final String RESUME = """
            -- relay: resume a topic
            delete from {paused} where relay = ? and topic = ? returning since
            """;

    /**
     * Waiting for a topic or partition stands still during a pause. Later events of the topic wait for its end only. The
     * length is in seconds: an interval in days would depend on the session's time zone.
     */
    private static final String GO_ON_WAITING = """
            -- relay: time of a pause does not count as waiting
            update {parked}
            set since = since + make_interval(secs => extract(epoch from clock_timestamp() - greatest(since, ?)))
            where relay = ? and state = 'waiting' and topic = ? and partition <> {for_resume}
            """.replace("{for_resume}", Integer.toString(ParkReason.PAUSED));

    private final Connection connection;
    private final OutboxSchema schema;
    private final String relay;
    private boolean isThere; // a table that was seen is not looked for again
    private boolean resendIsThere;

    public PausedTopicTable(Connection connection, OutboxSchema schema, String relay) {
        this.connection = connection;
        this.schema = schema;
        this.relay = relay;
    }

    /** Whether topics can be paused: the tables are new enough. */
    public boolean exists() throws SQLException {
        isThere = isThere || exists(schema.paused());
        return isThere;
    }

    private boolean exists(SqlIdentifier table) throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(EXISTS)) {
            exists.setString(1, table.sql());
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    /** The paused topics of the relay, each with the beginning of its pause by the database's clock. */
    public SortedMap<String, Instant> topics() throws SQLException {
        SortedMap<String, Instant> topics = new TreeMap<>();
        if (exists()) {
            try (PreparedStatement select = prepare(TOPICS)) {
                select.setString(1, relay);
                try (ResultSet row = select.executeQuery()) {
                    while (row.next()) {
                        topics.put(
                                row.getString(1),
                                row.getObject(2, OffsetDateTime.class).toInstant());
                    }
                }
            }
        }
        return Collections.unmodifiableSortedMap(topics);
    }

    /**
     * The topics whose events are set aside: those that are paused, and compacted topics while a job sends their events
     * again. A role that may not read the table of jobs does no job.
     */
    public SortedMap<String, Instant> setAside() throws SQLException {
        SortedMap<String, Instant> topics = new TreeMap<>(topics());
        if (resendIsThere || exists(schema.resend())) {
            resendIsThere = true;
            try (PreparedStatement select = prepare(HELD)) {
                select.setString(1, relay);
                try (ResultSet row = select.executeQuery()) {
                    while (row.next()) {
                        topics.putIfAbsent(
                                row.getString(1),
                                row.getObject(2, OffsetDateTime.class).toInstant());
                    }
                }
            } catch (SQLException e) {
                if (!SqlState.INSUFFICIENT_PRIVILEGE.isOf(e)) {
                    throw e;
                }
            }
        }
        return Collections.unmodifiableSortedMap(topics);
    }

    /** Pauses a topic; false if it was paused before. It need not exist on Kafka. */
    public boolean pause(String topic) throws SQLException {
        try (PreparedStatement pause = prepare(PAUSE)) {
            pause.setString(1, relay);
            pause.setString(2, topic);
            return pause.executeUpdate() == 1;
        }
    }

    /** Resumes a topic, in the transaction of the connection; false if it was not paused. */
    public boolean resume(String topic) throws SQLException {
        try (PreparedStatement resume = prepare(RESUME)) {
            resume.setString(1, relay);
            resume.setString(2, topic);
            try (ResultSet row = resume.executeQuery()) {
                if (!row.next()) {
                    return false;
                }
                goOnWaiting(topic, row.getObject(1, OffsetDateTime.class));
                return true;
            }
        }
    }

    private void goOnWaiting(String topic, OffsetDateTime pausedSince) throws SQLException {
        try (PreparedStatement update = prepare(GO_ON_WAITING)) {
            update.setObject(1, pausedSince);
            update.setString(2, relay);
            update.setString(3, topic);
            update.executeUpdate();
        }
    }

    private PreparedStatement prepare(String sql) throws SQLException {
        return connection.prepareStatement(
                sql.replace("{paused}", schema.paused().sql())
                        .replace("{resend}", schema.resend().sql())
                        .replace("{parked}", schema.parked().sql()));
    }
}
