package dev.twinbox.inbox.engine;

import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

/**
 * What is known of a group's offsets and topics beyond what its consumer says. Each method asks Kafka or the database
 * and may take seconds, so the poll thread calls them through {@link BackgroundQueries}.
 */
interface GroupOffsets {

    /**
     * Where partitions start for which Kafka has no committed offset. A partition is left out if its topic does not
     * exist at the moment.
     */
    Map<TopicPartition, PartitionStart> starts(Set<TopicPartition> partitions) throws Exception;

    /**
     * Remembers how far the group is. Returns the topics that were deleted and created anew since the last call; their
     * offsets are not stored.
     *
     * @param offsets of the first record that is not settled
     */
    Set<String> save(Map<TopicPartition, Long> offsets) throws Exception;

    /** Does the same before the group is left. Asks Kafka for as little as possible, because it may be down. */
    void saveLast(Map<TopicPartition, Long> offsets) throws Exception;

    /**
     * Whether the group's offset belongs to a former topic of the same name.
     *
     * @throws Exception if that is not known: Kafka or the database does not answer, or there is no such topic now
     */
    boolean isOfFormerTopic(TopicPartition partition) throws Exception;

    /** The first offset after a damaged record from which Kafka can be read. */
    long nextReadable(TopicPartition partition, long damaged) throws Exception;

    /** Those of the topics that may be read. */
    Set<String> readable(Set<String> topics) throws Exception;
}
