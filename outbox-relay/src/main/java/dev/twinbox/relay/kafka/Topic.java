package dev.twinbox.relay.kafka;

import dev.twinbox.console.search.KeyPartition;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * What Kafka reports of a topic at one moment.
 *
 * @param obstacle why nothing can be sent to it, for the operator; null if records can be sent
 * @param maxBytes largest batch that it accepts, in the size in which the client sends it
 * @param needsKey whether it is compacted and refuses records without a key
 * @param unwritable partitions without a leader, or with too few in-sync replicas
 * @param readAt monotonic time at which Kafka was asked
 */
public record Topic(
        Status status,
        @Nullable String obstacle,
        int partitions,
        long maxBytes,
        Key needsKey,
        Set<Integer> unwritable,
        long readAt) {
    public enum Status {
        AVAILABLE,
        MISSING,
        REFUSED
    }

    public enum Key {
        REQUIRED,
        OPTIONAL
    }

    static Topic obstacle(Status status, String obstacle, long readAt) {
        return new Topic(status, obstacle, 0, 0, Key.OPTIONAL, Set.of(), readAt);
    }

    /** The partition that Kafka's own partitioner chooses for a key. */
    public int partitionOf(byte[] key) {
        return KeyPartition.of(key, partitions);
    }
}
