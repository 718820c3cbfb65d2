package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.ParkReason;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/** Records get no answer although Kafka answers other requests. The next session parks them. */
final class StalledException extends Exception {
    private static final long serialVersionUID = 1L;

    private final transient Map<Long, ParkReason> reasons;
    private final transient Set<TopicPartition> partitions;

    /**
     * @param reasons by the number of the record
     * @param partitions the partitions that stand still
     */
    StalledException(Map<Long, ParkReason> reasons, Set<TopicPartition> partitions) {
        super(reasons.size()
                + " events got no answer although Kafka answers other requests; partitions that stand still: "
                + partitions);
        this.reasons = reasons;
        this.partitions = partitions;
    }

    Map<Long, ParkReason> reasons() {
        return reasons;
    }

    Set<TopicPartition> partitions() {
        return partitions;
    }
}
