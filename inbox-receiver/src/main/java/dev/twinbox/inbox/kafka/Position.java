package dev.twinbox.inbox.kafka;

import org.jspecify.annotations.Nullable;

/**
 * How far the group is in a partition.
 *
 * @param offset offset of the first record that is not settled
 * @param topicId the topic that the offset belongs to; null if it is not known yet
 */
public record Position(long offset, @Nullable TopicId topicId) {}
