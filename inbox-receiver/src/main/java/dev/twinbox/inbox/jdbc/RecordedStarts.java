package dev.twinbox.inbox.jdbc;

import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RecordedStart;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Rows of the parked table that record that a handler is about to be called. They identify an event that kills the
 * process.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class RecordedStarts {

    /**
     * Deletes a recorded start. The row would keep its event from being parked. Its number may also be too small for
     * the event's place in the order of its key.
     */
    private static final String END = """
            -- inbox: end a recorded start
            delete from %s
             where consumer_group = ? and handler = ? and event_id = ? and (? = 0 or event_source in (0, ?))
               and state = 'begun'""";

    /** Records, in a committed row, that a handler is about to be called. The call may end the process. */
    private static final String RECORD = """
            -- inbox: record a start
            with mine as (
              select ?::text as consumer_group, ?::text as handler, ?::text as event_id, ?::text as event_type,
                     ?::boolean as claims, ?::bigint as event_source
            ), known as materialized (
              select p.number
                from mine m
                join %1$s p on p.consumer_group = m.consumer_group and p.handler = m.handler
                           and p.event_id = m.event_id
                           and (m.event_source = 0 or p.event_source in (0, m.event_source))
            ), again as (
              update %1$s p
                 set attempts = p.attempts + 1, parked_at = clock_timestamp()
               where p.number = any (array(select number from known)) and p.state = 'begun'
              returning p.number, p.attempts
            ), first as (
              insert into %1$s (consumer_group, handler, event_id, event_type, claims, event_source, state, topic,
                                partition, record_offset, record_time, record_key, record_value, header_names,
                                header_values, attempts)
              select m.*, 'begun', ?, ?, ?, ?, ?, ?, ?, ?, 1
                from mine m
               where not exists (select from known)
              on conflict do nothing
              returning number, attempts
            )
            select number, attempts from again
            union all
            select number, attempts from first""";

    private static final String PARK = """
            -- inbox: park a recorded start
            update %%s
               set state = ?, attempts = ?, error = ?, failed_at = clock_timestamp(),
                   next_try_at = case when ? then %s end
             where number = ? and state = 'begun'""".formatted(ParkedColumns.NEXT_TRY.formatted("?"));

    private static final String TAKE_BACK = """
            -- inbox: take a recorded start back
            with again as (
              update %1$s set attempts = attempts - 1
               where number = ? and state = 'begun' and attempts = ? and attempts > 1
            )
            delete from %1$s where number = ? and state = 'begun' and attempts = ? and attempts = 1""";

    /** Deletes rows of processes that were stopped between two attempts. Their events have been handled since. */
    private static final String DELETE_OLD = """
            -- inbox: delete old recorded starts
            delete from %s
             where consumer_group = ? and state = 'begun' and parked_at < clock_timestamp() - interval '24 hours'""";

    private final SqlIdentifier table;

    public RecordedStarts(SqlIdentifier table) {
        this.table = table;
    }

    /** Deletes a recorded start, because its event is parked instead. */
    void end(Connection connection, String group, String handler, ReceivedEvent event) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(END.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.setString(2, handler);
            statement.setString(3, event.id());
            statement.setLong(4, event.source());
            statement.setLong(5, event.source());
            statement.executeUpdate();
        }
    }

    /** Records that the handler is about to be called. Returns null if the event is already parked. */
    public @Nullable RecordedStart record(Connection connection, String group, ReceivedEvent event, Handler handler)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(RECORD.formatted(table.sql()))) {
            int i = ParkedColumns.setIdentity(statement, group, event, handler);
            ParkedColumns.setRecord(connection, statement, i, event.record());
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? new RecordedStart(row.getLong("number"), row.getInt("attempts")) : null;
            }
        }
    }

    /** Takes a start back, because the handler was not called. Does nothing the second time. */
    public void takeBack(Connection connection, RecordedStart start) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(TAKE_BACK.formatted(table.sql()))) {
            statement.setLong(1, start.number());
            statement.setInt(2, start.times());
            statement.setLong(3, start.number());
            statement.setInt(4, start.times());
            statement.executeUpdate();
        }
    }

    /** Turns a recorded start into a parked event. Returns false if there is none any more: its event was handled. */
    public boolean park(Connection connection, long number, State state, int attempts, String error, Backoff backoff)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(PARK.formatted(table.sql()))) {
            statement.setString(1, ParkedColumns.text(state));
            statement.setInt(2, attempts);
            statement.setString(3, error);
            statement.setBoolean(4, state == State.RETRY);
            int i = ParkedColumns.setBackoff(statement, 4, backoff);
            statement.setInt(++i, Math.max(1, attempts));
            statement.setLong(++i, number);
            return statement.executeUpdate() == 1;
        }
    }

    /** Deletes the rows of processes that were stopped between two attempts. */
    public void deleteOld(Connection connection, String group) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(DELETE_OLD.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.executeUpdate();
        }
    }
}
