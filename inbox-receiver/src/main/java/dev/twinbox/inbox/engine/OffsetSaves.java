package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.kafka.GroupOffsets;
import dev.twinbox.inbox.kafka.Position;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
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
    private final String group;

    /** What was true when the partitions were given back. */
    private Map<TopicPartition, Position> last = Map.of();

    private boolean isSaving;
    private boolean hasFailed;
    private long saveAt = System.nanoTime() + FIRST.toNanos();

    /** @param assigned the current partitions of this member; changes as partitions come and go */
    OffsetSaves(
            Map<TopicPartition, AssignedPartition> assigned,
            BackgroundQueries inquiries,
            GroupOffsets memory,
            String group) {
        this.assigned = assigned;
        this.inquiries = inquiries;
        this.memory = memory;
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
        Map<TopicPartition, Position> positions = positions();
        if (!positions.isEmpty()) {
            isSaving = true;
            inquiries.ask(() -> memory.save(positions), answer -> saved(), this::failed);
        }
    }

    /** The offset of a partition that is not read may be one that Kafka no longer has. */
    private Map<TopicPartition, Position> positions() {
        Map<TopicPartition, Position> positions = new HashMap<>();
        for (AssignedPartition partition : assigned.values()) {
            if (!partition.isStopped() && partition.offsetToGiveBack() >= 0) {
                positions.put(partition.partition(), new Position(partition.offsetToGiveBack(), partition.topicId()));
            }
        }
        return positions;
    }

    private void saved() {
        isSaving = false;
        hasFailed = false;
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
        last = positions();
    }

    /** Saves what was noted. Called after the group was left, so that it delays no other member. */
    void saveNoted() {
        if (last.isEmpty()) {
            return;
        }
        try {
            memory.save(last);
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
