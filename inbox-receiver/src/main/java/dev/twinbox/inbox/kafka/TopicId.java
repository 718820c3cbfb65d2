package dev.twinbox.inbox.kafka;

import java.util.UUID;

/**
 * Identifies a topic: one that is deleted and created anew under its name has another id.
 *
 * @param cluster id of the Kafka cluster; an id of a topic says nothing in another cluster
 */
public record TopicId(String cluster, UUID id) {

    /** Whether the other one is a later or earlier topic of the same name. The names are equal. */
    public boolean isOtherTopicThan(TopicId other) {
        return cluster.equals(other.cluster) && !id.equals(other.id);
    }
}
