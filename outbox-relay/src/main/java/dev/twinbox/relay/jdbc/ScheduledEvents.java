package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;

/**
 * Moves scheduled events that are due into the event table. Only for the housekeeping thread, on its connection.
 *
 * <p>One statement deletes and inserts, so each is moved exactly once, whoever does it and whatever is killed meanwhile; their
 * numbers are drawn in it, in order of their times. What is remembered here only says where there is nothing to look for: all
 * that is due before {@code due} and is visible in {@code seen} has been moved. The remains of those rows, which an index keeps
 * as long as anything holds back vacuum, are therefore passed over, but for the first look of a connection. Being memory, it ends
 * with its connection, as every snapshot must, see {@link Position}.
 */
public final class ScheduledEvents {
    public static final int LIMIT = 1_000;

    private static final String EXISTS = """
            -- relay: is there a table of scheduled events
            select to_regclass(?) is not null
            """;

    /**
     * The first branch finds what has become due, the others what was due already when it was committed. Those must not be
     * found by their time, among all that was moved: {@code (…) is true} cannot be answered by an index, and {@code offset 0}
     * keeps the order out of the choice of one. The array keeps the planner from joining the whole table.
     */
    static final String MOVE = """
            -- relay: move scheduled events that are due
            with look as materialized (
              select pg_current_snapshot() as snapshot, clock_timestamp() as now),
            due as materialized (
              select number, deliver_at from (
                (select number, deliver_at from {scheduled}
                  where deliver_at >= ?::timestamptz and deliver_at <= (select now from look)
                  order by deliver_at, number limit {limit})
                union all
                (select number, deliver_at
                  from (select number, deliver_at from {scheduled}
                    where tx >= ?::xid8 and (deliver_at < ?::timestamptz) is true offset 0) f
                  order by deliver_at, number limit {limit})
                union all
                (select l.number, l.deliver_at from unnest(?::xid8[]) x(tx)
                  cross join lateral (
                    select number, deliver_at
                    from (select number, deliver_at from {scheduled} s
                      where s.tx = x.tx and (s.deliver_at < ?::timestamptz) is true offset 0) f
                    order by deliver_at, number limit {limit}) l)
              ) d order by deliver_at, number limit {limit}),
            gone as (
              delete from {scheduled} where number = any (array(select number from due))
              returning number, deliver_at, {columns}),
            moved as (
              insert into {events} ({columns}) select {columns} from gone order by deliver_at, number returning 1)
            select look.snapshot::text, look.now::text, (select count(*) from moved), (select count(*) from due),
              (select max(deliver_at) from due)::text, (select max(deliver_at) from due) >= ?::timestamptz
            from look
            """;

    private static final String COLUMNS =
            "id, topic, key, type, source, subject, occurred_at, content_type, headers, payload";

    private static final String ALWAYS = "-infinity";

    private final Connection connection;
    private final String sql;
    private Snapshot seen = Snapshot.EMPTY;
    private String due = ALWAYS;

    public ScheduledEvents(Connection connection, OutboxSchema tables) {
        this.connection = connection;
        this.sql = sql(tables);
    }

    static String sql(OutboxSchema tables) {
        return MOVE.replace("{columns}", COLUMNS)
                .replace("{limit}", Integer.toString(LIMIT))
                .replace("{scheduled}", tables.scheduled().sql())
                .replace("{events}", tables.events().sql());
    }

    /** Whether the schema has them: one of version 2 has not. */
    public static boolean areKnownTo(Connection connection, OutboxSchema tables) throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(EXISTS)) {
            exists.setString(1, tables.scheduled().sql());
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    /** Moves what is due; returns how many events. */
    public int runOnce() throws SQLException {
        int all = 0;
        boolean full;
        do {
            try (PreparedStatement move = connection.prepareStatement(sql)) {
                bind(move);
                try (ResultSet row = move.executeQuery()) {
                    row.next();
                    all += row.getInt(3);
                    full = row.getInt(4) == LIMIT;
                    if (full) {
                        rememberCut(row);
                    } else {
                        rememberAll(row);
                    }
                }
            }
        } while (full);
        return all;
    }

    private void bind(PreparedStatement move) throws SQLException {
        move.setObject(1, due, Types.OTHER);
        move.setObject(2, seen.xmax(), Types.OTHER);
        move.setObject(3, due, Types.OTHER);
        move.setObject(4, seen.inProgress(), Types.OTHER);
        move.setObject(5, due, Types.OTHER);
        move.setObject(6, due, Types.OTHER);
    }

    private void rememberAll(ResultSet row) throws SQLException {
        seen = Snapshot.parse(row.getString(1));
        due = row.getString(2);
    }

    /**
     * The limit has cut something off: of what is due last, at {@code max}, there may be more. Of what became due late, before
     * {@code due}, there is no more if {@code max} is after it.
     */
    private void rememberCut(ResultSet row) throws SQLException {
        if (row.getBoolean(6)) {
            seen = Snapshot.parse(row.getString(1));
            due = row.getString(5);
        }
    }
}
