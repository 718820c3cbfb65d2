package dev.twinbox.relay.jdbc;

import dev.twinbox.console.search.SearchLimit;
import dev.twinbox.console.search.SearchedPlace;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.relay.jdbc.EventPages.Order;
import dev.twinbox.relay.jdbc.FoundEvent.Place;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Looks for events in the tables, for an operator. No table has an index on the id or the key of an event, because each
 * event would pay for it. So rows are read in the order of their numbers, in pages, up to a limit of rows and of time.
 *
 * <p>Numbers grow with time, nearly. So the time in an id of version 7 leads to the rows that were written then, by a
 * binary search. From there it is looked upwards first, because a number is drawn at the end of the transaction. Other
 * events are looked for from the newest row downwards.
 *
 * <p>Each method sees its table at its own time. So call them in the order in which events move: scheduled, events,
 * parked. What is found in none of them was in none of them at some time.
 */
public final class EventSearch {
    /** Rows that one statement reads. The time is looked at between two of them. */
    private static final int PAGE_ROWS = 5_000;

    /** The part of the limit for rows upwards from the time of the event: a half. */
    private static final int UPWARDS = 2;

    /** The part for rows downwards from there, before the newest rows are looked at: an eighth. */
    private static final int DOWNWARDS = 8;

    /** Below all numbers. */
    private static final long FIRST = Long.MIN_VALUE + 1;

    private static final Map<Place, Duration> TIMES = Map.of(
            Place.SCHEDULED, Duration.ofSeconds(1),
            Place.EVENTS, Duration.ofSeconds(3),
            Place.PARKED, Duration.ofSeconds(1));

    private final Connection connection;
    private final OutboxSchema tables;
    private final String relay;
    private final EventQuery query;
    private final int most;
    private final Map<Place, Duration> times;
    private final List<FoundEvent> found = new ArrayList<>();
    private final SortedSet<String> topics = new TreeSet<>();

    private static final String NOW = """
            -- operator: what time is it
            select clock_timestamp()
            """;

    private interface Reading {
        /** Returns whether there is more to read. */
        boolean run(EventPages pages, Walk walk) throws SQLException;
    }

    /**
     * Nothing is read yet.
     *
     * @param connection for this search only
     * @param most rows that are read of each table
     */
    public EventSearch(Connection connection, OutboxSchema tables, String relay, EventQuery query, int most) {
        this(connection, tables, relay, query, most, TIMES);
    }

    EventSearch(
            Connection connection,
            OutboxSchema tables,
            String relay,
            EventQuery query,
            int most,
            Map<Place, Duration> times) {
        this.connection = connection;
        this.tables = tables;
        this.relay = relay;
        this.query = query;
        this.most = most;
        this.times = times;
    }

    /** The question with times instead of ages, by the database's clock. */
    public static EventQuery asOfNow(EventQuery query, Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(NOW)) {
            row.next();
            return query.asOf(row.getObject(1, OffsetDateTime.class).toInstant());
        }
    }

    /** All that was found until now. */
    public List<FoundEvent> found() {
        return List.copyOf(found);
    }

    /** The topics of the rows of the event table that were read. */
    public SortedSet<String> topics() {
        return topics;
    }

    /** Looks for events with a time of their own. */
    public SearchedPlace inScheduled() throws SQLException {
        return ScheduledEvents.areKnownTo(connection, tables)
                ? newestFirst(Place.SCHEDULED, tables.scheduled())
                : SearchedPlace.table(tables.scheduled().toString(), 0, false);
    }

    /** Looks for parked events. */
    public SearchedPlace inParked() throws SQLException {
        return newestFirst(Place.PARKED, tables.parked());
    }

    private SearchedPlace newestFirst(Place place, SqlIdentifier table) throws SQLException {
        return searched(place, table, (pages, walk) -> walk.down(Long.MAX_VALUE, FIRST, most) >= FIRST);
    }

    /** Looks for events in the event table, and whether the saved position has passed them. */
    public SearchedPlace inEvents() throws SQLException {
        return searched(Place.EVENTS, tables.events(), (pages, walk) -> {
            walk.limitStatements();
            EventPages.Ends ends = pages.ends();
            return ends != null && walkFromTheirTime(ends, pages, walk);
        });
    }

    private boolean walkFromTheirTime(EventPages.Ends ends, EventPages pages, Walk walk) throws SQLException {
        Instant madeAt = query.madeAt();
        long start = madeAt == null ? ends.last() + 1 : pages.near(madeAt, ends);
        long up = walk.up(start, ends.last(), most / UPWARDS);
        long down = walk.down(start - 1, ends.first(), most / DOWNWARDS);
        long top = walk.down(ends.last(), up, most);
        if (top < up) {
            down = walk.down(down, ends.first(), most);
        }
        return top >= up || down >= ends.first();
    }

    /** A statement that takes too long, and a right that is missing, end the search of one table. */
    private SearchedPlace searched(Place place, SqlIdentifier table, Reading reading) throws SQLException {
        String name = table.toString();
        Position position = new PositionTable(connection, tables, relay).load().position();
        EventPages pages = new EventPages(connection, tables, relay, query, position);
        Walk walk = new Walk(place, pages);
        try {
            boolean isMore = reading.run(pages, walk);
            boolean isFound = query.id() != null && walk.isEnough();
            return SearchedPlace.table(name, walk.rows, isMore && !isFound);
        } catch (SQLException e) {
            if (SqlState.QUERY_CANCELED.isOf(e)) {
                return SearchedPlace.table(name, walk.rows, true);
            }
            if (SqlState.INSUFFICIENT_PRIVILEGE.isOf(e) && !OutboxDatabase.isRowSecurity(e)) {
                return SearchedPlace.withProblem(
                        name, "it may not be read: grant select on " + name + " to the relay's role");
            }
            throw e;
        }
    }

    /** Through one table. */
    private final class Walk {
        private final Place place;
        private final EventPages pages;
        private final SearchLimit limit;
        private int hits;
        private long rows;

        private Walk(Place place, EventPages pages) {
            this.place = place;
            this.pages = pages;
            this.limit = new SearchLimit(most, times.getOrDefault(place, Duration.ZERO), System::nanoTime);
        }

        /** Reads upwards; returns the number that comes next. */
        private long up(long from, long until, int part) throws SQLException {
            long next = from;
            int left = Math.min(part, limit.left());
            while (next <= until && left > 0 && !isEnough()) {
                int asked = Math.min(left, PAGE_ROWS);
                EventPages.Page page = read(Order.UPWARDS, next, asked);
                next = page.read() < asked ? until + 1 : page.next();
                left = Math.min(left - page.read(), limit.left());
            }
            return next;
        }

        /** Reads downwards; returns the number that comes next. */
        private long down(long from, long until, int part) throws SQLException {
            long next = from;
            int left = Math.min(part, limit.left());
            while (next >= until && left > 0 && !isEnough()) {
                int asked = Math.min(left, PAGE_ROWS);
                EventPages.Page page = read(Order.DOWNWARDS, next, asked);
                next = page.read() < asked ? until - 1 : page.next();
                left = Math.min(left - page.read(), limit.left());
            }
            return next;
        }

        /** For the rest of the session, or until the next page. */
        private void limitStatements() throws SQLException {
            try (Statement statement = connection.createStatement()) {
                statement.execute("set statement_timeout = "
                        + Math.max(1, limit.timeLeft().toMillis()));
            }
        }

        private boolean isEnough() {
            return hits >= query.most();
        }

        private EventPages.Page read(Order order, long from, int asked) throws SQLException {
            limitStatements();
            EventPages.Page page = pages.read(place, order, from, asked);
            page.found().stream().limit(query.most() - hits).forEach(found::add);
            hits += page.found().size();
            rows += page.read();
            limit.count(page.read());
            if (place == Place.EVENTS) {
                topics.addAll(page.topics());
            }
            return page;
        }
    }
}
