package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.ConsumerSettings;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.kafka.GroupOffsets;
import dev.twinbox.inbox.kafka.HandoverKind;
import dev.twinbox.inbox.kafka.OffsetPolicy;
import dev.twinbox.inbox.kafka.PartitionStart;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collection;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Starts partitions for which Kafka has no committed offset. Each is held until it is known where the group has to
 * start. Other partitions go on meanwhile.
 *
 * <p>Used by the poll thread only.
 */
final class PartitionStarts {

    private static final Logger LOG = System.getLogger(PartitionStarts.class.getName());

    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

    private final Consumer<byte[], byte[]> consumer;
    private final Map<TopicPartition, AssignedPartition> assigned;
    private final OffsetCommits commits;
    private final BackgroundQueries inquiries;
    private final GroupOffsets memory;
    private final OffsetPolicy policy;
    private final InboxConfig config;
    private final String group;
    private final ReceiverStatus status;
    private final String subject;

    /** Partitions that wait for their start. */
    private final Map<TopicPartition, AssignedPartition> held = new HashMap<>();

    /** Partitions that start anew as soon as what was fetched is settled. */
    private final Map<TopicPartition, AssignedPartition> restarting = new HashMap<>();

    private boolean isAsking;
    private long askAt = System.nanoTime();

    /** @param assigned the partitions of this member */
    PartitionStarts(
            Consumer<byte[], byte[]> consumer,
            Map<TopicPartition, AssignedPartition> assigned,
            OffsetCommits commits,
            BackgroundQueries inquiries,
            GroupOffsets memory,
            OffsetPolicy policy,
            InboxConfig config,
            String group,
            ReceiverStatus status) {
        this.consumer = consumer;
        this.assigned = assigned;
        this.commits = commits;
        this.inquiries = inquiries;
        this.memory = memory;
        this.policy = policy;
        this.config = config;
        this.group = group;
        this.status = status;
        this.subject = "offsets of group " + group;
    }

    /** A partition that is read from its start on. */
    AssignedPartition begun(TopicPartition partition, PartitionStart start) {
        int suspects = start.handover() == HandoverKind.CLEAN ? 0 : mostInProgress();
        AssignedPartition begun = new AssignedPartition(partition, start.offset(), suspects, lanes());
        begun.belongTo(start.topicId());
        begun.doubt(); // its topic may have been created anew since
        return begun;
    }

    /** Events whose offset is committed first are handled one by one. */
    private int lanes() {
        return policy == OffsetPolicy.BEFORE_HANDLING ? 1 : config.lanes().number();
    }

    /** The most events that the previous owner can have had in progress. */
    private int mostInProgress() {
        return lanes() == 1
                ? config.batch().size()
                : config.lanes().ahead() + ConsumerSettings.mostRecordsOfAPoll(config);
    }

    /** Reads nothing of these partitions until it is known where they start. */
    void hold(Collection<TopicPartition> partitions) {
        for (TopicPartition partition : partitions) {
            AssignedPartition mine = begun(partition, PartitionStart.UNKNOWN);
            mine.stop();
            mine.pause();
            assigned.put(partition, mine);
            held.put(partition, mine);
            consumer.seek(partition, 0); // a consumer does not poll while a partition has no position
        }
        consumer.pause(partitions);
        askAt = System.nanoTime();
        runOnce();
    }

    /** The topic was created anew: starts the partition at its beginning, once what was fetched is settled. */
    void restart(AssignedPartition partition) {
        partition.stop();
        if (restarting.put(partition.partition(), partition) == partition) {
            return;
        }
        LOG.log(
                Level.WARNING,
                "Topic {0} was deleted and created anew. Group {1} starts at the beginning of the new partition {2}",
                partition.partition().topic(),
                group,
                partition.partition());
    }

    /** Asks where held partitions start, if it is time to. */
    void runOnce() {
        restartSettled();
        held.entrySet().removeIf(entry -> assigned.get(entry.getKey()) != entry.getValue());
        if (isAsking || held.isEmpty() || System.nanoTime() - askAt < 0) {
            return;
        }
        isAsking = true;
        Map<TopicPartition, AssignedPartition> asked = Map.copyOf(held);
        inquiries.ask(() -> memory.starts(asked.keySet()), starts -> start(asked, starts), this::failed);
    }

    private void restartSettled() {
        restarting.entrySet().removeIf(entry -> assigned.get(entry.getKey()) != entry.getValue());
        List<TopicPartition> settled = restarting.values().stream()
                .filter(AssignedPartition::isHandled)
                .map(AssignedPartition::partition)
                .toList();
        if (!settled.isEmpty()) {
            hold(settled);
        }
    }

    private void start(Map<TopicPartition, AssignedPartition> asked, Map<TopicPartition, PartitionStart> starts) {
        answered();
        Map<TopicPartition, PartitionStart> wanted = new HashMap<>(starts);
        wanted.keySet().removeIf(partition -> assigned.get(partition) != asked.get(partition));
        if (wanted.isEmpty()) {
            return;
        }
        report(wanted);
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        wanted.forEach((partition, start) -> offsets.put(partition, start.commit()));
        // If this instance dies during the first batch, the next owner finds an offset without a mark.
        boolean isCommitted = commits.commitNow(offsets);
        wanted.forEach((partition, start) -> {
            held.remove(partition);
            consumer.seek(partition, start.offset());
            HandoverKind handover = isCommitted ? start.handover() : HandoverKind.AFTER_CRASH;
            assigned.put(
                    partition,
                    begun(partition, new PartitionStart(start.offset(), handover, start.reason(), start.topicId())));
        });
        consumer.resume(wanted.keySet());
    }

    private void answered() {
        isAsking = false;
        askAt = System.nanoTime() + ASK_AGAIN.toNanos(); // for partitions whose topic was not found
        if (status.recovered(subject)) {
            LOG.log(Level.INFO, "Group {0}: it is known where its partitions start", group);
        }
    }

    /** <b>Remedy.</b> The rest of the message names it. */
    private void failed(Throwable cause) {
        isAsking = false;
        askAt = System.nanoTime() + ASK_AGAIN.toNanos();
        String text = "it is not known yet where " + held.keySet() + " start; the receiver asks again: "
                + ErrorText.of(cause);
        if (status.trouble(subject, text)) {
            LOG.log(Level.WARNING, "Group {0}: {1}", group, text);
        }
    }

    private void report(Map<TopicPartition, PartitionStart> starts) {
        Map<PartitionStart.Reason, SortedMap<String, Long>> byReason = new EnumMap<>(PartitionStart.Reason.class);
        starts.forEach((partition, start) -> byReason.computeIfAbsent(start.reason(), reason -> new TreeMap<>())
                .put(partition.toString(), start.offset()));
        byReason.forEach((reason, offsets) -> {
            switch (reason) {
                case REMEMBERED ->
                    LOG.log(
                            Level.WARNING,
                            "Kafka has no offset of group {0} any more for {1}: it expired or was deleted. The group "
                                    + "goes on at the offset that the inbox database remembers",
                            group,
                            offsets);
                case AT_THE_END ->
                    LOG.log(
                            Level.WARNING,
                            "Kafka has no offset of group {0} any more for {1}: it expired or was deleted. "
                                    + "AT_MOST_ONCE handlers go on at the end; records before it are not handled",
                            group,
                            offsets);
                case NEW_TOPIC ->
                    LOG.log(
                            Level.INFO,
                            "Group {0} reads {1} for the first time; it starts as configured ({2})",
                            group,
                            offsets,
                            config.start());
                case NEW_PARTITION, COMMITTED ->
                    LOG.log(
                            Level.INFO,
                            "Group {0} has no offset for {1}, which is new to it; it starts at the beginning",
                            group,
                            offsets);
            }
        });
    }
}
