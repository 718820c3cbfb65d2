package dev.twinbox.inbox.config;

import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.jdbc.SqlIdentifier;
import java.time.Duration;
import java.util.Map;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * Everything that can be set on a receiver, parsed and checked. Read once at deployment, never changed.
 *
 * @param group Kafka consumer group
 * @param dataSource JNDI name
 * @param table the inbox table
 * @param batch how much goes into one transaction
 * @param workers number of threads that run handlers
 * @param lanes how many of them have to do with one partition
 * @param handlerTimeout how long a call of a handler may take, if the handler does not say otherwise
 * @param buffer what may wait for them in memory
 * @param backoff waits between attempts
 * @param parking what becomes of an event whose handler fails
 * @param start where the group starts on a topic that it has never read
 * @param retention how long inbox rows are kept; null: for ever
 * @param shutdownTimeout how long a stop waits for the record that is being handled
 * @param formats how the producers of the topics write
 * @param unknownType what becomes of events that are for no handler
 * @param kafka consumer settings by Kafka's own names, without those that the receiver fixes; may hold secrets
 */
public record InboxConfig(
        String group,
        String dataSource,
        SqlIdentifier table,
        Batch batch,
        int workers,
        Lanes lanes,
        Duration handlerTimeout,
        Buffer buffer,
        Backoff backoff,
        Parking parking,
        FirstStart start,
        @Nullable Duration retention,
        Duration shutdownTimeout,
        TopicFormat.OfTopics formats,
        UnknownType unknownType,
        Map<String, String> kafka) {

    static final String FOR_EVER = "forever";

    /** With several lanes: a crash redelivers up to this many records, plus one poll. */
    static final int LANES_AHEAD = 5_000;

    /** The longest wait for the database. Short, so that the receiver goes on soon after a fail-over. */
    private static final Duration LONGEST_DATABASE_WAIT = Duration.ofSeconds(10);

    /** The wait before the second attempt. */
    static final Duration FIRST_RETRY = Duration.ofMillis(100);

    /**
     * How much goes into one transaction.
     *
     * @param size most records in one transaction
     * @param maxTime no further record is started after this time
     */
    public record Batch(int size, Duration maxTime) {}

    /**
     * How many batches of one partition are handled at the same time.
     *
     * @param number most batches of one partition at the same time
     * @param ahead most records from the first that is not settled to the last that is fetched
     */
    public record Lanes(int number, int ahead) {}

    /**
     * How many bytes may wait in memory.
     *
     * @param partitionBytes of one partition
     * @param totalBytes of all partitions
     */
    public record Buffer(int partitionBytes, int totalBytes) {

        static final Buffer DEFAULT = new Buffer(32 << 20, 128 << 20);
    }

    /**
     * What becomes of an event whose handler fails.
     *
     * @param table where parked events are
     * @param quickTries failures in place before an event is parked
     * @param attempts failures in all before it is given up
     * @param backoff waits between attempts of a parked event
     * @param whenDead state of an event that is given up
     */
    public record Parking(SqlIdentifier table, int quickTries, int attempts, Backoff backoff, State whenDead) {}

    /** The consumer group of {@code AT_MOST_ONCE} handlers: their early commits would lose the events of other handlers. */
    public String atMostOnceGroup() {
        return group + "-at-most-once";
    }

    /** Waits while the database does not work. */
    public Backoff databaseBackoff() {
        boolean isShorter = backoff.max().compareTo(LONGEST_DATABASE_WAIT) < 0;
        return new Backoff(backoff.initial(), isShorter ? backoff.max() : LONGEST_DATABASE_WAIT);
    }

    /** Whole days as days: the ISO form of 15 days would be PT360H. */
    public static String text(Duration duration) {
        boolean wholeDays = !duration.isZero() && duration.equals(Duration.ofDays(duration.toDays()));
        return wholeDays ? "P" + duration.toDays() + "D" : duration.toString();
    }

    /** Kafka's settings are left out: they may hold secrets, and Kafka logs its own, masked. */
    @Override
    public String toString() {
        return "group=" + group + ", data-source=" + dataSource + ", table=" + table + ", batch.size=" + batch.size()
                + ", batch.max-time=" + batch.maxTime() + ", workers=" + workers + ", lanes=" + lanes
                + ", handler-timeout="
                + handlerTimeout + ", buffer="
                + buffer + ", retry=" + backoff.initial() + ".."
                + backoff.max() + ", parking=" + parking + ", start=" + start + ", retention="
                + (retention == null ? FOR_EVER : InboxConfig.text(retention)) + ", shutdown-timeout=" + shutdownTimeout
                + ", formats=" + formats + ", unknown-type=" + unknownType + ", kafka=" + new TreeSet<>(kafka.keySet());
    }
}
