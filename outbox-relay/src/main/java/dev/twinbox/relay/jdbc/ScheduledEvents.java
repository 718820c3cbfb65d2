package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.FailureSubject;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves scheduled events that are due into the event table. Only for the housekeeping thread, on its connection.
 *
 * <p>One statement deletes and inserts, so each event is moved exactly once, even if several processes do it or one is
 * killed. The statement draws their numbers in order of their due times.
 *
 * <p>The fields {@code seen} and {@code due} only limit the search: all events due before {@code due} and visible in
 * {@code seen} have been moved. So a poll skips the dead index entries of moved rows, which stay while something holds
 * back vacuum. Only the first poll of a connection reads them. The fields end with the connection, as every snapshot
 * must, see {@link Position}.
 */
public final class ScheduledEvents {
    private static final Logger LOG = LoggerFactory.getLogger(ScheduledEvents.class);

    public static final int LIMIT = 1_000;

    private static final int SHRINKS_TO = 10;

    /**
     * How many events one statement moves. It shrinks when a statement takes too long, as it does if the events are
     * large, and it outlives the connection that may be lost then.
     */
    public static final class BatchSize {
        private int events = LIMIT;

        private void shrink() {
            events = Math.max(1, events / SHRINKS_TO);
        }

        private void reset() {
            events = LIMIT;
        }
    }

    private static final String EXISTS = """
            -- relay: is there a table of scheduled events
            select to_regclass(?) is not null
            """;

    /**
     * The first branch finds events that have become due. The others find events that were already due when they were
     * committed. These must not search by time, among all the moved rows. So {@code (…) is true} keeps the condition
     * out of the index, and {@code offset 0} keeps the order from choosing one. The array keeps the planner from
     * joining the whole table.
     */
    private static final String DUE = """
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
              ) d order by deliver_at, number limit {limit})""";

    static final String MOVE = """
            -- relay: move scheduled events that are due
            {due},
            gone as (
              delete from {scheduled} where number = any (array(select number from due))
              returning number, deliver_at, {columns}),
            moved as (
              insert into {events} ({columns}) select {columns} from gone order by deliver_at, number returning 1)
            select look.snapshot::text, look.now::text, (select count(*) from moved), (select count(*) from due),
              (select max(deliver_at) from due)::text, (select max(deliver_at) from due) >= ?::timestamptz, {mark}
            from look
            """.replace("{due}", DUE);

    private static final String LIST_DUE = """
            -- relay: list scheduled events that are due
            {due}
            select number from due order by deliver_at, number
            """.replace("{due}", DUE);

    private static final String MOVE_ONE = """
            -- relay: move one scheduled event
            with gone as (delete from {scheduled} where number = ? returning {columns})
            insert into {events} ({columns}) select {columns} from gone
            """;

    private static final String PARK_ONE = """
            -- relay: park a scheduled event
            with gone as (delete from {scheduled} where number = ? returning number, {columns})
            insert into {parked} (relay, state, error, attempts, seq, {columns})
            select ?, 'refused', ?, 1, number, {kept} from gone
            """;

    private static final String COLUMNS =
            "id, topic, key, type, source, subject, occurred_at, content_type, headers, payload";

    private static final String ALWAYS = "-infinity";

    private final Connection connection;
    private final OutboxSchema tables;
    private final String relay;
    private final ServerProcess process;
    private final BatchSize batch;
    private int parked;
    private Snapshot seen = Snapshot.EMPTY;
    private String due = ALWAYS;

    /**
     * Begins a search of its own.
     *
     * @param relay parks the events that the event table does not take
     * @param batch of all connections of a thread
     */
    public ScheduledEvents(Connection connection, OutboxSchema tables, String relay, BatchSize batch)
            throws SQLException {
        this.batch = batch;
        this.connection = connection;
        this.tables = tables;
        this.relay = relay;
        this.process = ServerProcess.mark(connection);
    }

    private String sql(String statement) {
        return statement
                .replace("{columns}", COLUMNS)
                .replace("{kept}", COLUMNS.replace("topic", "coalesce(topic, '')"))
                .replace("{limit}", Integer.toString(batch.events))
                .replace("{mark}", ServerProcess.MARK)
                .replace("{scheduled}", tables.scheduled().sql())
                .replace("{parked}", tables.parked().sql())
                .replace("{events}", tables.events().sql());
    }

    /** Whether the schema has scheduled events; version 2 does not. */
    public static boolean areKnownTo(Connection connection, OutboxSchema tables) throws SQLException {
        try (PreparedStatement exists = connection.prepareStatement(EXISTS)) {
            exists.setString(1, tables.scheduled().sql());
            try (ResultSet row = exists.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    /** Moves the events that are due; returns how many. Parks those that the event table does not take. */
    public int runOnce() throws SQLException {
        int all = 0;
        boolean full;
        do {
            int limit = batch.events;
            try (PreparedStatement move = connection.prepareStatement(sql(MOVE))) {
                bind(move);
                move.setObject(6, due, Types.OTHER);
                try (ResultSet row = move.executeQuery()) {
                    row.next();
                    process.check(row.getString(7));
                    all += row.getInt(3);
                    full = row.getInt(4) == limit;
                    if (full) {
                        rememberCut(row);
                    } else {
                        rememberAll(row);
                        batch.reset();
                    }
                }
            } catch (SQLException e) {
                all += recover(e);
                full = true;
            }
        } while (full);
        return all;
    }

    /** Returns how many events were moved. The others are tried again, fewer at a time if they took too long. */
    private int recover(SQLException failure) throws SQLException {
        if (SqlState.isTimeout(failure) && batch.events > 1) {
            batch.shrink();
            if (SqlState.QUERY_CANCELED.isOf(failure)) {
                LOG.warn(
                        "Moving scheduled events took too long, trying {} at a time: {}",
                        batch.events,
                        failure.getMessage());
                return 0;
            }
        }
        if (SqlState.subjectOf(failure) != FailureSubject.EVENT) {
            throw failure;
        }
        return moveOneByOne(failure);
    }

    /** How many events this object has parked. */
    public int parked() {
        return parked;
    }

    /** One event that the event table does not take must not hold up the others. */
    private int moveOneByOne(SQLException refused) throws SQLException {
        int moved = 0;
        List<Long> numbers = due();
        if (numbers.isEmpty()) {
            throw refused;
        }
        for (long number : numbers) {
            try (PreparedStatement move = connection.prepareStatement(sql(MOVE_ONE))) {
                move.setLong(1, number);
                moved += move.executeUpdate();
            } catch (SQLException e) {
                if (SqlState.subjectOf(e) != FailureSubject.EVENT) {
                    throw e;
                }
                park(number, e);
            }
        }
        return moved;
    }

    private List<Long> due() throws SQLException {
        List<Long> numbers = new ArrayList<>();
        try (PreparedStatement list = connection.prepareStatement(sql(LIST_DUE))) {
            bind(list);
            try (ResultSet row = list.executeQuery()) {
                while (row.next()) {
                    numbers.add(row.getLong(1));
                }
            }
        }
        return numbers;
    }

    private void park(long number, SQLException refused) throws SQLException {
        String error = "the event table does not take scheduled event " + number + " (" + refused.getMessage()
                + "). Remedy: publish it again within the limits, and discard it here";
        try (PreparedStatement park = connection.prepareStatement(sql(PARK_ONE))) {
            park.setLong(1, number);
            park.setString(2, relay);
            park.setString(3, error);
            parked += park.executeUpdate();
        }
        LOG.warn("Parking for the operator: {}", error);
    }

    private void bind(PreparedStatement move) throws SQLException {
        move.setObject(1, due, Types.OTHER);
        move.setObject(2, seen.xmax(), Types.OTHER);
        move.setObject(3, due, Types.OTHER);
        move.setObject(4, seen.inProgress(), Types.OTHER);
        move.setObject(5, due, Types.OTHER);
    }

    private void rememberAll(ResultSet row) throws SQLException {
        seen = Snapshot.parse(row.getString(1));
        due = row.getString(2);
    }

    /**
     * The limit was reached, so more events may be due at the last time {@code max}. If {@code max} is after
     * {@code due}, all events that were committed late and due before {@code due} are moved.
     */
    private void rememberCut(ResultSet row) throws SQLException {
        if (row.getBoolean(6)) {
            seen = Snapshot.parse(row.getString(1));
            due = row.getString(5);
        }
    }
}
