package dev.twinbox.inbox.console;

import dev.twinbox.DeliveryContract;
import dev.twinbox.console.search.KafkaAccess;
import dev.twinbox.inbox.console.KafkaGroups.TopicParts;
import dev.twinbox.inbox.console.ReplaySelection.Bound;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.jdbc.ReplayJob.Partition;
import dev.twinbox.inbox.jdbc.ReplayTable;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;

/**
 * What a replay would read, and what an operator should know of it before.
 *
 * @param request the job
 * @param notes in the order in which they matter
 */
public record ReplayPlan(ReplayTable.Request request, List<String> notes) {

    /**
     * Looks at the tables and asks Kafka. Changes nothing.
     *
     * @throws IllegalArgumentException if it cannot be done; the message says why, and what to do
     * @throws KafkaException if Kafka does not answer; its message is for the operator
     */
    public static ReplayPlan of(
            Connection connection, SqlIdentifier inbox, @Nullable KafkaAccess kafka, ReplaySelection which)
            throws SQLException {
        List<HandlerTable.Row> rows = rows(HandlerTable.of(inbox).list(connection, which.group()), which);
        if (kafka == null) {
            throw new IllegalArgumentException("no brokers are configured, so the range cannot be found: set "
                    + ConsoleConfig.KAFKA_PREFIX + "bootstrap.servers");
        }
        List<String> notes = new ArrayList<>();
        noteState(connection, inbox, rows, which, notes);
        try (KafkaGroups groups = new KafkaGroups(kafka)) {
            TopicParts topic = groups.parts(which.topic());
            List<Partition> partitions = partitions(groups, topic, which, notes);
            return new ReplayPlan(request(rows.get(0).group(), topic, which, partitions), notes);
        }
    }

    private static ReplayTable.Request request(
            String group, TopicParts topic, ReplaySelection which, List<Partition> partitions) {
        Bound to = which.to();
        return new ReplayTable.Request(
                group,
                which.handler(),
                which.topic(),
                topic.id(),
                which.key(),
                which.isAgain(),
                which.from().text(),
                to == null ? "now" : to.text(),
                partitions);
    }

    /** What happens to known events, the order towards live events, and what the job waits for. */
    private static void noteState(
            Connection connection,
            SqlIdentifier inbox,
            List<HandlerTable.Row> rows,
            ReplaySelection which,
            List<String> notes)
            throws SQLException {
        notes.add(
                which.isAgain()
                        ? "Each event of the range is handled once more, also if it was handled before. Events that are "
                                + "parked are left alone."
                        : "Events that the inbox knows are skipped. So are those that are parked.");
        String group = rows.get(0).group();
        PausedTable paused = PausedTable.of(inbox);
        notes.add(
                isPaused(paused, connection, group, PausedTable.Kind.HANDLER, which.handler())
                        ? "Handler " + which.handler()
                                + " is paused: the job calls it all the same, and its live events "
                                + "come after the job, when you resume it."
                        : "There is no order between these events and live ones of the same key. For order, pause handler "
                                + which.handler() + " first, and resume it when the job is done.");
        if (isPaused(paused, connection, group, PausedTable.Kind.TOPIC, which.topic())) {
            notes.add("Topic " + which.topic() + " is paused: the job waits until you resume it.");
        }
        if (rows.stream().noneMatch(HandlerTable.Row::isThere)) {
            notes.add("No running instance has handler " + which.handler() + ": the job waits for one.");
        }
    }

    /** At most so many records. Those of a Kafka transaction that was aborted, and its marks, count too. */
    public long records() {
        return request.partitions().stream()
                .mapToLong(each -> each.to() - each.from())
                .sum();
    }

    /** The rows of the handler and the topic, in one group. */
    private static List<HandlerTable.Row> rows(List<HandlerTable.Row> announced, ReplaySelection which) {
        List<HandlerTable.Row> ofHandler = announced.stream()
                .filter(row -> row.handler().handler().equals(which.handler()))
                .toList();
        List<HandlerTable.Row> meant = ofHandler.stream()
                .filter(row -> row.handler().topic().equals(which.topic()))
                .toList();
        if (meant.isEmpty()) {
            throw new IllegalArgumentException("no handler \"" + which.handler() + "\" of topic \"" + which.topic()
                    + "\"" + (which.group() == null ? "" : " in group \"" + which.group() + "\"")
                    + " is announced; correct the names, there are: "
                    + announced.stream()
                            .map(row -> row.handler().handler() + " of topic "
                                    + row.handler().topic())
                            .collect(Collectors.toCollection(TreeSet::new)));
        }
        if (meant.stream().map(HandlerTable.Row::group).distinct().count() > 1) {
            throw new IllegalArgumentException("several groups have handler \"" + which.handler()
                    + "\": give one, there are "
                    + meant.stream().map(HandlerTable.Row::group).collect(Collectors.toCollection(TreeSet::new)));
        }
        checkContract(meant.get(0).handler().delivery(), which);
        return meant;
    }

    private static void checkContract(DeliveryContract contract, ReplaySelection which) {
        if (contract == DeliveryContract.AT_MOST_ONCE) {
            throw new IllegalArgumentException("handler \"" + which.handler()
                    + "\" is called at most once for an event, so it is never called again: choose another handler");
        }
        if (contract == DeliveryContract.AT_LEAST_ONCE && !which.isAgain()) {
            throw new IllegalArgumentException("handler \"" + which.handler()
                    + "\" is called at least once, so the inbox knows none of its events and can skip none: ask for all "
                    + "of them again (--again, \"again\": true)");
        }
    }

    private static boolean isPaused(
            PausedTable paused, Connection connection, String group, PausedTable.Kind kind, String name)
            throws SQLException {
        return paused.list(connection).stream()
                .anyMatch(row -> row.group().equals(group)
                        && row.kind() == kind
                        && row.name().equals(name));
    }

    private static List<Partition> partitions(
            KafkaGroups groups, TopicParts topic, ReplaySelection which, List<String> notes) {
        List<Integer> wanted = wanted(topic, which);
        List<Partition> parts = new ArrayList<>();
        for (int number : wanted) {
            long first = Objects.requireNonNull(topic.first().get(number));
            long end = Objects.requireNonNull(topic.end().get(number));
            long from = Math.max(0, at(groups, which.from(), which.topic(), number, first, end));
            Bound to = which.to();
            long until = to == null ? end : Math.min(end, at(groups, to, which.topic(), number, first, end));
            if (from < first && until > from) {
                notes.add("Partition " + number + ": offsets " + from + " to " + (Math.min(first, until) - 1)
                        + " are gone, the topic's retention has removed them.");
            } else if (which.from().time() != null && from == first && first > 0) {
                notes.add("Partition " + number + ": its oldest record is at offset " + first
                        + ". What was before it is gone, and may have been in the range.");
            }
            if (from < until) {
                parts.add(new Partition(number, from, until, from));
            }
        }
        if (parts.isEmpty()) {
            throw new IllegalArgumentException("nothing is in this range: topic \"" + which.topic()
                    + "\" has offsets " + topic.first() + " to " + topic.end()
                    + " (by partition, the end not included). "
                    + "Give another from or to");
        }
        return parts;
    }

    private static List<Integer> wanted(TopicParts topic, ReplaySelection which) {
        Integer only = which.partition();
        if (only != null && !topic.end().containsKey(only)) {
            throw new IllegalArgumentException("topic \"" + which.topic() + "\" has no partition " + only
                    + ": give one of " + topic.end().keySet());
        }
        if (only == null && which.hasOffsets() && topic.end().size() > 1) {
            throw new IllegalArgumentException(
                    "topic \"" + which.topic() + "\" has " + topic.end().size()
                            + " partitions, and an offset belongs to one of them: give the partition, or times");
        }
        return only == null ? List.copyOf(topic.end().keySet()) : List.of(only);
    }

    private static long at(KafkaGroups groups, Bound bound, String topic, int partition, long first, long end) {
        if (bound.offset() != null) {
            return bound.offset();
        }
        return bound.time() == null
                ? first
                : Objects.requireNonNullElse(groups.offsetAt(topic, partition, bound.time()), end);
    }
}
