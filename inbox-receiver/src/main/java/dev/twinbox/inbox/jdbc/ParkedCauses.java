package dev.twinbox.inbox.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The parked events, grouped by handler and by why the first event of their key is parked. Counting stops at a limit, so
 * the cost does not grow with what is parked.
 *
 * @param groups the largest first; those of which nothing is given up are left out, unless their handler is paused
 * @param moving events that the application tries again by itself, and those after them in their keys
 * @param isCut whether a limit ended the counting: then there are more events, or more groups
 */
public record ParkedCauses(List<Group> groups, long moving, boolean isCut) {
    /** Most parked events that are read. */
    static final int LIMIT = 50_000;

    private static final int MOST_GROUPS = 200;

    /** Characters of an error that name its cause: the class of the exception. */
    private static final int MOST_CAUSE = 200;

    static final String COUNT = """
            -- inbox: causes of parked events
            with read as materialized (
              select p.number, p.consumer_group, p.handler, p.state, p.parked_at,
                     left(split_part(p.error, ':', 1), %d) as cause,
                     case when p.key_hash is null or p.state = 'passed' then int8send(p.number) else p.key_hash end as key,
                     p.topic
                from %%1$s p where p.state <> 'begun' order by p.number limit ?
            ), headed as (
              select r.*, first_value(r.cause) over key as first_cause, first_value(r.state) over key as first_state
                from read r
              window key as (partition by r.consumer_group, r.handler, r.topic, r.key order by r.number)
            ), grouped as (
              select consumer_group, handler, first_state in ('dead', 'passed') as is_stuck, first_cause,
                     first_state not in ('dead', 'passed') and coalesce((consumer_group, handler) in
                       (select * from unnest(?::text[], ?::text[])), false) as is_paused,
                     count(distinct (topic, key)) as keys, count(*) as events,
                     count(*) filter (where state in ('dead', 'passed')) as given_up,
                     min(parked_at) as oldest, min(number) as example
                from headed group by 1, 2, 3, 4, 5
            )
            select g.*, p.error, (select count(*) from read) as read
              from grouped g left join %%1$s p on p.number = g.example
             order by g.is_stuck desc, g.is_paused desc, g.events desc, g.consumer_group, g.handler, g.first_cause limit ?""".formatted(MOST_CAUSE);

    /**
     * Events with the same cause.
     *
     * @param handler null: the records cannot be read
     * @param cause beginning of the error; empty: there is none
     * @param isPaused whether the events wait because an operator has paused the handler
     * @param keys how many keys stand still; an event without a key counts as one
     * @param events those that are given up, and those after them in their keys
     * @param givenUp events of these that nothing but an operator moves
     * @param example number of the first one
     * @param error of the first one
     */
    public record Group(
            String group,
            @Nullable String handler,
            String cause,
            boolean isPaused,
            long keys,
            long events,
            long givenUp,
            Instant oldest,
            long example,
            @Nullable String error) {}

    /** Counts now, in the caller's transaction. */
    public static ParkedCauses of(Connection connection, SqlIdentifier inbox) throws SQLException {
        String table = ParkedTable.name(inbox).sql();
        List<Group> groups = new ArrayList<>();
        long moving = 0;
        long read = 0;
        int rows = 0;
        try (PreparedStatement count = connection.prepareStatement(COUNT.formatted(table))) {
            List<PausedTable.Row> paused = PausedTable.of(inbox).list(connection).stream()
                    .filter(row -> row.kind() == PausedTable.Kind.HANDLER)
                    .toList();
            count.setInt(1, LIMIT);
            count.setArray(2, texts(connection, paused, PausedTable.Row::group));
            count.setArray(3, texts(connection, paused, PausedTable.Row::name));
            count.setInt(4, MOST_GROUPS);
            try (ResultSet row = count.executeQuery()) {
                while (row.next()) {
                    rows++;
                    read = row.getLong("read");
                    if (row.getBoolean("is_stuck") || row.getBoolean("is_paused")) {
                        groups.add(group(row));
                    } else {
                        moving += row.getLong("events");
                    }
                }
            }
        }
        return new ParkedCauses(List.copyOf(groups), moving, read >= LIMIT || rows >= MOST_GROUPS);
    }

    private static Array texts(
            Connection connection, List<PausedTable.Row> rows, Function<PausedTable.Row, String> column)
            throws SQLException {
        return connection.createArrayOf("text", rows.stream().map(column).toArray());
    }

    private static Group group(ResultSet row) throws SQLException {
        String cause = row.getString("first_cause");
        return new Group(
                row.getString("consumer_group"),
                row.getString("handler"),
                cause == null ? "" : cause,
                row.getBoolean("is_paused"),
                row.getLong("keys"),
                row.getLong("events"),
                row.getLong("given_up"),
                row.getObject("oldest", OffsetDateTime.class).toInstant(),
                row.getLong("example"),
                row.getString("error"));
    }
}
