package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * Has the inbox database remember how far the group is, every minute and before the group is left. Kafka forgets the
 * offsets of a group that was away for some days.
 *
 * <p>Used by the poll thread only.
 */
final class OffsetSaves {

    private static final Logger LOG = System.getLogger(OffsetSaves.class.getName());

    private static final Duration INTERVAL = Duration.ofMinutes(1);

    /** By then Kafka has said whether the committed offsets can be read. */
    private static final Duration FIRST = Duration.ofSeconds(5);

    private final Map<TopicPartition, AssignedPartition> assigned;
    private final BackgroundQueries inquiries;
    private final GroupOffsets memory;
    private final PartitionStarts starts;
    private final OffsetPolicy policy;
    private final String group;

    /** What was true when the partitions were given back. */
    private Map<TopicPartition, Long> last = Map.of();

    private boolean isSaving;
    private boolean hasFailed;
    private long saveAt = System.nanoTime() + FIRST.toNanos();

    /** @param assigned the current partitions of this member; changes as partitions come and go */
    OffsetSaves(
            Map<TopicPartition, AssignedPartition> assigned,
            BackgroundQueries inquiries,
            GroupOffsets memory,
            PartitionStarts starts,
            OffsetPolicy policy,
            String group) {
        this.assigned = assigned;
        this.inquiries = inquiries;
        this.memory = memory;
        this.starts = starts;
        this.policy = policy;
        this.group = group;
    }

    /** Partitions were assigned: they are saved soon. */
    void assigned() {
        saveAt = System.nanoTime() + FIRST.toNanos();
    }

    /** Saves if it is time to. */
    void runOnce() {
        if (isSaving || System.nanoTime() - saveAt < 0) {
            return;
        }
        saveAt = System.nanoTime() + INTERVAL.toNanos();
        Map<TopicPartition, Long> offsets = offsets();
        if (!offsets.isEmpty()) {
            isSaving = true;
            inquiries.ask(() -> memory.save(offsets), this::saved, this::failed);
        }
    }

    /** The offset of a partition that is not read may be one that Kafka no longer has. */
    private Map<TopicPartition, Long> offsets() {
        Map<TopicPartition, Long> offsets = new HashMap<>();
        for (AssignedPartition partition : assigned.values()) {
            if (!partition.isStopped() && partition.offsetToGiveBack() >= 0) {
                offsets.put(partition.partition(), partition.offsetToGiveBack());
            }
        }
        return offsets;
    }

    private void saved(Set<String> createdAnew) {
        isSaving = false;
        hasFailed = false;
        if (policy == OffsetPolicy.AFTER_HANDLING) { // the other policy may not read a record twice
            List<AssignedPartition> former = assigned.values().stream()
                    .filter(partition ->
                            createdAnew.contains(partition.partition().topic()))
                    .filter(partition -> !partition.isStopped())
                    .toList();
            former.forEach(starts::restart);
        }
    }

    private void failed(Throwable cause) {
        isSaving = false;
        if (!hasFailed) {
            hasFailed = true;
            LOG.log(
                    Level.WARNING,
                    "The inbox database cannot remember the offsets of group {0}; the receiver tries again every "
                            + "minute: {1}",
                    group,
                    ErrorText.of(cause));
        }
    }

    /** Notes the offsets before the partitions are forgotten. */
    void note() {
        last = offsets();
    }

    /** Saves what was noted. Called after the group was left, so that it delays no other member. */
    void saveNoted() {
        if (last.isEmpty()) {
            return;
        }
        try {
            memory.saveLast(last);
        } catch (Exception | Error e) {
            LOG.log(
                    Level.WARNING,
                    "The inbox database could not remember the last offsets of group {0}. It has those of a minute "
                            + "before: {1}",
                    group,
                    ErrorText.of(e));
        }
        last = Map.of();
    }
}
