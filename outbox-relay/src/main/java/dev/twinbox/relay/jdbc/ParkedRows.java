package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an operator sees of the parked events, and the operator's decisions. This class only changes rows; the relay
 * that owns the lease does the rest. Each change names the states that it starts from, so all changes are idempotent.
 * Each statement looks at a bounded number of events, in a transaction of its own.
 */
public final class ParkedRows {
    /** No count goes beyond. */
    private static final int MOST_COUNTED = 1_000_000;

    private static final String LISTED =
            "p.number, p.state, p.topic, p.key, p.id, p.type, p.attempts, p.since, p.error,"
                    + " case when p.state = 'waiting' and p.partition >= 0 then p.partition end as partition";

    /**
     * Events that only wait for another one come last, so that they do not hide what needs the operator. They are not
     * read if the others fill the list.
     */
    private static final String LIST = """
            -- parked: list
            with first as materialized (
              select {listed}, 0 as part from {parked} p
              where p.relay = ?{selection} and p.state <> 'behind' order by p.number limit ?
            ), behind as (
              select {listed}, 1 as part from {parked} p
              where p.relay = ?{selection} and p.state = 'behind' order by p.number
              limit (select ? - count(*) from first)
            )
            select * from first union all select * from behind order by part, number
            """.replace("{listed}", LISTED);

    private static final String PAGE = """
            -- parked: page
            select {listed} from {parked} p where p.relay = ?{selection}{states} and p.number > ? order by p.number limit ?
            """.replace("{listed}", LISTED);

    private static final String COUNT = """
            -- parked: count
            select count(*) from (select from {parked} p where p.relay = ?{selection}{states} limit ?) found
            """;

    private static final String SHOW = """
            -- parked: show
            select {listed}, p.seq, p.source, p.subject, to_json(p.occurred_at) #>> '{}' as occurred_at, p.content_type,
              array(select unnest(p.headers)) as headers, octet_length(p.payload) as payload_bytes,
              (select count(*) from (
                select from {parked} b where b.relay = p.relay and {same} and b.number > p.number limit ?) c) as behind
            from {parked} p where p.relay = ? and p.number = ?
            """.replace("{listed}", LISTED).replace("{same}", ParkedTable.sameKey("b", "p"));

    private static final String SENDING = """
            -- parked: which of these are being sent
            select p.number from {parked} p where p.relay = ?{selection} and p.state = 'sending' order by p.number limit ?
            """;

    /**
     * A parked event as it is listed.
     *
     * @param partition that it waits for; null if it does not wait for one
     * @param parkedAt when it was parked, or last given back to the relay by an operator
     */
    public record Line(
            long number,
            ParkedState state,
            String topic,
            @Nullable Integer partition,
            @Nullable String key,
            @Nullable String id,
            @Nullable String type,
            int attempts,
            Instant parkedAt,
            @Nullable String error) {}

    /** A header of an event. What a broken row lacks is null. */
    public record Header(@Nullable String name, @Nullable String value) {}

    /**
     * All that is known of an event except its payload.
     *
     * @param occurredAt ISO 8601, or {@code infinity}
     * @param behind how many later events of its key are parked
     */
    public record Details(
            Line line,
            long seq,
            @Nullable String source,
            @Nullable String subject,
            @Nullable String occurredAt,
            @Nullable String contentType,
            List<Header> headers,
            @Nullable Integer payloadBytes,
            long behind) {}

    private final Connection connection;
    private final OutboxSchema schema;
    private final String relay;
    private final ParkedChanges changed;

    /** @param connection in auto-commit */
    public ParkedRows(Connection connection, OutboxSchema schema, String relay) {
        this(connection, schema, relay, events -> {});
    }

    /**
     * As {@link #ParkedRows(Connection, OutboxSchema, String)}.
     *
     * @param changes is not called if a statement has changed nothing
     */
    public ParkedRows(Connection connection, OutboxSchema schema, String relay, ParkedChanges.Listener changes) {
        this.connection = connection;
        this.schema = schema;
        this.relay = relay;
        this.changed = new ParkedChanges(connection, schema, relay, changes);
    }

    /** In the order in which they were parked. Events that only wait for an earlier one of their key come last. */
    public List<Line> list(ParkedSelection which, int most) throws SQLException {
        try (PreparedStatement select = prepare(LIST, which)) {
            int next = bind(select, 1, which);
            select.setInt(next, most);
            next = bind(select, next + 1, which);
            select.setInt(next, most);
            List<Line> lines = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    lines.add(line(row));
                }
            }
            return lines;
        }
    }

    /**
     * In the order in which they were parked.
     *
     * @param state null: all
     * @param after number of the last event of the page before; 0: this is the first page
     */
    public List<Line> page(ParkedSelection which, @Nullable ParkedState state, long after, int most)
            throws SQLException {
        String states = state == null ? "" : " and p.state = '" + state.sql() + "'";
        try (PreparedStatement select = prepare(PAGE.replace("{states}", states), which)) {
            int next = bind(select, 1, which);
            select.setLong(next, after);
            select.setInt(next + 1, most);
            List<Line> lines = new ArrayList<>();
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    lines.add(line(row));
                }
            }
            return lines;
        }
    }

    /** How many there are. */
    public long count(ParkedSelection which) throws SQLException {
        return count(which, "");
    }

    /** How many {@link #retry} would give back. */
    public long countRetryable(ParkedSelection which) throws SQLException {
        return count(which, ParkedChanges.CAN_BE_RETRIED);
    }

    /** How many {@link #discard} would discard. */
    public long countDiscardable(ParkedSelection which) throws SQLException {
        return count(which, ParkedChanges.CAN_BE_DISCARDED);
    }

    private long count(ParkedSelection which, String states) throws SQLException {
        try (PreparedStatement select = prepare(COUNT.replace("{states}", states), which)) {
            select.setInt(bind(select, 1, which), MOST_COUNTED);
            try (ResultSet row = select.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /** Null if there is no such event, or no longer. */
    public @Nullable Details show(long number) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(ParkedTable.sql(SHOW, schema))) {
            select.setInt(1, MOST_COUNTED);
            select.setString(2, relay);
            select.setLong(3, number);
            try (ResultSet row = select.executeQuery()) {
                return row.next() ? details(row) : null;
            }
        }
    }

    /** Gives refused and waiting events back to the relay; returns how many. One that is refused again stays so. */
    public long retry(ParkedSelection which) throws SQLException {
        return changed.retry(which);
    }

    /**
     * Discards events; returns how many. It leaves alone what is being sent, and what exactly-once publication has not
     * decided yet.
     */
    public long discard(ParkedSelection which) throws SQLException {
        return changed.discard(which);
    }

    /** The first of the selected events that are being sent; null if there is none. */
    public @Nullable Long firstSending(ParkedSelection which) throws SQLException {
        try (PreparedStatement select = prepare(SENDING, which)) {
            select.setInt(bind(select, 1, which), 1);
            try (ResultSet row = select.executeQuery()) {
                return row.next() ? row.getLong(1) : null;
            }
        }
    }

    private static Line line(ResultSet row) throws SQLException {
        return new Line(
                row.getLong("number"),
                ParkedState.of(row.getString("state")),
                row.getString("topic"),
                row.getObject("partition", Integer.class),
                row.getString("key"),
                row.getString("id"),
                row.getString("type"),
                row.getInt("attempts"),
                row.getObject("since", OffsetDateTime.class).toInstant(),
                row.getString("error"));
    }

    private static Details details(ResultSet row) throws SQLException {
        return new Details(
                line(row),
                row.getLong("seq"),
                row.getString("source"),
                row.getString("subject"),
                row.getString("occurred_at"),
                row.getString("content_type"),
                headers((@Nullable String[]) row.getArray("headers").getArray()),
                row.getObject("payload_bytes", Integer.class),
                row.getLong("behind"));
    }

    private static List<Header> headers(@Nullable String[] namesAndValues) {
        List<Header> headers = new ArrayList<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            headers.add(new Header(namesAndValues[i], i + 1 < namesAndValues.length ? namesAndValues[i + 1] : null));
        }
        return Collections.unmodifiableList(headers);
    }

    private int bind(PreparedStatement statement, int first, ParkedSelection which) throws SQLException {
        statement.setString(first, relay);
        return which.bind(connection, statement, first + 1);
    }

    private PreparedStatement prepare(String sql, ParkedSelection which) throws SQLException {
        return connection.prepareStatement(sql(sql, which, schema));
    }

    /** The list's statement. */
    static String listSql(ParkedSelection which, OutboxSchema schema) {
        return sql(LIST, which, schema);
    }

    static String sql(String statement, ParkedSelection which, OutboxSchema schema) {
        return ParkedTable.sql(statement.replace("{selection}", which.sql()), schema);
    }
}
