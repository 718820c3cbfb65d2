package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import java.util.Arrays;
import java.util.SortedSet;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The committed events that a position has not passed yet. Counting stops at a limit, so the cost does not grow with
 * history. {@link OutboxTable} explains the branches of the statement.
 *
 * @param events committed events after the position, at most {@link #LIMIT}
 * @param oldest age of the oldest of them, by the time that the application gave it; null if there are none
 * @param topics the topics of these events; a row without a topic adds none
 */
public record Backlog(int events, @Nullable Duration oldest, SortedSet<String> topics) {
    /** Counting stops here. */
    public static final int LIMIT = 10_000;

    private static final String COUNT = """
            -- relay: count backlog
            select count(*),
              extract(epoch from clock_timestamp() - min(occurred_at) filter (where isfinite(occurred_at)))::float8,
              array_agg(distinct topic) filter (where topic is not null)
            from (
              (select topic, occurred_at from {events}
                where (tx >= ?::xid8) is true
                  and seq >= coalesce(?::bigint,
                    (select min(seq) from (select seq from {events} where tx >= ?::xid8 offset 0) f))
                  and (seq > ? or not pg_visible_in_snapshot(tx, ?::pg_snapshot))
                order by seq limit ?)
              union all
              (select l.* from unnest(?::xid8[]) x(tx)
                cross join lateral (
                  select topic, occurred_at from {events} e
                  where (e.tx, e.seq) > (x.tx, -9223372036854775808) and e.tx <= x.tx
                    and (seq > ? or not pg_visible_in_snapshot(tx, ?::pg_snapshot))
                  order by e.tx, e.seq limit ?) l)
              limit ?
            ) b
            """;

    public static Backlog behind(Position position, Connection connection, SqlIdentifier events) throws SQLException {
        Snapshot from = position.from();
        // Without an open window nothing beyond `from` is sent yet, so every seq counts.
        long done = position.to() == null ? Long.MIN_VALUE : position.seq();
        String to = position.to() == null ? from.text() : position.to().text();
        try (PreparedStatement count = connection.prepareStatement(COUNT.replace("{events}", events.sql()))) {
            count.setObject(1, from.xmax(), Types.OTHER);
            if (from.isEmpty()) {
                count.setLong(2, Long.MIN_VALUE);
            } else {
                count.setNull(2, Types.BIGINT);
            }
            count.setObject(3, from.xmax(), Types.OTHER);
            count.setLong(4, done);
            count.setObject(5, to, Types.OTHER);
            count.setInt(6, LIMIT);
            count.setObject(7, from.inProgress(), Types.OTHER);
            count.setLong(8, done);
            count.setObject(9, to, Types.OTHER);
            count.setInt(10, LIMIT);
            count.setInt(11, LIMIT);
            try (ResultSet row = count.executeQuery()) {
                row.next();
                double age = row.getDouble(2);
                Duration oldest = row.wasNull() ? null : Duration.ofMillis((long) (age * 1_000));
                return new Backlog(row.getInt(1), oldest, topics(row.getArray(3)));
            }
        }
    }

    private static SortedSet<String> topics(@Nullable Array array) throws SQLException {
        SortedSet<String> topics = new TreeSet<>();
        if (array != null) {
            topics.addAll(Arrays.asList((String[]) array.getArray()));
        }
        return topics;
    }
}
