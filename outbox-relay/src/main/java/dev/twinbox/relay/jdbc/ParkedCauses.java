package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The parked events, grouped by why the first event of their key is parked, and by topic. Counting stops at a limit, so
 * the cost does not grow with what is parked.
 *
 * @param groups the largest first
 * @param moving events that the relay sends or removes by itself, and those after them in their keys
 * @param isCut whether a limit ended the counting: then there are more events, or more groups
 */
public record ParkedCauses(List<Group> groups, long moving, boolean isCut) {
    /** Most parked events that are read. */
    static final int LIMIT = 50_000;

    private static final int MOST_GROUPS = 200;
    private static final Duration TIME = Duration.ofSeconds(5);

    /** Told apart by the texts of the relay's errors; the first one that fits counts. The table has no other mark. */
    public enum Cause {
        INCOMPLETE("parked without "),
        PAUSED(" is paused by an operator: "),
        TOO_LARGE(
                "more than max.message.bytes",
                "RecordTooLargeException",
                "RecordBatchTooLargeException",
                "it is parked without being read: "),
        MISSING_TOPIC(" does not exist: create it"),
        NOT_AUTHORISED("TopicAuthorizationException"),
        ILLEGAL_TOPIC("is not a legal topic name", "InvalidTopicException"),
        NO_KEY("has no key, but its topic is compacted", "InvalidRecordException"),
        TIMESTAMP("refuses the relay's timestamps", "InvalidTimestampException"),
        STALLED(
                "accepts nothing although Kafka answers",
                "cannot be written: check their leaders",
                "was not taken by the producer for a long time",
                "times in a row, look at the topic"),
        REFUSED("Kafka refused "),
        OTHER("");

        /** Parts of errors, separated by line breaks. */
        private final String marks;

        Cause(String... marks) {
            this.marks = String.join("\n", marks);
        }

        /** Parts of errors by which it is known. */
        List<String> marks() {
            return marks.lines().toList();
        }

        /** All of them as texts. */
        public static List<String> texts() {
            return Arrays.stream(values()).map(Cause::text).toList();
        }

        /** As JSON and the API have it: {@code too-large}. */
        public String text() {
            return name().toLowerCase(Locale.ROOT).replace('_', '-');
        }

        /** The cause of this text; empty if there is none. */
        public static Optional<Cause> of(String text) {
            return Arrays.stream(values())
                    .filter(cause -> cause.text().equals(text))
                    .findFirst();
        }

        private String when() {
            return marks().stream()
                    .map(mark -> "position('" + mark.replace("'", "''") + "' in p.error) > 0")
                    .collect(Collectors.joining(" or ", "when ", " then '" + text() + "'"));
        }
    }

    /** The cause of a row {@code p}; null if the row does not wait for anything. */
    static final String CAUSE = "case when p.state not in ('refused', 'waiting') then null "
            + Arrays.stream(Cause.values())
                    .filter(cause -> cause != Cause.OTHER)
                    .map(Cause::when)
                    .collect(Collectors.joining(" "))
            + " else '" + Cause.OTHER.text() + "' end";

    /** Keys may be long, so they are sorted by a hash of 64 bits. Two keys with the same one would count as one. */
    static final String COUNT = """
            -- parked: causes
            with read as materialized (
              select p.number, p.state, p.topic, p.since, {cause} as cause,
                coalesce(hashtextextended(p.key, 0), p.number) as key
              from {parked} p where p.relay = ? order by p.number limit ?
            ), headed as (
              select r.*, first_value(r.cause) over (partition by r.topic, r.key order by r.number) as first_cause
              from read r
            ), grouped as (
              select first_cause, case when first_cause is null then '' else topic end as topic,
                count(distinct key) as keys, count(*) as events, count(*) filter (where state = 'refused') as refused,
                min(since) as oldest, min(number) as example
              from headed group by 1, 2
            )
            select g.*, p.error, (select count(*) from read) as read
            from grouped g left join {parked} p on p.relay = ? and p.number = g.example
            order by g.events desc, g.first_cause, g.topic limit ?
            """.replace("{cause}", CAUSE);

    /**
     * Events with the same remedy.
     *
     * @param keys how many keys stand still; an event without a key counts as one
     * @param events those that wait, and those after them in their keys
     * @param refused events of these that nothing but an operator moves
     * @param example number of the first one
     * @param error of the first one
     */
    public record Group(
            Cause cause,
            String topic,
            long keys,
            long events,
            long refused,
            Instant oldest,
            long example,
            @Nullable String error) {}

    /**
     * Counts now.
     *
     * @param connection for this only: its statements have a timeout from now on
     */
    public static ParkedCauses of(Connection connection, OutboxSchema tables, String relay) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("set statement_timeout = " + TIME.toMillis());
        }
        List<Group> groups = new ArrayList<>();
        long moving = 0;
        long read = 0;
        int rows = 0;
        try (PreparedStatement count = connection.prepareStatement(ParkedTable.sql(COUNT, tables))) {
            count.setString(1, relay);
            count.setInt(2, LIMIT);
            count.setString(3, relay);
            count.setInt(4, MOST_GROUPS);
            try (ResultSet row = count.executeQuery()) {
                while (row.next()) {
                    rows++;
                    read = row.getLong("read");
                    String cause = row.getString("first_cause");
                    if (cause == null) {
                        moving += row.getLong("events");
                    } else {
                        groups.add(group(Cause.of(cause).orElse(Cause.OTHER), row));
                    }
                }
            }
        }
        return new ParkedCauses(List.copyOf(groups), moving, read >= LIMIT || rows >= MOST_GROUPS);
    }

    private static Group group(Cause cause, ResultSet row) throws SQLException {
        return new Group(
                cause,
                row.getString("topic"),
                row.getLong("keys"),
                row.getLong("events"),
                row.getLong("refused"),
                row.getObject("oldest", OffsetDateTime.class).toInstant(),
                row.getLong("example"),
                row.getString("error"));
    }
}
