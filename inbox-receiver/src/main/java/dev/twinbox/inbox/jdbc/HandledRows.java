package dev.twinbox.inbox.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;

/**
 * The operator's questions to the inbox table. It changes nothing. Each statement reads along an index, and a bounded
 * number of rows.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class HandledRows {
    /** Most rows of a group that one count reads. */
    private static final int MOST_COUNTED = 100_000;

    /** The table has no index on ids alone. So each handler's part of the primary key is looked at. */
    private static final String FIND = """
            -- inbox: which handlers have handled these events
            select n.consumer_group, n.handler, i.event_id, i.handled_at
              from unnest(?::text[], ?::text[]) as n (consumer_group, handler)
             cross join lateral (
               select i.event_id, i.handled_at from %s i
                where i.consumer_group = n.consumer_group and i.handler = n.handler and i.event_id = any (?)
               offset 0) i
             order by i.handled_at desc
             limit ?""";

    /** The condition on infinity is that of the index. */
    private static final String LAST_HOUR = """
            -- inbox: events of the last hour by handler
            select r.handler, count(*) as number, max(r.handled_at) as last_at
              from (select i.handler, i.handled_at from %s i
                     where i.consumer_group = ? and i.handled_at >= statement_timestamp() - interval '1 hour'
                       and i.handled_at > '-infinity'
                     order by i.handled_at desc
                     limit ?) r
             group by 1
             order by 1""";

    private static final String NOW = """
            -- inbox: what time is it
            select clock_timestamp()""";

    /** An event that a handler has handled, or that was discarded. */
    public record Handled(String group, String handler, String id, Instant at) {}

    /**
     * What a handler has done in the last hour.
     *
     * @param events how many it has handled, or were discarded
     * @param isCut whether not all of the group's were counted
     */
    public record Effects(String group, String handler, long events, Instant lastAt, boolean isCut) {}

    private final SqlIdentifier table;

    public HandledRows(SqlIdentifier inbox) {
        this.table = inbox;
    }

    /**
     * Who has handled these events, the newest first.
     *
     * @param names of the handlers that are asked for
     */
    public List<Handled> find(Connection connection, Collection<InboxRows.Name> names, Collection<String> ids, int most)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(FIND.formatted(table.sql()))) {
            statement.setArray(
                    1,
                    connection.createArrayOf(
                            "text", names.stream().map(InboxRows.Name::group).toArray()));
            statement.setArray(
                    2,
                    connection.createArrayOf(
                            "text", names.stream().map(InboxRows.Name::handler).toArray()));
            statement.setArray(3, connection.createArrayOf("text", ids.toArray()));
            statement.setInt(4, most);
            try (ResultSet rows = statement.executeQuery()) {
                List<Handled> found = new ArrayList<>();
                while (rows.next()) {
                    found.add(new Handled(
                            rows.getString(1),
                            rows.getString(2),
                            rows.getString(3),
                            rows.getTimestamp(4).toInstant()));
                }
                return found;
            }
        }
    }

    /** What the handlers of a group have done in the last hour. */
    public List<Effects> lastHour(Connection connection, String group) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LAST_HOUR.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.setInt(2, MOST_COUNTED);
            List<Effects> found = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    found.add(new Effects(
                            group,
                            rows.getString(1),
                            rows.getLong(2),
                            rows.getTimestamp(3).toInstant(),
                            false));
                }
            }
            boolean isCut = found.stream().mapToLong(Effects::events).sum() >= MOST_COUNTED;
            return isCut
                    ? found.stream()
                            .map(each -> new Effects(group, each.handler(), each.events(), each.lastAt(), true))
                            .toList()
                    : found;
        }
    }

    /** The database's clock. */
    public Instant now(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(NOW);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getTimestamp(1).toInstant();
        }
    }
}
