package dev.twinbox.relay.resend;

import dev.twinbox.console.search.SearchLimit;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.LargestEvent;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.SentEvents;
import dev.twinbox.relay.kafka.Topic;
import dev.twinbox.relay.kafka.Topics;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * What a job would send, as far as it can be counted in a short time. Nothing is changed.
 *
 * @param first the oldest event of the table; null: the table is empty
 * @param topics what was found, by topic
 * @param compacted those of the topics that are compacted
 * @param looked rows that were read
 * @param isCut whether the time was up before the end of the range
 * @param emptiedUpTo up to this number, some events of the range are not in the table any more; 0: all are there
 */
public record ResendPreview(
        SentEvents.@Nullable First first,
        SortedMap<String, SentEvents.Found> topics,
        SortedSet<String> compacted,
        long looked,
        boolean isCut,
        long emptiedUpTo) {
    private static final Duration TIME = Duration.ofSeconds(5);
    private static final int LOOK = 5_000;

    /**
     * Counts, and asks Kafka about the topics.
     *
     * @param connection for this only
     * @throws RelayException if such a job is refused
     */
    public static ResendPreview of(RelayConfig config, Connection connection, SentEvents.Range range)
            throws SQLException {
        return of(config, connection, range, TIME);
    }

    static ResendPreview of(RelayConfig config, Connection connection, SentEvents.Range range, Duration time)
            throws SQLException {
        refuseRelay(config, connection);
        if (!new ResendTable(connection, config.tables(), config.name()).exists()) {
            throw new RelayException(
                    ExitCode.SCHEMA,
                    "events cannot be sent again, there is no table "
                            + config.tables().resend() + ": run \"twinbox-relay migrate\" as the tables' owner");
        }
        SentEvents events = new SentEvents(connection, config.tables(), config.name(), LargestEvent.UNLIMITED);
        SentEvents.First first = events.first();
        String emptied = ResendRules.emptied(range, first);
        if (emptied != null || first == null) {
            throw refused(String.valueOf(emptied));
        }
        Position position = new PositionTable(connection, config.tables(), config.name())
                .load()
                .position();
        Counted counted = count(events, range, position, first, time);
        SortedSet<String> topics = new TreeSet<>(counted.found().keySet());
        if (range.topic() != null) {
            topics.add(range.topic());
        }
        SortedSet<String> compacted = compacted(config, range, topics);
        String hole = compacted.isEmpty() ? null : ResendRules.hole(range, first);
        if (hole != null) {
            throw refused(hole);
        }
        return new ResendPreview(
                first,
                counted.found(),
                compacted,
                counted.looked(),
                counted.isCut(),
                ResendRules.emptiedUpTo(range, first));
    }

    private record Counted(SortedMap<String, SentEvents.Found> found, long looked, boolean isCut) {}

    private static Counted count(
            SentEvents events, SentEvents.Range range, Position position, SentEvents.First first, Duration time)
            throws SQLException {
        SortedMap<String, SentEvents.Found> found = new TreeMap<>();
        SearchLimit limit = new SearchLimit(Integer.MAX_VALUE, time, System::nanoTime);
        Long from = range.from();
        long next = (from == null ? first.seq() : from) - 1;
        long looked = 0;
        boolean isLast = false;
        while (!isLast && limit.left() > 0) {
            SentEvents.Count count = events.count(range, position, next, LOOK);
            count.found().forEach(each -> found.merge(each.topic(), each, ResendPreview::plus));
            looked += count.looked();
            next = count.next();
            isLast = count.isLast();
        }
        return new Counted(found, looked, !isLast);
    }

    private static SentEvents.Found plus(SentEvents.Found one, SentEvents.Found other) {
        return new SentEvents.Found(
                one.topic(), one.events() + other.events(), one.bytes() + other.bytes(), one.first(), other.last());
    }

    private static void refuseRelay(RelayConfig config, Connection connection) throws SQLException {
        LeaseTable.Seen lease = new LeaseTable(connection, config.tables(), config.name()).look();
        if (lease == null || !lease.taken()) {
            throw refused("relay \"" + config.name() + "\" has never run on these tables: check twinbox.relay.name");
        }
        if (config.delivery().mode() == DeliveryMode.EXACTLY_ONCE || lease.delivery() == DeliveryMode.EXACTLY_ONCE) {
            throw refused("relay \"" + config.name() + "\" publishes exactly once, and a second copy would break that: "
                    + "let the consumers read the topic again");
        }
    }

    private static SortedSet<String> compacted(RelayConfig config, SentEvents.Range range, SortedSet<String> names) {
        SortedSet<String> compacted = new TreeSet<>();
        try (Topics topics = new Topics(config.kafka())) {
            for (String name : names) {
                Topic topic = topics.fresh(name);
                String refusal = ResendRules.refusal(range, name, topic);
                if (refusal != null) {
                    throw refused(refusal);
                }
                if (topic.needsKey() == Topic.Key.REQUIRED) {
                    compacted.add(name);
                }
            }
        } catch (KafkaException e) {
            throw new RelayException(
                    ExitCode.USAGE,
                    "Kafka at " + config.kafka().bootstrapServers()
                            + " cannot be asked whether the topics are compacted: " + e.getMessage()
                            + "; check the brokers and the network",
                    e);
        }
        return compacted;
    }

    /** How many events were found. */
    public long events() {
        return topics.values().stream().mapToLong(SentEvents.Found::events).sum();
    }

    /**
     * Fails if a job cannot be requested with what is known.
     *
     * @throws RelayException if not all topics of the range are known
     */
    public void refuseUnknownTopics(SentEvents.Range range) {
        if (isCut && range.topic() == null) {
            throw refused("the range is too large to find out its topics in " + TIME.toSeconds()
                    + " s, and one of them " + "may be compacted: name a topic, or request a smaller range");
        }
    }

    private static RelayException refused(String why) {
        return new RelayException(ExitCode.USAGE, why);
    }
}
