package dev.twinbox.inbox.jdbc;

import dev.twinbox.ParkedEvent;
import dev.twinbox.jdbc.SqlIdentifier;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What an operator sees of parked events in pages. It changes nothing. Values of records are read by
 * {@link #value} only.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class ParkedPages {
    /** Most rows that a search by id or key reads. */
    public static final int MOST_SEARCHED = 200_000;

    private static final String COLUMNS = ParkedColumns.NAMES.replace("record_value", "null::bytea as record_value");

    private static final String PAGE = """
            -- inbox: a page of parked events
            select %s
              from (select p.number as n from %%1$s p
                     where %%2$s and p.number > ? and (?::text is null or p.state = ?)
                     order by p.number limit ?) page
              join %%1$s on number = n
             order by number""".formatted(COLUMNS);

    /** The table has no index on ids and keys alone. So its newest rows are looked through. */
    private static final String SEARCH = """
            -- inbox: look for parked events
            select %s
              from (select p.number as n, p.event_id as id, p.record_key as key from %%s p
                     where p.state <> 'begun' order by p.number desc limit ?) newest
              join %%s on number = n
             where (?::text is null or newest.id = ?) and (?::bytea is null or newest.key = ?)
             order by number desc limit ?""".formatted(COLUMNS);

    private static final String COUNT = """
            -- inbox: how many parked events a search reads
            select count(*) from (select from %s p where p.state <> 'begun' limit ?) newest""";

    private static final String VALUE = """
            -- inbox: value of a parked event
            select octet_length(p.record_value) as bytes, substring(p.record_value for ?) as beginning
              from %s p where p.number = ? and p.state <> 'begun'""";

    /**
     * What was found.
     *
     * @param read rows that were looked through
     * @param isCut whether there are more
     */
    public record Found(List<ParkedEvent> events, long read, boolean isCut) {}

    /**
     * A record's value.
     *
     * @param bytes how many it has
     * @param beginning its first bytes; null: it has none
     */
    @SuppressWarnings("ArrayRecordComponent") // never compared
    public record Value(int bytes, byte @Nullable [] beginning) {}

    private final SqlIdentifier table;

    public ParkedPages(SqlIdentifier inbox) {
        this.table = ParkedTable.name(inbox);
    }

    /**
     * In the order in which they were parked.
     *
     * @param state null: all
     * @param after only events with a greater number
     */
    public List<ParkedEvent> page(
            Connection connection, ParkedSelection which, ParkedEvent.@Nullable State state, long after, int most)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(PAGE.formatted(table.sql(), which.sql()))) {
            int next = which.bind(connection, statement, 1);
            String text = state == null ? null : ParkedColumns.text(state);
            statement.setLong(next, after);
            statement.setString(next + 1, text);
            statement.setString(next + 2, text);
            statement.setInt(next + 3, most);
            return read(statement);
        }
    }

    /** The event of this number; null: there is none. */
    public @Nullable ParkedEvent find(Connection connection, long number) throws SQLException {
        ParkedSelection one = new ParkedSelection(List.of(number), null, null, null, null, null, null, null, null);
        List<ParkedEvent> found = page(connection, one, null, 0, 1);
        return found.isEmpty() ? null : found.get(0);
    }

    /**
     * The newest events of this id and key.
     *
     * @param id null: any
     * @param key as text; null: any
     */
    public Found search(Connection connection, @Nullable String id, @Nullable String key, int most)
            throws SQLException {
        String sql = SEARCH.formatted(table.sql(), table.sql());
        try (PreparedStatement statement = connection.prepareStatement(sql);
                PreparedStatement count = connection.prepareStatement(COUNT.formatted(table.sql()))) {
            byte[] bytes = key == null ? null : key.getBytes(StandardCharsets.UTF_8);
            statement.setInt(1, MOST_SEARCHED);
            statement.setString(2, id);
            statement.setString(3, id);
            statement.setBytes(4, bytes);
            statement.setBytes(5, bytes);
            statement.setInt(6, most);
            List<ParkedEvent> events = read(statement);
            count.setInt(1, MOST_SEARCHED + 1);
            try (ResultSet row = count.executeQuery()) {
                row.next();
                long rows = row.getLong(1);
                return new Found(events, Math.min(rows, MOST_SEARCHED), rows > MOST_SEARCHED || events.size() == most);
            }
        }
    }

    /**
     * The value of an event's record; null: there is no such event.
     *
     * @param most bytes that are read
     */
    public @Nullable Value value(Connection connection, long number, int most) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(VALUE.formatted(table.sql()))) {
            statement.setInt(1, most);
            statement.setLong(2, number);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? new Value(row.getInt("bytes"), row.getBytes("beginning")) : null;
            }
        }
    }

    private static List<ParkedEvent> read(PreparedStatement statement) throws SQLException {
        List<ParkedEvent> events = new ArrayList<>();
        try (ResultSet rows = statement.executeQuery()) {
            while (rows.next()) {
                events.add(ParkedColumns.read(rows));
            }
        }
        return events;
    }
}
