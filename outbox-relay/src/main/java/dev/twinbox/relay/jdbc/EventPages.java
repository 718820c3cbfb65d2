package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.relay.jdbc.FoundEvent.Place;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * Reads pages of the tables that hold events, by their numbers, and picks the wanted events. {@link EventSearch} decides
 * which pages. One statement reads a page and no more, whatever it finds.
 */
final class EventPages {
    /** The columns that all tables have. */
    private static final String COMMON =
            "t.id, t.topic, t.key, t.type, case when isfinite(t.occurred_at) then t.occurred_at end as occurred_at";

    private static final String NOT_SCHEDULED = ", null::timestamptz as deliver_at";

    private static final String NOT_PARKED = ", null::text as state, null::text as error";

    private static final String PAGE = """
            -- operator: look for events in a table
            with page as materialized (
              select {columns} from {table} t where {scope}{number} {reached} ? order by {number} {order} limit ?)
            select p.read, p.next, p.topics, h.*
            from (select count(*) as read, {next} as next, array_agg(distinct topic) as topics from page) p
              left join (select *, {sent} as sent from page where {wanted} order by number desc limit ?) h on true
            order by h.number desc
            """;

    /** Whether the saved position has passed a row. Snapshots tell it, see {@link Position}. */
    private static final String SENT = "(pg_visible_in_snapshot(tx, ?::pg_snapshot)"
            + " or (number <= ? and pg_visible_in_snapshot(tx, ?::pg_snapshot)))";

    private static final String ENDS = """
            -- operator: first and last event
            select (select seq from {events} order by seq limit 1), (select seq from {events} order by seq desc limit 1)
            """;

    static final String TIME_OF = """
            -- operator: time of an event
            select seq, extract(epoch from occurred_at)::float8 from {events} where seq >= ? order by seq limit 1
            """;

    /** A binary search needs no more steps. */
    private static final int MOST_STEPS = Long.SIZE;

    /** In which order the rows of a page are read. */
    enum Order {
        UPWARDS(">=", "asc", "max(number) + 1"),
        DOWNWARDS("<=", "desc", "min(number) - 1");

        private final String reached;
        private final String order;
        private final String next;

        Order(String reached, String order, String next) {
            this.reached = reached;
            this.order = order;
            this.next = next;
        }
    }

    /**
     * What one statement has read.
     *
     * @param read rows
     * @param next number at which the next page begins; 0 if nothing was read
     * @param topics of all rows
     */
    record Page(int read, long next, SortedSet<String> topics, List<FoundEvent> found) {}

    /** The first and the last number of the event table. */
    record Ends(long first, long last) {}

    private final Connection connection;
    private final OutboxSchema tables;
    private final String relay;
    private final EventQuery query;
    private final Position position;

    /** @param position as it was before the first page: what it has passed is sent */
    EventPages(Connection connection, OutboxSchema tables, String relay, EventQuery query, Position position) {
        this.connection = connection;
        this.tables = tables;
        this.relay = relay;
        this.query = query;
        this.position = position;
    }

    /** Null if the event table is empty. */
    @Nullable Ends ends() throws SQLException {
        try (PreparedStatement ends = connection.prepareStatement(events(ENDS, tables));
                ResultSet row = ends.executeQuery()) {
            row.next();
            long first = row.getLong(1);
            return row.wasNull() ? null : new Ends(first, row.getLong(2));
        }
    }

    /** The number of the first event that occurred at this time or later, if times grew with numbers. */
    long near(Instant time, Ends ends) throws SQLException {
        long low = ends.first();
        long high = ends.last();
        try (PreparedStatement timeOf = connection.prepareStatement(events(TIME_OF, tables))) {
            for (int i = 0; low < high && i < MOST_STEPS; i++) {
                long middle = low + (high - low) / 2;
                timeOf.setLong(1, middle);
                try (ResultSet row = timeOf.executeQuery()) {
                    if (row.next() && row.getDouble(2) < time.toEpochMilli() / 1e3) {
                        low = row.getLong(1) + 1;
                    } else {
                        high = middle;
                    }
                }
            }
        }
        return low;
    }

    /**
     * A page.
     *
     * @param from number of its first row
     * @param most rows that it has
     */
    Page read(Place place, Order order, long from, int most) throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(sql(place, order, query, tables))) {
            bind(select, place, from, most);
            List<FoundEvent> found = new ArrayList<>();
            SortedSet<String> topics = new TreeSet<>();
            int read = 0;
            long next = 0;
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    read = row.getInt("read");
                    next = row.getLong("next");
                    topics.addAll(texts(row.getArray("topics")));
                    row.getLong("number");
                    if (!row.wasNull()) {
                        found.add(event(place, row));
                    }
                }
            }
            return new Page(read, next, topics, found);
        }
    }

    private void bind(PreparedStatement select, Place place, long from, int most) throws SQLException {
        int next = 1;
        if (place == Place.PARKED) {
            select.setString(next++, relay);
        }
        select.setLong(next++, from);
        select.setInt(next++, most);
        if (place == Place.EVENTS) {
            Snapshot to = position.to();
            select.setObject(next++, position.from().text(), Types.OTHER);
            select.setLong(next++, position.seq());
            select.setObject(next++, (to == null ? Snapshot.EMPTY : to).text(), Types.OTHER);
        }
        if (query.id() != null) {
            select.setObject(next++, query.id());
        } else {
            select.setString(next++, query.key());
            if (query.topic() != null) {
                select.setString(next++, query.topic());
            }
        }
        select.setInt(next, query.most());
    }

    static String sql(Place place, Order order, EventQuery query, OutboxSchema tables) {
        String wanted = query.id() == null ? "key = ?" + (query.topic() == null ? "" : " and topic = ?") : "id = ?";
        String page = PAGE.replace("{reached}", order.reached)
                .replace("{order}", order.order)
                .replace("{next}", order.next)
                .replace("{wanted}", wanted)
                .replace("{scope}", place == Place.PARKED ? "t.relay = ? and " : "")
                .replace("{sent}", place == Place.EVENTS ? SENT : "false");
        String scheduledAt = ", case when isfinite(t.deliver_at) then t.deliver_at end as deliver_at";
        return switch (place) {
            case SCHEDULED -> of(tables.scheduled(), "t.number", COMMON + scheduledAt + NOT_PARKED, page);
            case EVENTS -> of(tables.events(), "t.seq", "t.tx, " + COMMON + NOT_SCHEDULED + NOT_PARKED, page);
            case PARKED -> of(tables.parked(), "t.number", COMMON + NOT_SCHEDULED + ", t.state, t.error", page);
        };
    }

    private static String of(SqlIdentifier table, String number, String columns, String page) {
        return page.replace("{columns}", number + " as number, " + columns)
                .replace("{number}", number)
                .replace("{table}", table.sql());
    }

    static String events(String statement, OutboxSchema tables) {
        return statement.replace("{events}", tables.events().sql());
    }

    private static List<String> texts(@Nullable Array array) throws SQLException {
        return array == null
                ? List.of()
                : Arrays.stream((@Nullable String[]) array.getArray())
                        .filter(Objects::nonNull)
                        .toList();
    }

    private static FoundEvent event(Place place, ResultSet row) throws SQLException {
        String state = row.getString("state");
        String topic = row.getString("topic");
        return new FoundEvent(
                place,
                row.getLong("number"),
                row.getObject("id", UUID.class),
                topic == null ? "" : topic,
                row.getString("key"),
                row.getString("type"),
                instant(row, "occurred_at"),
                row.getBoolean("sent"),
                instant(row, "deliver_at"),
                state == null ? null : ParkedState.of(state),
                row.getString("error"));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }
}
