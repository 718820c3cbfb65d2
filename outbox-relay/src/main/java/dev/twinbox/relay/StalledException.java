package dev.twinbox.relay;

import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/** Records get no answer although Kafka can be asked; they are set aside by the next session. */
final class StalledException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient Map<Long, Aside> asides;
    private final transient Set<TopicPartition> partitions;

    /**
     * @param asides by the number of the record
     * @param partitions which stand still
     */
    StalledException(Map<Long, Aside> asides, Set<TopicPartition> partitions) {
        super(asides.size() + " events got no answer although Kafka can be asked; standing still: " + partitions);
        this.asides = asides;
        this.partitions = partitions;
    }

    Map<Long, Aside> asides() {
        return asides;
    }

    Set<TopicPartition> partitions() {
        return partitions;
    }
}
