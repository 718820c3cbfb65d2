package dev.twinbox.inbox.jdbc;

import dev.twinbox.ParkedEvent;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The operator's statements on the table of parked events: list, retry, discard.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class ParkedRows {

    private static final String LIST =
            """
            -- inbox: list parked events
            select %s
              from (select number as n from %%1$s
                     where state <> 'begun' and number > ? and (?::text is null or consumer_group = ?)
                     order by number limit ?) page
              join %%1$s on number = n
             order by number""".formatted(ParkedColumns.NAMES.replace("record_value", "null::bytea as record_value"));

    private static final String FIND = """
            -- inbox: show a parked event
            select %s from %%s where number = ? and state <> 'begun'""".formatted(ParkedColumns.NAMES);

    /** Idempotent: an event that is already due, or waits for an earlier one, stays as it is. */
    private static final String RETRY = """
            -- inbox: retry a parked event
            update %s
               set state = 'retry', attempts = 0, next_try_at = clock_timestamp()
             where number = ?
               and (state in ('dead', 'passed')
                    or (state = 'retry' and (attempts > 0 or next_try_at > clock_timestamp())))""";

    /** Also inserts the inbox row, so that a redelivery of a discarded event is skipped. */
    private static final String DISCARD = """
            -- inbox: discard a parked event
            with gone as (
              delete from %2$s where number = ? and state <> 'begun'
              returning consumer_group, handler, event_id, event_source, claims, topic, key_hash
            ), settled as (
              insert into %1$s (consumer_group, handler, event_id, event_source)
              select consumer_group, handler, event_id, event_source from gone where claims and handler is not null
              on conflict do nothing
            )
            select consumer_group, handler, topic, key_hash from gone""";

    private final SqlIdentifier inbox;
    private final SqlIdentifier table;
    private final ParkedTable parked;

    public ParkedRows(SqlIdentifier inbox, SqlIdentifier table) {
        this.inbox = inbox;
        this.table = table;
        this.parked = new ParkedTable(table);
    }

    /**
     * Parked events in the order in which they were parked. Their values are null; {@link #find} reads them.
     *
     * @param group null for all groups
     * @param after only events with a greater number
     */
    public List<ParkedEvent> list(Connection connection, @Nullable String group, long after, int most)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LIST.formatted(table.sql()))) {
            statement.setLong(1, after);
            statement.setString(2, group);
            statement.setString(3, group);
            statement.setInt(4, most);
            try (ResultSet rows = statement.executeQuery()) {
                List<ParkedEvent> events = new ArrayList<>();
                while (rows.next()) {
                    events.add(ParkedColumns.read(rows));
                }
                return events;
            }
        }
    }

    public Optional<ParkedEvent> find(Connection connection, long number) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(FIND.formatted(table.sql()))) {
            statement.setLong(1, number);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.of(ParkedColumns.read(row)) : Optional.empty();
            }
        }
    }

    /** Makes the event due. Returns whether that changed anything. */
    public boolean retry(Connection connection, long number) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(RETRY.formatted(table.sql()))) {
            statement.setLong(1, number);
            return statement.executeUpdate() == 1;
        }
    }

    /**
     * The result of a {@link #discard}.
     *
     * @param isDone false if there was no such event
     * @param key the key that the event blocked; null if none
     */
    public record Discarded(boolean isDone, @Nullable BlockedKey key) {}

    /** Discards the event. After the commit the caller must {@link #promote} the next event of its key. */
    public Discarded discard(Connection connection, long number) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(DISCARD.formatted(inbox.sql(), table.sql()))) {
            statement.setLong(1, number);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return new Discarded(false, null);
                }
                return new Discarded(true, key(row));
            }
        }
    }

    /** The key of a discarded row; null: nothing waits for it. */
    static @Nullable BlockedKey key(ResultSet row) throws SQLException {
        String handler = row.getString(2);
        byte[] keyHash = row.getBytes(4);
        return handler == null || keyHash == null
                ? null
                : new BlockedKey(row.getString(1), handler, row.getString(3), keyHash);
    }

    /** Makes the first event of the key due, if it waited for one that is gone. */
    public void promote(Connection connection, BlockedKey key) throws SQLException {
        parked.promote(connection, key);
    }
}
