package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Rows of the event table that the position has passed, in the order of their numbers. Within a key this is the order in
 * which they were sent. Bound to one connection; not for several threads.
 *
 * <p>Only numbers have an index. So a statement reads the next rows by number, and then leaves out those of other times,
 * topics and keys. It is bounded by the rows that it looks at, not by those that it finds.
 */
public final class SentEvents {
    private static final String LOOKED = """
            with looked as materialized (
              select seq, tx, topic, key, occurred_at, {size} as size, coalesce(octet_length(payload), 0) as payload
              from {events} where seq > ? {before} order by seq limit ?)
            """;

    private static final String PAGE = """
            -- relay: events to send again
            """ + LOOKED + """
            , wanted as materialized (
              select seq, row_number() over (order by seq) as place, sum(size) over (order by seq) - size as before
              from looked where {wanted})
            , chosen as materialized (select seq from wanted where place <= ? and (before < ? or place = 1))
            select s.looked, s.last, s.wanted > s.chosen as cut, s.newest, e.event
            from (select (select count(*) from looked) as looked, (select max(seq) from looked) as last,
                (select count(*) from wanted) as wanted, (select count(*) from chosen) as chosen,
                (select max(seq) from chosen) as newest) s
              left join lateral (
                select c.seq, l.event from chosen c
                  cross join lateral (select {event} as event from {events} where seq = c.seq offset 0) l) e on true
            order by e.seq
            """;

    private static final String COUNT = """
            -- operator: events that would be sent again
            """ + LOOKED + """
            select s.looked, s.last, t.* from (select count(*) as looked, max(seq) as last from looked) s
              left join (select topic, count(*) as events, sum(payload) as bytes, min(seq) as first, max(seq) as newest
                from looked where {wanted} group by topic) t on true
            order by t.topic
            """;

    /** See {@link Position}. */
    private static final String SENT = "(pg_visible_in_snapshot(tx, ?::pg_snapshot)"
            + " or (seq <= ? and pg_visible_in_snapshot(tx, ?::pg_snapshot)))";

    private static final String FIRST = """
            -- relay: oldest event that is left
            select seq, case when isfinite(occurred_at) then occurred_at end,
              extract(epoch from clock_timestamp() - case when isfinite(occurred_at) then occurred_at end)::float8,
              coalesce((select max(l.emptied_seq) from {lease} l where l.events is null or l.events = {own}), 0)
            from {events} order by seq limit 1
            """;

    /**
     * Which events are meant. Times are those of the events, as their applications have written them.
     *
     * @param from the first number; null: no limit
     * @param to one after the last number; null: no limit
     * @param fromTime the first time; null: no limit
     * @param toTime the end of the times, itself not included; null: no limit
     */
    public record Range(
            @Nullable Long from,
            @Nullable Long to,
            @Nullable Instant fromTime,
            @Nullable Instant toTime,
            @Nullable String topic,
            @Nullable String key) {
        /** Whether all later events belong to it. */
        public boolean isOpen() {
            return to == null && toTime == null;
        }
    }

    /**
     * Events that one statement has found.
     *
     * @param next the page after this one begins after this number
     * @param parked how many were left out, because they are in the table of parked events
     */
    public record Page(List<OutboxRecord> records, long next, boolean isLast, int parked) {}

    /** How many events of a topic were found, with the bytes of their payloads and their first and last number. */
    public record Found(String topic, long events, long bytes, long first, long last) {}

    /**
     * What was counted in some rows.
     *
     * @param next the count goes on after this number
     */
    public record Count(List<Found> found, long looked, long next, boolean isLast) {}

    /**
     * The oldest event that is left, with its age in seconds.
     *
     * @param emptied up to this number, some events were emptied from the table; 0: none
     */
    public record First(long seq, @Nullable Instant time, double age, long emptied) {}

    private final Connection connection;
    private final OutboxSchema schema;
    private final LargestEvent largest;
    private final ParkedTable parked;

    /** @param largest a larger event is read without its content */
    public SentEvents(Connection connection, OutboxSchema schema, String relay, LargestEvent largest) {
        this.connection = connection;
        this.schema = schema;
        this.largest = largest;
        this.parked = new ParkedTable(connection, schema, relay);
    }

    /** Null if the table is empty. */
    public @Nullable First first() throws SQLException {
        String sql = FIRST.replace("{own}", LeaseTable.own(schema))
                .replace("{lease}", schema.lease().sql());
        try (PreparedStatement first = connection.prepareStatement(ParkedTable.sql(sql, schema));
                ResultSet row = first.executeQuery()) {
            return row.next()
                    ? new First(
                            row.getLong(1),
                            instant(row.getObject(2, OffsetDateTime.class)),
                            row.getDouble(3),
                            row.getLong(4))
                    : null;
        }
    }

    private static @Nullable Instant instant(@Nullable OffsetDateTime time) {
        return time == null ? null : time.toInstant();
    }

    /**
     * The next events of a range.
     *
     * @param sent what this position has passed
     * @param after number after which it begins
     * @param look most rows that are read
     * @param most events of the page
     * @param bytes of the page; a larger event is alone in its page
     */
    public Page page(Range range, Position sent, long after, int look, int most, long bytes) throws SQLException {
        RecordAssembler assembler = new RecordAssembler(largest);
        String sql = PAGE.replace("{event}", RowSize.eventUnlessTooLarge("seq", largest));
        List<OutboxRecord> records = new ArrayList<>();
        long next = after;
        boolean isLast = true;
        try (PreparedStatement select = prepare(sql, range)) {
            int index = bind(select, range, sent, after, look);
            select.setInt(index, most);
            select.setLong(index + 1, bytes);
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    byte[] event = row.getBytes("event");
                    if (event != null) {
                        records.add(Objects.requireNonNull(assembler.assemble(ByteBuffer.wrap(event)), "not withheld"));
                    }
                    boolean isCut = row.getBoolean("cut");
                    long looked = row.getLong("looked");
                    next = looked == 0 ? after : row.getLong(isCut ? "newest" : "last");
                    isLast = looked < look && !isCut;
                }
            }
        }
        Set<Long> waiting = waiting(records);
        records.removeIf(record -> waiting.contains(record.seq()));
        return new Page(records, next, isLast, waiting.size());
    }

    /** Events that are not sent yet, although the position has passed them. */
    private Set<Long> waiting(List<OutboxRecord> records) throws SQLException {
        return records.isEmpty() || !parked.hasRows() ? Set.of() : parked.parkedOf(records);
    }

    /** Counts the events of a range in the next rows, for the operator. Parked ones are counted, too. */
    public Count count(Range range, Position sent, long after, int look) throws SQLException {
        try (PreparedStatement select = prepare(COUNT, range)) {
            bind(select, range, sent, after, look);
            List<Found> found = new ArrayList<>();
            long looked = 0;
            long next = after;
            try (ResultSet row = select.executeQuery()) {
                while (row.next()) {
                    looked = row.getLong("looked");
                    next = looked == 0 ? after : row.getLong("last");
                    String topic = row.getString("topic");
                    if (topic != null) {
                        found.add(new Found(
                                topic,
                                row.getLong("events"),
                                row.getLong("bytes"),
                                row.getLong("first"),
                                row.getLong("newest")));
                    }
                }
            }
            return new Count(found, looked, next, looked < look);
        }
    }

    private PreparedStatement prepare(String sql, Range range) throws SQLException {
        List<String> wanted = new ArrayList<>();
        wanted.add(SENT);
        if (range.fromTime() != null) {
            wanted.add("occurred_at >= ?");
        }
        if (range.toTime() != null) {
            wanted.add("occurred_at < ?");
        }
        if (range.topic() != null) {
            wanted.add("topic = ?");
        }
        if (range.key() != null) {
            wanted.add("key = ?");
        }
        String all = sql.replace("{wanted}", String.join(" and ", wanted))
                .replace("{before}", range.to() == null ? "" : "and seq < ?")
                .replace("{size}", RowSize.sql());
        return connection.prepareStatement(ParkedTable.sql(all, schema));
    }

    /** Returns the index of the next parameter. */
    private static int bind(PreparedStatement select, Range range, Position sent, long after, int look)
            throws SQLException {
        int next = 1;
        select.setLong(next++, after);
        if (range.to() != null) {
            select.setLong(next++, range.to());
        }
        select.setInt(next++, look);
        Snapshot to = sent.to();
        select.setObject(next++, sent.from().text(), Types.OTHER);
        select.setLong(next++, sent.seq());
        select.setObject(next++, (to == null ? Snapshot.EMPTY : to).text(), Types.OTHER);
        for (Instant time : new @Nullable Instant[] {range.fromTime(), range.toTime()}) {
            if (time != null) {
                select.setObject(next++, OffsetDateTime.ofInstant(time, ZoneOffset.UTC));
            }
        }
        for (String text : new @Nullable String[] {range.topic(), range.key()}) {
            if (text != null) {
                select.setString(next++, text);
            }
        }
        return next;
    }
}
