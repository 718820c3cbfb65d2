package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.ErrorText;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Pattern;
import org.apache.kafka.clients.CommonClientConfigs;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.ApiException;
import org.apache.kafka.common.errors.TopicAuthorizationException;

/**
 * Takes the exceptions of a poll that concern single partitions. That partition stops, all others go on.
 *
 * <p>Used by the poll thread only.
 */
final class ReadFaults {

    private static final Logger LOG = System.getLogger(ReadFaults.class.getName());

    private static final Duration POSITION_TIMEOUT = Duration.ofMillis(200);
    private static final Duration BETWEEN_QUESTIONS = Duration.ofSeconds(2);

    private final Consumer<byte[], byte[]> consumer;
    private final Map<TopicPartition, AssignedPartition> assigned;
    private final BackgroundQueries inquiries;
    private final GroupOffsets memory;
    private final PartitionStarts starts;
    private final TopicAccess access;
    private final InboxConfig config;
    private final String group;
    private final ReceiverStatus status;

    /** Partitions whose offset is out of range for a reason that is not known yet, and that offset. */
    private final Map<AssignedPartition, Long> unexplained = new HashMap<>();

    private long askAt = System.nanoTime();

    /** @param assigned the current partitions of this member; changes as partitions come and go */
    ReadFaults(
            Consumer<byte[], byte[]> consumer,
            Map<TopicPartition, AssignedPartition> assigned,
            BackgroundQueries inquiries,
            GroupOffsets memory,
            PartitionStarts starts,
            TopicAccess access,
            InboxConfig config,
            String group,
            ReceiverStatus status) {
        this.consumer = consumer;
        this.assigned = assigned;
        this.inquiries = inquiries;
        this.memory = memory;
        this.starts = starts;
        this.access = access;
        this.config = config;
        this.group = group;
        this.status = status;
    }

    /** Returns whether the exception concerns single partitions or topics. Then the others can be polled on. */
    boolean take(KafkaException thrown) {
        if (thrown instanceof NoOffsetForPartitionException e) {
            starts.hold(e.partitions().stream()
                    .filter(consumer.assignment()::contains)
                    .toList());
            return true;
        }
        if (thrown instanceof OffsetOutOfRangeException e) {
            e.offsetOutOfRangePartitions().forEach(this::outOfRange);
            return true;
        }
        if (thrown instanceof TopicAuthorizationException e) {
            access.forbid(e.unauthorizedTopics());
            return true;
        }
        if (thrown instanceof ApiException) {
            return false; // an answer of the broker about the group or the connection
        }
        Optional<AssignedPartition> damaged = named(thrown, assigned.values());
        damaged.ifPresent(partition -> damaged(partition, thrown));
        return damaged.isPresent();
    }

    /** Records were deleted, the log was truncated, or the topic was created anew. Only the last is no loss. */
    private void outOfRange(TopicPartition partition, long offset) {
        AssignedPartition mine = assigned.get(partition);
        if (mine == null || mine.isStopped()) {
            return;
        }
        mine.stop();
        askWhy(mine, offset);
    }

    private void askWhy(AssignedPartition mine, long offset) {
        inquiries.ask(
                () -> memory.isOfFormerTopic(mine.partition()),
                isFormer -> outOfRange(mine, offset, isFormer),
                failure -> notExplained(mine, offset, failure));
    }

    private void outOfRange(AssignedPartition mine, long offset, boolean isOfFormerTopic) {
        if (assigned.get(mine.partition()) == mine && isOfFormerTopic) {
            status.recovered(mine.partition().toString());
            starts.restart(mine);
        } else {
            reportGap(mine, offset);
        }
    }

    /**
     * Only a true gap stops a partition for good. So the question is asked until Kafka and the database answer.
     *
     * <p><b>Remedy.</b> Make Kafka and the inbox database answer, or create the topic. The partition goes on by itself.
     */
    private void notExplained(AssignedPartition mine, long offset, Throwable failure) {
        if (assigned.get(mine.partition()) != mine) {
            return;
        }
        unexplained.put(mine, offset);
        askAt = System.nanoTime() + BETWEEN_QUESTIONS.toNanos();
        status.trouble(
                mine.partition().toString(),
                "offset " + offset + " is not on " + mine.partition() + ". Whether the topic was created anew is asked"
                        + " again every " + BETWEEN_QUESTIONS.toSeconds() + " s, because: " + ErrorText.of(failure));
    }

    /** Asks again what could not be answered. */
    void runOnce() {
        if (unexplained.isEmpty() || System.nanoTime() - askAt < 0) {
            return;
        }
        Map<AssignedPartition, Long> asked = Map.copyOf(unexplained);
        unexplained.clear();
        asked.forEach((mine, offset) -> {
            if (assigned.get(mine.partition()) == mine) {
                askWhy(mine, offset);
            }
        });
    }

    /** To continue at any other offset would hide the loss. */
    private void reportGap(AssignedPartition mine, long offset) {
        TopicPartition partition = mine.partition();
        report(
                mine,
                "Events may be lost: ",
                "offset " + offset + " of group " + group + " is not on " + partition
                        + " any more: its record was deleted by retention or lost with a broker."
                        + " The partition is not read. " + reset(partition, "--to-earliest"));
    }

    private void report(AssignedPartition mine, String headline, String text) {
        if (assigned.get(mine.partition()) == mine) {
            status.trouble(mine.partition().toString(), text);
            LOG.log(Level.ERROR, () -> headline + text);
        }
    }

    private String reset(TopicPartition partition, String to) {
        return "Stop the application, set the offset (kafka-consumer-groups.sh --bootstrap-server "
                + config.kafka().get(CommonClientConfigs.BOOTSTRAP_SERVERS_CONFIG) + " --group " + group + " --topic "
                + partition.topic() + ":" + partition.partition() + " --reset-offsets " + to
                + " --execute), and start the application again";
    }

    /**
     * Kafka cannot read a record batch, for example because its checksum is wrong.
     *
     * <p><b>Remedy.</b> Wait for the next message about the partition. It names the command that steps over the batch.
     */
    private void damaged(AssignedPartition mine, KafkaException thrown) {
        TopicPartition partition = mine.partition();
        if (mine.isStopped()) {
            return;
        }
        mine.stop();
        long offset = consumer.position(partition, POSITION_TIMEOUT);
        String text = "offset " + offset + " of " + partition + " cannot be read. The partition is not read. ";
        status.trouble(partition.toString(), text + "The receiver looks for the next record that can be read");
        inquiries.ask(
                () -> memory.nextReadable(partition, offset),
                next -> report(
                        mine,
                        "Record batch damaged: ",
                        text + "To go on without the records from " + offset + " to " + (next - 1) + ": "
                                + reset(partition, "--to-offset " + next) + ". Cause: " + ErrorText.of(thrown)),
                failure -> report(
                        mine,
                        "Record batch damaged: ",
                        text + "To go on without the damaged batch, find its last offset with kafka-dump-log.sh. "
                                + reset(partition, "--to-offset <last offset + 1>") + ". Cause: "
                                + ErrorText.of(thrown) + "; " + ErrorText.of(failure)));
    }

    /** The partition that an exception names. Kafka has no other way to say which one it is about. */
    static Optional<AssignedPartition> named(Throwable thrown, Collection<AssignedPartition> partitions) {
        return partitions.stream()
                .filter(partition -> isNamed(partition.partition(), thrown))
                .max(Comparator.comparing(
                        partition -> partition.partition().toString().length()));
    }

    private static boolean isNamed(TopicPartition partition, Throwable thrown) {
        Pattern name = Pattern.compile("(?<![\\w.-])" + Pattern.quote(partition.toString()) + "(?![\\w-]|\\.[\\w.-])");
        for (Throwable each = thrown; each != null; each = each.getCause()) {
            if (each.getMessage() != null && name.matcher(each.getMessage()).find()) {
                return true;
            }
        }
        return false;
    }
}
