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
 * The committed events that a position has not passed yet. Counting stops at a limit. So the cost grows neither with
 * history nor with what is unsent.
 *
 * @param events committed events after the position, at most {@link #LIMIT}
 * @param oldest age of the oldest of those counted, by the time that the application gave it; null if there are none
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
            from ({branches} limit ?) b
            """;

    /** Without an open window nothing beyond {@code from} is sent yet. In this order no row that is sent is read. */
    private static final String CLOSED = """
            (select topic, occurred_at from {events} where tx >= ?::xid8 order by tx, seq limit ?)
            union all
            (select l.* from unnest(?::xid8[]) x(tx)
              cross join lateral (
                select topic, occurred_at from {events} e
                where (e.tx, e.seq) > (x.tx, -9223372036854775808) and e.tx <= x.tx
                order by e.tx, e.seq limit ?) l)""";

    /**
     * The first branch is what comes after the last page. Only if that is little, the others are read: what began
     * after {@code to} or was in progress in it, with smaller numbers, and what was in progress in {@code from}.
     */
    private static final String OPEN = """
            (select topic, occurred_at from {events}
              where (tx >= ?::xid8) is true and seq > ?::bigint order by seq limit ?)
            union all
            (select topic, occurred_at from {events}
              where tx >= ?::xid8 and seq <= ?::bigint order by tx, seq limit ?)
            union all
            (select l.* from unnest(?::xid8[]) x(tx)
              cross join lateral (
                select topic, occurred_at from {events} e
                where (e.tx, e.seq) > (x.tx, -9223372036854775808) and (e.tx, e.seq) <= (x.tx, ?::bigint)
                order by e.tx, e.seq limit ?) l
              where x.tx >= ?::xid8)
            union all
            (select l.* from unnest(?::xid8[]) x(tx)
              cross join lateral (
                select topic, occurred_at from {events} e
                where e.tx <= x.tx and (e.tx, e.seq) > (x.tx,
                  case when pg_visible_in_snapshot(x.tx, ?::pg_snapshot) then ?::bigint
                    else -9223372036854775808 end)
                order by e.tx, e.seq limit ?) l)""";

    public static Backlog behind(Position position, Connection connection, SqlIdentifier events) throws SQLException {
        Snapshot to = position.to();
        String sql = COUNT.replace("{branches}", to == null ? CLOSED : OPEN).replace("{events}", events.sql());
        try (PreparedStatement count = connection.prepareStatement(sql)) {
            int last = to == null ? bind(count, position.from()) : bind(count, position.from(), to, position.seq());
            count.setInt(last, LIMIT);
            try (ResultSet row = count.executeQuery()) {
                row.next();
                double age = row.getDouble(2);
                Duration oldest = row.wasNull() ? null : Duration.ofMillis((long) (age * 1_000));
                return new Backlog(row.getInt(1), oldest, topics(row.getArray(3)));
            }
        }
    }

    /** Returns the next free index. */
    private static int bind(PreparedStatement count, Snapshot from) throws SQLException {
        count.setObject(1, from.xmax(), Types.OTHER);
        count.setInt(2, LIMIT);
        count.setObject(3, from.inProgress(), Types.OTHER);
        count.setInt(4, LIMIT);
        return 5;
    }

    private static int bind(PreparedStatement count, Snapshot from, Snapshot to, long seq) throws SQLException {
        count.setObject(1, from.xmax(), Types.OTHER);
        count.setLong(2, from.floor() == null ? seq : Math.max(seq, from.floor()));
        count.setInt(3, LIMIT);
        count.setObject(4, to.xmax(), Types.OTHER);
        count.setLong(5, seq);
        count.setInt(6, LIMIT);
        count.setObject(7, to.inProgress(), Types.OTHER);
        count.setLong(8, seq);
        count.setInt(9, LIMIT);
        count.setObject(10, from.xmax(), Types.OTHER);
        count.setObject(11, from.inProgress(), Types.OTHER);
        count.setObject(12, to.text(), Types.OTHER);
        count.setLong(13, seq);
        count.setInt(14, LIMIT);
        return 15;
    }

    private static SortedSet<String> topics(@Nullable Array array) throws SQLException {
        SortedSet<String> topics = new TreeSet<>();
        if (array != null) {
            topics.addAll(Arrays.asList((String[]) array.getArray()));
        }
        return topics;
    }
}
