package dev.twinbox.inbox.kafka;

import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * What is known of a group's offsets and topics beyond what its consumer says. Each method asks Kafka or the database
 * and may take seconds, so a poll thread must have another thread call them.
 */
public interface GroupOffsets {

    /**
     * Where partitions start for which Kafka has no committed offset. A partition is left out if its topic does not
     * exist at the moment.
     */
    Map<TopicPartition, PartitionStart> starts(Set<TopicPartition> partitions) throws Exception;

    /** The ids that the topics have now. One is left out if it does not exist at the moment. */
    Map<String, TopicId> topicIds(Set<String> topics) throws Exception;

    /**
     * Remembers those of the topics that do not exist, if it matters where the group starts on them. Returns them.
     */
    Set<String> noteMissing(Set<String> topics) throws Exception;

    /** Remembers how far the group is. Does not ask Kafka. Returns what it was given. */
    Map<TopicPartition, Position> save(Map<TopicPartition, Position> positions) throws Exception;

    /**
     * Whether the group's offset belongs to a former topic of the same name.
     *
     * @param topicId the topic that the offset belongs to; null if it is not known
     * @throws Exception if that is not known: Kafka or the database does not answer, or there is no such topic now
     */
    boolean isOfFormerTopic(TopicPartition partition, @Nullable TopicId topicId) throws Exception;

    /** The first offset after a damaged record from which Kafka can be read. */
    long nextReadable(TopicPartition partition, long damaged) throws Exception;

    /** Those of the topics that may be read. */
    Set<String> readable(Set<String> topics) throws Exception;
}
