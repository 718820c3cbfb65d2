package dev.twinbox.inbox.jdbc;

import static java.util.Map.entry;

import dev.twinbox.DeliveryContract;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The table of announced handlers. Instances of different versions of an application know by it what the others handle.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class HandlerTable {

    static final Map<String, String> COLUMNS = Map.ofEntries(
            entry("consumer_group", "text"),
            entry("topic", "text"),
            entry("event_type", "text"),
            entry("handler", "text"),
            entry("delivery", "text"),
            entry("announced_at", "timestamp with time zone"),
            entry("seen_at", "timestamp with time zone"));

    private static final String SUFFIX = "_handler";

    /**
     * A handler is there while it was seen within this time. Running instances write more often, see {@link #announce}.
     */
    private static final String IS_THERE = "h.seen_at >= clock_timestamp() - interval '60 seconds'";

    /** Several instances share a row. The first one of them in 20 seconds writes it. */
    private static final String ANNOUNCE = """
            -- inbox: announce handlers
            insert into %s as h (consumer_group, topic, event_type, handler, delivery)
            select ?, a.topic, a.event_type, a.handler, a.delivery
              from unnest(?::text[], ?::text[], ?::text[], ?::text[]) as a (topic, event_type, handler, delivery)
             order by a.topic collate "C", a.event_type collate "C", a.handler collate "C"
            on conflict (consumer_group, topic, event_type, handler) do update
               set delivery = excluded.delivery, seen_at = clock_timestamp()
             where h.delivery <> excluded.delivery or h.seen_at < clock_timestamp() - interval '20 seconds'""";

    private static final String DELETE_OLD = """
            -- inbox: delete handlers that no instance has had for long
            delete from %s where consumer_group = ? and seen_at < clock_timestamp() - make_interval(secs => ?)""";

    /** An event whose handler is hidden would be skipped for good. */
    private static final String FIND = AllRows.required("""
            -- inbox: find handlers of types that this instance does not know
            select topic, event_type, handler, delivery
              from %s
             where consumer_group = ? and topic = ? and event_type = any (?)
             order by event_type, handler""");

    /**
     * Whose parked events nobody takes. A recorded start is not parked. Nothing is known of a group that has announced
     * nothing. The count stops at 10,000 events.
     */
    private static final String UNOWNED = """
            -- inbox: parked events of handlers that no instance has
            select p.consumer_group, p.handler, p.topic, p.event_type, count(*) as number,
                   (select max(h.seen_at) from %1$s h
                     where h.consumer_group = p.consumer_group and h.topic = p.topic and h.event_type = p.event_type
                       and h.handler = p.handler) as seen_at
              from (select consumer_group, handler, topic, event_type from %2$s
                     where (?::text is null or consumer_group = ?) and handler is not null and state <> 'begun'
                     limit 10000) p
             where not exists (
               select from %1$s h
                where h.consumer_group = p.consumer_group and h.topic = p.topic and h.event_type = p.event_type
                  and h.handler = p.handler and %3$s)
               and exists (select from %1$s h where h.consumer_group = p.consumer_group)
             group by 1, 2, 3, 4
             order by 1, 2, 3, 4""";

    private static final String WAITING = """
            -- inbox: count events that wait for a handler
            select count(*)
              from (select from %s
                     where consumer_group = ? and handler = ? and state in ('retry', 'behind')
                     limit ?) p""";

    private static final String LIST = """
            -- inbox: list announced handlers
            select h.consumer_group, h.topic, h.event_type, h.handler, h.delivery, h.seen_at, %2$s as is_there
              from %1$s h
             where (?::text is null or h.consumer_group = ?)
             order by 1, 2, 3, 4""";

    private static final String RETIRE = """
            -- inbox: retire announced handlers
            delete from %s
             where handler = ? and (?::text is null or consumer_group = ?) and (?::text is null or topic = ?)
               and (?::text is null or event_type = ?)""";

    private final SqlIdentifier table;
    private final SqlIdentifier parked;

    private HandlerTable(SqlIdentifier table, SqlIdentifier parked) {
        this.table = table;
        this.parked = parked;
    }

    /**
     * The table of an inbox table.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static HandlerTable of(SqlIdentifier inbox) {
        return new HandlerTable(name(inbox), ParkedTable.name(inbox));
    }

    /**
     * Its name, which follows from that of the inbox table: {@code inbox_handler} for {@code inbox_event}.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static SqlIdentifier name(SqlIdentifier inbox) {
        return inbox.sibling(SUFFIX);
    }

    /** Writes that an instance has these handlers. Writes nothing if that was done a moment ago. */
    public void announce(Connection connection, String group, Collection<AnnouncedHandler> handlers)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ANNOUNCE.formatted(table.sql()))) {
            statement.setString(1, group);
            int i = AnnouncedHandler.bind(connection, statement, 1, handlers);
            statement.setArray(++i, AnnouncedHandler.column(connection, handlers, handler -> text(handler.delivery())));
            statement.executeUpdate();
        }
    }

    private static String text(DeliveryContract delivery) {
        return delivery.name().toLowerCase(Locale.ROOT);
    }

    private static DeliveryContract delivery(String text) {
        return DeliveryContract.valueOf(text.toUpperCase(Locale.ROOT));
    }

    /** Deletes the rows that no instance has written for that time. */
    public void deleteOld(Connection connection, String group, Duration keep) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(DELETE_OLD.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.setDouble(2, keep.toMillis() / 1000.0);
            statement.executeUpdate();
        }
    }

    /** The handlers that any instance has announced for these types. */
    public List<AnnouncedHandler> find(Connection connection, String group, String topic, Collection<String> types)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(FIND.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.setString(2, topic);
            statement.setArray(3, connection.createArrayOf("text", types.toArray()));
            try (ResultSet rows = AllRows.query(statement)) {
                List<AnnouncedHandler> found = new ArrayList<>();
                while (rows.next()) {
                    found.add(announced(rows));
                }
                return found;
            }
        }
    }

    private static AnnouncedHandler announced(ResultSet row) throws SQLException {
        return new AnnouncedHandler(
                row.getString("topic"),
                row.getString("event_type"),
                row.getString("handler"),
                delivery(row.getString("delivery")));
    }

    /** How many parked events wait for the handler, up to a maximum. Dead ones wait for the operator. */
    public int waiting(Connection connection, String group, String handler, int most) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(WAITING.formatted(parked.sql()))) {
            statement.setString(1, group);
            statement.setString(2, handler);
            statement.setInt(3, most);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getInt(1);
            }
        }
    }

    /**
     * Parked events that nobody takes.
     *
     * @param type null if it is not known
     * @param number how many, at most 10,000
     * @param seenAt when an instance last had this handler; null if none is known
     */
    public record Unowned(
            String group,
            String handler,
            String topic,
            @Nullable String type,
            long number,
            @Nullable Instant seenAt) {}

    /**
     * Parked events whose handler no running instance has.
     *
     * @param group null for all groups
     */
    public List<Unowned> unowned(Connection connection, @Nullable String group) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(UNOWNED.formatted(table.sql(), parked.sql(), IS_THERE))) {
            statement.setString(1, group);
            statement.setString(2, group);
            try (ResultSet rows = statement.executeQuery()) {
                List<Unowned> found = new ArrayList<>();
                while (rows.next()) {
                    var seenAt = rows.getTimestamp("seen_at");
                    found.add(new Unowned(
                            rows.getString("consumer_group"),
                            rows.getString("handler"),
                            rows.getString("topic"),
                            rows.getString("event_type"),
                            rows.getLong("number"),
                            seenAt == null ? null : seenAt.toInstant()));
                }
                return found;
            }
        }
    }

    /**
     * A row as an operator sees it.
     *
     * @param seenAt when an instance last had it
     * @param isThere whether a running instance has it
     */
    public record Row(String group, AnnouncedHandler handler, Instant seenAt, boolean isThere) {}

    /**
     * All announced handlers, by group, topic and type.
     *
     * @param group null for all groups
     */
    public List<Row> list(Connection connection, @Nullable String group) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LIST.formatted(table.sql(), IS_THERE))) {
            statement.setString(1, group);
            statement.setString(2, group);
            try (ResultSet rows = statement.executeQuery()) {
                List<Row> all = new ArrayList<>();
                while (rows.next()) {
                    all.add(new Row(
                            rows.getString("consumer_group"),
                            announced(rows),
                            rows.getTimestamp("seen_at").toInstant(),
                            rows.getBoolean("is_there")));
                }
                return all;
            }
        }
    }

    /**
     * Deletes rows. From now on an instance that does not know the type treats it as unknown. Returns how many it were.
     *
     * @param group null for all groups; likewise topic and type
     */
    public int retire(
            Connection connection,
            String handler,
            @Nullable String group,
            @Nullable String topic,
            @Nullable String type)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(RETIRE.formatted(table.sql()))) {
            statement.setString(1, handler);
            int i = 1;
            for (String value : new @Nullable String[] {group, topic, type}) {
                statement.setString(++i, value);
                statement.setString(++i, value);
            }
            return statement.executeUpdate();
        }
    }
}
