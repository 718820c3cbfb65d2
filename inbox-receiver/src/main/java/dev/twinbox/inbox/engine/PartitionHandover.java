package dev.twinbox.inbox.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;

/**
 * Takes partitions over from their previous owner and gives them back for the next owner.
 *
 * <p>Kafka calls it on the poll thread.
 */
final class PartitionHandover implements ConsumerRebalanceListener {

    private static final Logger LOG = System.getLogger(PartitionHandover.class.getName());

    /**
     * The mark that is committed with the offset when a partition is given back properly. The next owner removes it
     * before it hands out the first batch. A missing mark means that the previous owner may have crashed because of an
     * event.
     */
    private static final String GIVEN_BACK = "given back";

    private static final Duration TIMEOUT = Duration.ofSeconds(3);

    private final Consumer<byte[], byte[]> consumer;
    private final Map<TopicPartition, AssignedPartition> assigned;
    private final OffsetCommits commits;
    private final BatchDispatch dispatch;
    private final PartitionStarts starts;
    private final OffsetSaves saves;
    private final OffsetPolicy policy;
    private final String group;
    private final BrokerWatch brokerWatch;
    private final ReceiverStatus status;

    /** @param assigned the partitions of this member; only this class changes the map */
    PartitionHandover(
            Consumer<byte[], byte[]> consumer,
            Map<TopicPartition, AssignedPartition> assigned,
            OffsetCommits commits,
            BatchDispatch dispatch,
            PartitionStarts starts,
            OffsetSaves saves,
            OffsetPolicy policy,
            String group,
            BrokerWatch brokerWatch,
            ReceiverStatus status) {
        this.consumer = consumer;
        this.assigned = assigned;
        this.commits = commits;
        this.dispatch = dispatch;
        this.starts = starts;
        this.saves = saves;
        this.policy = policy;
        this.group = group;
        this.brokerWatch = brokerWatch;
        this.status = status;
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        brokerWatch.joined();
        if (!partitions.isEmpty()) {
            LOG.log(Level.INFO, "Group {0}: was assigned {1}", group, partitions);
        }
        saves.assigned();
        Map<TopicPartition, PartitionStart> found = new HashMap<>();
        Set<TopicPartition> withoutOffset = new HashSet<>();
        find(partitions, found, withoutOffset);
        for (TopicPartition partition : partitions) {
            if (!withoutOffset.contains(partition)) {
                assigned.put(partition, starts.begun(partition, found.getOrDefault(partition, PartitionStart.UNKNOWN)));
            }
        }
        if (!withoutOffset.isEmpty()) {
            starts.hold(withoutOffset);
        }
    }

    /**
     * Asks where partitions start. The handover is clean if the partition was given back properly. The mark is removed
     * now. If this instance dies during the first batch, the next owner finds no mark.
     *
     * <p>Nothing is found if Kafka does not answer in time, or refuses to. The next poll reports why.
     */
    private void find(
            Collection<TopicPartition> partitions,
            Map<TopicPartition, PartitionStart> found,
            Set<TopicPartition> withoutOffset) {
        if (policy == OffsetPolicy.BEFORE_HANDLING || partitions.isEmpty()) {
            return;
        }
        try {
            consumer.committed(Set.copyOf(partitions), TIMEOUT).forEach((partition, offset) -> {
                if (offset == null) {
                    withoutOffset.add(partition);
                } else {
                    HandoverKind handover =
                            offset.metadata().equals(GIVEN_BACK) ? HandoverKind.CLEAN : HandoverKind.AFTER_CRASH;
                    found.put(partition, PartitionStart.committed(offset.offset(), handover));
                }
            });
        } catch (KafkaException e) {
            LOG.log(Level.DEBUG, "The committed offsets are not known yet", e);
        }
        if (!unmark(found)) {
            found.clear();
        }
    }

    private boolean unmark(Map<TopicPartition, PartitionStart> starts) {
        Map<TopicPartition, OffsetAndMetadata> unmarked = new HashMap<>();
        starts.forEach((partition, start) -> {
            if (start.handover() == HandoverKind.CLEAN) {
                unmarked.put(partition, new OffsetAndMetadata(start.offset()));
            }
        });
        return unmarked.isEmpty() || commits.commitNow(unmarked);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        List<AssignedPartition> leaving = remaining(partitions);
        giveBack(leaving);
        forget(partitions);
        if (!leaving.isEmpty()) {
            LOG.log(Level.INFO, "Group {0}: gave back {1}", group, partitions);
        }
    }

    /** Commits nothing. Another member already has the partitions, and a commit would overwrite its offsets. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        List<AssignedPartition> lost = remaining(partitions);
        dispatch.cutShort(lost);
        forget(partitions);
        if (!lost.isEmpty()) {
            LOG.log(
                    Level.WARNING,
                    "Group {0}: lost {1}. What was in progress is redelivered to the new owner; "
                            + "what this instance committed is a duplicate there",
                    group,
                    partitions);
        }
    }

    /** Gives all partitions back, because the member leaves its group. */
    void giveBackAll() {
        giveBack(List.copyOf(assigned.values()));
        saves.note();
        assigned.clear();
    }

    /** Waits, for a bounded time, until no worker has events of these partitions. Then commits their offsets. */
    private void giveBack(List<AssignedPartition> leaving) {
        dispatch.settle(leaving);
        Map<TopicPartition, OffsetAndMetadata> offsets = offsetsToGiveBack(leaving);
        if (!offsets.isEmpty()) {
            commits.commitNow(offsets);
        }
    }

    private static Map<TopicPartition, OffsetAndMetadata> offsetsToGiveBack(Collection<AssignedPartition> partitions) {
        return partitions.stream()
                .filter(partition -> partition.offsetToGiveBack() >= 0)
                .collect(Collectors.toMap(
                        AssignedPartition::partition,
                        partition -> new OffsetAndMetadata(
                                partition.offsetToGiveBack(), partition.isRunning() ? "" : GIVEN_BACK)));
    }

    private List<AssignedPartition> remaining(Collection<TopicPartition> partitions) {
        return partitions.stream()
                .map(assigned::get)
                .filter(partition -> partition != null)
                .toList();
    }

    private void forget(Collection<TopicPartition> partitions) {
        partitions.forEach(partition -> {
            assigned.remove(partition);
            status.recovered(partition.toString());
        });
    }
}
