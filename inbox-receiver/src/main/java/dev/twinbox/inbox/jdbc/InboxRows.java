package dev.twinbox.inbox.jdbc;

import dev.twinbox.Handled;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.util.ArrayList;
import java.util.List;

/**
 * The statements by which an operator looks at the inbox table and has events handled again. Each method works in its caller's
 * transaction.
 */
public final class InboxRows {

    /** Most rows that one call of {@link #forget} deletes, if its caller follows this advice. */
    public static final int BATCH = 10_000;

    /**
     * Handlers that have rows, each found by one step along the primary key.
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
            where consumer_group = ? and handler = ? and event_id > ?""";

    private static final String COUNT = """
            -- inbox: count handled events
            select count(*) from %s\n""" + CHOSEN;

    /** Along the primary key, so that what is deleted already is not met again by the next batch. */
    private static final String FORGET = """
            -- inbox: forget handled events
            with chosen as materialized (
              select ctid as place, event_id from %%1$s
              %s
              %%2$s
               order by event_id
               limit ?
            ), gone as (
              delete from %%1$s where ctid = any (array(select place from chosen)) returning 1
            )
            select (select count(*) from gone), (select max(event_id) from chosen)""".formatted(CHOSEN);

    private final SqlIdentifier table;

    public InboxRows(SqlIdentifier table) {
        this.table = table;
    }

    /** A handler as the table knows it. */
    public record Name(String group, String handler) {}

    /** In order of their names. */
    public List<Name> handlers(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(HANDLERS.formatted(table.sql()));
                ResultSet rows = statement.executeQuery()) {
            List<Name> names = new ArrayList<>();
            while (rows.next()) {
                names.add(new Name(rows.getString(1), rows.getString(2)));
            }
            return names;
        }
    }

    public long count(Connection connection, String group, Handled which) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(COUNT.formatted(table.sql()) + conditions(which))) {
            setChosen(connection, statement, group, which, Forgotten.NONE.lastId());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /**
     * What a batch came to.
     *
     * @param lastId the next batch starts after it
     */
    public record Forgotten(int number, String lastId) {
        public static final Forgotten NONE = new Forgotten(0, "");
    }

    /**
     * Deletes, in the caller's transaction, rows of events so that they are handled again.
     *
     * @param after only those with a greater id
     */
    public Forgotten forget(Connection connection, String group, Handled which, String after, int most)
            throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(FORGET.formatted(table.sql(), conditions(which)))) {
            int i = setChosen(connection, statement, group, which, after);
            statement.setInt(++i, most);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                int number = row.getInt(1);
                return number == 0 ? Forgotten.NONE : new Forgotten(number, row.getString(2));
            }
        }
    }

    private static String conditions(Handled which) {
        return (which.from() == null ? "" : " and handled_at >= ?")
                + (which.to() == null ? "" : " and handled_at < ?")
                + (which.ids() == null ? "" : " and event_id = any (?)");
    }

    private static int setChosen(
            Connection connection, PreparedStatement statement, String group, Handled which, String after)
            throws SQLException {
        int i = 0;
        statement.setString(++i, group);
        statement.setString(++i, which.handler());
        statement.setString(++i, after);
        if (which.from() != null) {
            statement.setTimestamp(++i, Timestamp.from(which.from()));
        }
        if (which.to() != null) {
            statement.setTimestamp(++i, Timestamp.from(which.to()));
        }
        if (which.ids() != null) {
            statement.setArray(++i, connection.createArrayOf("text", which.ids().toArray()));
        }
        return i;
    }
}
