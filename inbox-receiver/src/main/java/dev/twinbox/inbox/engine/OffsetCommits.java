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
 * Commits the offsets of settled events: asynchronously at intervals, or synchronously where the caller needs the
 * result.
 *
 * <p>Used by the poll thread only.
 */
final class OffsetCommits {

    private static final Logger LOG = System.getLogger(OffsetCommits.class.getName());

    private static final Duration TIMEOUT = Duration.ofSeconds(3);
    private static final Duration RETRY = Duration.ofMillis(500);
    /**
     * Each commit is a request to the broker. Without an interval, single events would cause hundreds of requests a
     * second.
     */
    private static final Duration INTERVAL = Duration.ofMillis(20);

    private final Consumer<byte[], byte[]> consumer;
    private final Map<TopicPartition, AssignedPartition> assigned;
    private boolean inFlight;
    private long nextCommitAt = System.nanoTime();

    /** @param assigned the current partitions of this member; changes as partitions come and go */
    OffsetCommits(Consumer<byte[], byte[]> consumer, Map<TopicPartition, AssignedPartition> assigned) {
        this.consumer = consumer;
        this.assigned = assigned;
    }

    /**
     * Commits what is settled, unless a request is in flight or the interval is not over. Later offsets go with the
     * next request.
     */
    void commitSettled() {
        long now = System.nanoTime();
        if (inFlight || now - nextCommitAt < 0) {
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> offsets = settledOffsets(assigned.values());
        if (!offsets.isEmpty()) {
            inFlight = true;
            nextCommitAt = now + INTERVAL.toNanos();
            consumer.commitAsync(offsets, this::committed);
        }
    }

    /** Nanoseconds until something can be committed; {@link Long#MAX_VALUE} if nothing is waiting for a commit. */
    long nanosToWait(long now) {
        boolean isWaiting = !inFlight && assigned.values().stream().anyMatch(AssignedPartition::hasOffsetToCommit);
        return isWaiting ? Math.max(0, nextCommitAt - now) : Long.MAX_VALUE;
    }

    /** Commits and waits for the answer. Returns whether the offsets are committed. */
    boolean commitNow(Map<TopicPartition, OffsetAndMetadata> offsets) {
        while (true) {
            try {
                consumer.commitSync(offsets, TIMEOUT);
                noteCommitted(offsets);
                return true;
            } catch (WakeupException e) {
                // The wake-up was meant for a poll that has already ended. It is used up now.
            } catch (KafkaException e) {
                LOG.log(Level.WARNING, "Offsets {0} could not be committed: {1}", offsets, e.toString());
                return false;
            }
        }
    }

    private void committed(Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable Exception failure) {
        inFlight = false;
        if (failure == null) {
            noteCommitted(offsets);
        } else {
            nextCommitAt = System.nanoTime() + RETRY.toNanos();
            LOG.log(Level.DEBUG, "Offsets could not be committed; the commit is retried", failure);
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
                        AssignedPartition::partition, partition -> partition.commit(partition.settledTo())));
    }
}
