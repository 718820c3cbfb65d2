package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an operator sees of the parked events, and the operator's decisions. This class only changes rows; the relay
 * that owns the lease does the rest. Each change names the states that it starts from, so all changes are idempotent.
 */
public final class ParkedRows {
    /** Blocked rows are counted up to this number. */
    public static final int COUNTED = 100_000;

    private static final String LIST = """
            -- parked: list
            select p.number, p.state, p.topic, p.key, p.id, p.type, p.attempts, p.since, p.error,
              (select count(*) from (
                select from {parked} b where b.relay = p.relay and b.topic = p.topic and b.key = p.key
                  and b.number > p.number limit ?) c) as behind
            from {parked} p
            where p.relay = ? and p.state <> 'behind' and (?::text is null or p.topic = ?) order by p.number limit ?
            """;

    private static final String SHOW = """
            -- parked: show
            select number, state, topic, key, id, type, source, subject, occurred_at, content_type, headers,
              octet_length(payload), attempts, since, error, seq
            from {parked} where relay = ? and number = ?
            """;

    private static final String RETRY = """
            -- parked: retry
            update {parked} set state = 'ready', since = clock_timestamp()
            where relay = ? and state in ('refused', 'waiting') and (?::bigint is null or number = ?)
              and (?::text is null or topic = ?) and (?::text is null or key = ?)
            """;

    private static final String DISCARD = """
            -- parked: discard
            update {parked} set state = 'discarded'
            where relay = ? and number = ? and state in ('refused', 'waiting', 'behind', 'ready')
            """;

    private static final String STATE = """
            -- parked: state
            select state from {parked} where relay = ? and number = ?
            """;

    /** One key with its first row, or one event without a key. */
    public record Line(
            long number,
            ParkedState state,
            String topic,
            @Nullable String key,
            @Nullable String id,
            @Nullable String type,
            int attempts,
            OffsetDateTime since,
            @Nullable String error,
            int behind) {}

    /**
     * Selects parked events.
     *
     * @param number null selects any; the same holds for topic and key
     */
    public record Selection(
            @Nullable Long number,
            @Nullable String topic,
            @Nullable String key) {}

    private final Connection connection;
    private final OutboxSchema schema;
    private final String relay;

    public ParkedRows(Connection connection, OutboxSchema schema, String relay) {
        this.connection = connection;
        this.schema = schema;
        this.relay = relay;
    }

    /**
     * The first row of each key, and each row without a key.
     *
     * @param topic null: all topics
     */
    public List<Line> list(@Nullable String topic, int limit) throws SQLException {
        try (PreparedStatement select = prepare(LIST)) {
            select.setInt(1, COUNTED);
            select.setString(2, relay);
            select.setString(3, topic);
            select.setString(4, topic);
            select.setInt(5, limit);
            List<Line> lines = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    lines.add(new Line(
                            row.getLong("number"),
                            ParkedState.of(row.getString("state")),
                            row.getString("topic"),
                            row.getString("key"),
                            row.getString("id"),
                            row.getString("type"),
                            row.getInt("attempts"),
                            row.getObject("since", OffsetDateTime.class),
                            row.getString("error"),
                            row.getInt("behind")));
                }
            }
            return lines;
        }
    }

    /** Names and values of everything but the payload; empty if there is no such row. */
    public List<String[]> show(long number) throws SQLException {
        String[] names = {
            "number",
            "state",
            "topic",
            "key",
            "id",
            "type",
            "source",
            "subject",
            "occurred at",
            "content type",
            "headers",
            "payload bytes",
            "attempts",
            "since",
            "error",
            "seq"
        };
        try (PreparedStatement select = prepare(SHOW)) {
            select.setString(1, relay);
            select.setLong(2, number);
            List<String[]> values = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                if (row.next()) {
                    for (int i = 0; i < names.length; i++) {
                        String value = row.getString(i + 1);
                        values.add(new String[] {names[i], value == null ? "-" : value});
                    }
                }
            }
            return values;
        }
    }

    /** Gives refused and waiting events back to the relay; returns how many. */
    public int retry(Selection selection) throws SQLException {
        try (PreparedStatement update = prepare(RETRY)) {
            update.setString(1, relay);
            update.setObject(2, selection.number());
            update.setObject(3, selection.number());
            update.setString(4, selection.topic());
            update.setString(5, selection.topic());
            update.setString(6, selection.key());
            update.setString(7, selection.key());
            return update.executeUpdate();
        }
    }

    /** Discards one event; false if it does not exist or cannot be discarded now. */
    public boolean discard(long number) throws SQLException {
        try (PreparedStatement update = prepare(DISCARD)) {
            update.setString(1, relay);
            update.setLong(2, number);
            return update.executeUpdate() == 1;
        }
    }

    /** Null if there is no such row, or no longer. */
    public @Nullable ParkedState state(long number) throws SQLException {
        try (PreparedStatement select = prepare(STATE)) {
            select.setString(1, relay);
            select.setLong(2, number);
            try (ResultSet row = select.executeQuery()) {
                return row.next() ? ParkedState.of(row.getString(1)) : null;
            }
        }
    }

    private PreparedStatement prepare(String sql) throws SQLException {
        return connection.prepareStatement(ParkedTable.sql(sql, schema));
    }
}
