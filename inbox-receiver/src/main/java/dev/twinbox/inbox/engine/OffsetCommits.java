package dev.twinbox.inbox.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collection;
import java.util.Map;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * Commits the offsets of settled events: now and then without waiting, or at once where the caller has to know.
 *
 * <p>Used by the poll thread only.
 */
final class OffsetCommits {

    private static final Logger LOG = System.getLogger(OffsetCommits.class.getName());

    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Duration RETRY = Duration.ofMillis(500);
    /** Each commit is a request to the broker, and a group whose events come one by one settles hundreds of batches a second. */
    private static final Duration INTERVAL = Duration.ofMillis(20);

    private final Consumer<byte[], byte[]> consumer;
    private final Map<TopicPartition, AssignedPartition> assigned;
    private boolean inFlight;
    private long notBefore = System.nanoTime();

    /** @param assigned the partitions of this member, as they are at any time */
    OffsetCommits(Consumer<byte[], byte[]> consumer, Map<TopicPartition, AssignedPartition> assigned) {
        this.consumer = consumer;
        this.assigned = assigned;
    }

    /** One request at a time, and not too many: what is settled meanwhile goes with the next. */
    void commitSettled() {
        long now = System.nanoTime();
        if (inFlight || now - notBefore < 0) {
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> offsets = settledOffsets(assigned.values());
        if (!offsets.isEmpty()) {
            inFlight = true;
            notBefore = now + INTERVAL.toNanos();
            consumer.commitAsync(offsets, this::committed);
        }
    }

    /** Nanoseconds until there is something to commit; {@link Long#MAX_VALUE} if nothing is known of that. */
    long nanosToWait(long now) {
        boolean isWaiting = !inFlight && assigned.values().stream().anyMatch(AssignedPartition::hasOffsetToCommit);
        return isWaiting ? Math.max(0, notBefore - now) : Long.MAX_VALUE;
    }

    /** Waits for the answer. Returns whether they are committed. */
    boolean commitNow(Map<TopicPartition, OffsetAndMetadata> offsets) {
        while (true) {
            try {
                consumer.commitSync(offsets, TIMEOUT);
                noteCommitted(offsets);
                return true;
            } catch (WakeupException e) {
                // Meant for a poll that had ended; it is used up now.
            } catch (KafkaException e) {
                LOG.log(Level.WARNING, "Offsets {0} were not committed: {1}", offsets, e.toString());
                return false;
            }
        }
    }

    private void committed(Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable Exception failure) {
        inFlight = false;
        if (failure == null) {
            noteCommitted(offsets);
        } else {
            notBefore = System.nanoTime() + RETRY.toNanos();
            LOG.log(Level.DEBUG, "Offsets were not committed, will try again", failure);
        }
    }

    private void noteCommitted(Map<TopicPartition, OffsetAndMetadata> offsets) {
        offsets.forEach((partition, offset) -> {
            AssignedPartition mine = assigned.get(partition);
            if (mine != null) {
                mine.committed(offset.offset());
            }
        });
    }

    private static Map<TopicPartition, OffsetAndMetadata> settledOffsets(Collection<AssignedPartition> partitions) {
        return partitions.stream()
                .filter(AssignedPartition::hasOffsetToCommit)
                .collect(Collectors.toMap(
                        AssignedPartition::partition, partition -> new OffsetAndMetadata(partition.settledTo())));
    }
}
