package dev.twinbox.inbox.jdbc;

import dev.twinbox.Handled;
import dev.twinbox.inbox.event.SourceHash;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;

/**
 * The operator's statements on the inbox table: count events and forget them, so that they are handled again.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class InboxRows {

    /** The recommended number of rows that one call of {@link #forget} deletes. */
    public static final int BATCH = 10_000;

    /**
     * The handlers that have rows. The statement makes one step along the primary key for each handler, so it does not
     * read all rows.
     */
    private static final String HANDLERS = """
            -- inbox: handlers that have rows
            with recursive known as (
              (select consumer_group, handler from %1$s order by consumer_group, handler limit 1)
              union all
              select next.*
                from known
               cross join lateral (
                 select consumer_group, handler from %1$s i
                  where (i.consumer_group, i.handler) > (known.consumer_group, known.handler)
                  order by consumer_group, handler
                  limit 1) next
            )
            select consumer_group, handler from known""";

    private static final String CHOSEN = """
            where consumer_group = ? and handler = ? and (event_id, event_source) > (?, ?)""";

    private static final String COUNT = """
            -- inbox: count handled events
            select count(*) from %s\n""" + CHOSEN;

    /** Deletes along the primary key, so the next batch does not walk over the deleted rows again. */
    private static final String FORGET = """
            -- inbox: forget handled events
            with chosen as materialized (
              select ctid as place, event_id, event_source from %%1$s
              %s
              %%2$s
               order by event_id, event_source
               limit ?
            ), gone as (
              delete from %%1$s where ctid = any (array(select place from chosen)) returning 1
            )
            select (select count(*) from gone) as deleted, c.event_id as last_id, c.event_source as last_source
              from (select 1) one
              left join (select event_id, event_source from chosen order by event_id desc, event_source desc limit 1) c
                on true""".formatted(CHOSEN);

    private final SqlIdentifier table;

    public InboxRows(SqlIdentifier table) {
        this.table = table;
    }

    /** The group and the name of a handler that has rows. */
    public record Name(String group, String handler) {}

    /** The handlers that have rows, in order of group and name. */
    public List<Name> handlers(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(HANDLERS.formatted(table.sql()));
                ResultSet rows = statement.executeQuery()) {
            List<Name> names = new ArrayList<>();
            while (rows.next()) {
                names.add(new Name(rows.getString("consumer_group"), rows.getString("handler")));
            }
            return names;
        }
    }

    public long count(Connection connection, String group, Handled which) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(COUNT.formatted(table.sql()) + conditions(which))) {
            setChosen(connection, statement, group, which, Forgotten.NONE);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /**
     * The result of a batch.
     *
     * @param number how many rows were deleted
     * @param lastId the greatest id of the batch; the next batch starts after it
     * @param lastSource the greatest source of this id
     */
    public record Forgotten(int number, String lastId, long lastSource) {
        public static final Forgotten NONE = new Forgotten(0, "", Long.MIN_VALUE);
    }

    /**
     * Deletes rows, in the caller's transaction, so that their events are handled again.
     *
     * @param after only events after those of this batch are deleted
     * @param most how many rows are deleted at most
     */
    public Forgotten forget(Connection connection, String group, Handled which, Forgotten after, int most)
            throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(FORGET.formatted(table.sql(), conditions(which)))) {
            int i = setChosen(connection, statement, group, which, after);
            statement.setInt(++i, most);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                int number = row.getInt("deleted");
                return number == 0
                        ? Forgotten.NONE
                        : new Forgotten(number, row.getString("last_id"), row.getLong("last_source"));
            }
        }
    }

    private static String conditions(Handled which) {
        return (which.from() == null ? "" : " and handled_at >= ?")
                + (which.to() == null ? "" : " and handled_at < ?")
                + (which.ids() == null ? "" : " and event_id = any (?)")
                + (which.source() == null ? "" : " and event_source in (0, ?)");
    }

    private static int setChosen(
            Connection connection, PreparedStatement statement, String group, Handled which, Forgotten after)
            throws SQLException {
        int i = 0;
        statement.setString(++i, group);
        statement.setString(++i, which.handler());
        statement.setString(++i, after.lastId());
        statement.setLong(++i, after.lastSource());
        if (which.from() != null) {
            statement.setTimestamp(++i, Timestamp.from(which.from()));
        }
        if (which.to() != null) {
            statement.setTimestamp(++i, Timestamp.from(which.to()));
        }
        if (which.ids() != null) {
            statement.setArray(++i, connection.createArrayOf("text", which.ids().toArray()));
        }
        if (which.source() != null) {
            statement.setLong(++i, SourceHash.of(which.source()));
        }
        return i;
    }
}
