package dev.twinbox.inbox.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Hands the parked events of a handler's former name to its new name. For operators. */
public final class HandOver {

    private static final String MOVABLE = """
            p.consumer_group = ? and p.handler = ? and p.state <> 'begun'
              and exists (
                select from %2$s h
                 where h.consumer_group = p.consumer_group and h.topic = p.topic and h.event_type = p.event_type
                   and h.handler = ?)""";

    private static final String COUNT = """
            -- inbox: count events that can be handed over
            select count(*) filter (where %1$s) as moved, count(*) as all_of_them
              from %%1$s p
             where p.consumer_group = ? and p.handler = ? and p.state <> 'begun'""".formatted(MOVABLE);

    /** An event that is parked under both names keeps the place in its key that it got first. */
    private static final String DELETE_COPIES = """
            -- inbox: delete copies of events that are handed over
            delete from %%1$s c
             using %%1$s p
             where %s
               and c.consumer_group = p.consumer_group and c.handler = ? and c.event_id = p.event_id
               and (c.event_source = p.event_source or 0 in (c.event_source, p.event_source))""".formatted(MOVABLE);

    private static final String MOVE = """
            -- inbox: hand events over
            update %%1$s p
               set handler = ?,
                   claims = (select bool_or(h.delivery = 'exactly_once_effect') from %%2$s h
                              where h.consumer_group = p.consumer_group and h.topic = p.topic
                                and h.event_type = p.event_type and h.handler = ?),
                   attempts = 0,
                   state = case when p.state = 'passed' or p.record_key is null then 'retry' else 'behind' end,
                   next_try_at = case when p.state = 'passed' or p.record_key is null then clock_timestamp() end
             where %s""".formatted(MOVABLE);

    /** Only the first event of a key may be due. */
    private static final String REORDER = """
            -- inbox: order the keys of events that were handed over
            update %1$s p
               set state = 'behind', next_try_at = null
             where p.consumer_group = ? and p.handler = ? and p.state in ('retry', 'dead')
               and exists (
                 select from %1$s e
                  where e.consumer_group = p.consumer_group and e.handler = p.handler and e.topic = p.topic
                    and e.key_hash = p.key_hash and e.number < p.number and e.state in ('retry', 'behind', 'dead'))""";

    private final SqlIdentifier table;
    private final SqlIdentifier handlers;
    private final ParkedTable parked;

    /**
     * The events of an inbox.
     *
     * @param inbox the inbox table; the other tables are named after it
     */
    public HandOver(SqlIdentifier inbox) {
        table = ParkedTable.name(inbox);
        handlers = HandlerTable.name(inbox);
        parked = new ParkedTable(table);
    }

    /**
     * What was done, or would be.
     *
     * @param moved events that the new name takes
     * @param left events of the old name whose topic and type the new name does not take
     */
    public record Result(long moved, long left) {}

    /** How many events would be handed over. */
    public Result count(Connection connection, String group, String from, String to) throws SQLException {
        try (PreparedStatement statement = prepare(connection, COUNT)) {
            int i = setMovable(statement, 0, group, from, to);
            statement.setString(++i, group);
            statement.setString(++i, from);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                long moved = row.getLong("moved");
                return new Result(moved, row.getLong("all_of_them") - moved);
            }
        }
    }

    /**
     * Hands events over, in the caller's transaction. All are tried again. The order of each key is the order in which
     * its events were parked, under either name.
     *
     * @param to a handler that an instance has announced
     */
    public Result move(Connection connection, String group, String from, String to) throws SQLException {
        try (PreparedStatement statement = prepare(connection, DELETE_COPIES)) {
            int i = setMovable(statement, 0, group, from, to);
            statement.setString(++i, to);
            statement.executeUpdate();
        }
        long moved;
        try (PreparedStatement statement = prepare(connection, MOVE)) {
            statement.setString(1, to);
            statement.setString(2, to);
            setMovable(statement, 2, group, from, to);
            moved = statement.executeUpdate();
        }
        try (PreparedStatement statement = prepare(connection, REORDER)) {
            statement.setString(1, group);
            statement.setString(2, to);
            statement.executeUpdate();
        }
        parked.promoteAll(connection, group);
        return new Result(moved, count(connection, group, from, to).left());
    }

    private PreparedStatement prepare(Connection connection, String sql) throws SQLException {
        return connection.prepareStatement(sql.formatted(table.sql(), handlers.sql()));
    }

    private static int setMovable(PreparedStatement statement, int before, String group, String from, String to)
            throws SQLException {
        statement.setString(before + 1, group);
        statement.setString(before + 2, from);
        statement.setString(before + 3, to);
        return before + 3;
    }
}
