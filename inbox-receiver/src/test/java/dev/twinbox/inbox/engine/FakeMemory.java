package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.kafka.GroupOffsets;
import dev.twinbox.inbox.kafka.HandoverKind;
import dev.twinbox.inbox.kafka.PartitionStart;
import dev.twinbox.inbox.kafka.Position;
import dev.twinbox.inbox.kafka.TopicId;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** What a test says that Kafka and the inbox database know. Everything is new and may be read, unless it says so. */
final class FakeMemory implements GroupOffsets {

    final Map<TopicPartition, PartitionStart> starts = new HashMap<>();
    final Map<TopicPartition, Long> saved = new HashMap<>();
    final Set<String> forbidden = new HashSet<>();
    final Set<String> createdAnew = new HashSet<>();
    long nextReadable = -1;
    boolean isDown;

    @Override
    public Map<TopicPartition, PartitionStart> starts(Set<TopicPartition> partitions) {
        if (isDown) {
            throw new IllegalStateException("the database is down");
        }
        Map<TopicPartition, PartitionStart> found = new HashMap<>();
        partitions.forEach(partition -> found.put(
                partition,
                starts.getOrDefault(
                        partition,
                        new PartitionStart(
                                0, HandoverKind.CLEAN, PartitionStart.Reason.NEW_TOPIC, id(partition.topic())))));
        return found;
    }

    @Override
    public Map<String, TopicId> topicIds(Set<String> topics) {
        Map<String, TopicId> found = new HashMap<>();
        topics.forEach(topic -> found.put(topic, id(topic)));
        return found;
    }

    private TopicId id(String topic) {
        return new TopicId("cluster", new UUID(createdAnew.contains(topic) ? 2 : 1, topic.hashCode()));
    }

    @Override
    public Set<String> noteMissing(Set<String> topics) {
        return Set.of();
    }

    @Override
    public Map<TopicPartition, Position> save(Map<TopicPartition, Position> positions) {
        positions.forEach((partition, position) -> saved.put(partition, position.offset()));
        return positions;
    }

    @Override
    public boolean isOfFormerTopic(TopicPartition partition, @Nullable TopicId topicId) {
        if (isDown) {
            throw new IllegalStateException("the database is down");
        }
        return createdAnew.contains(partition.topic());
    }

    @Override
    public long nextReadable(TopicPartition partition, long damaged) {
        return nextReadable;
    }

    @Override
    public Set<String> readable(Set<String> topics) {
        Set<String> readable = new HashSet<>(topics);
        readable.removeAll(forbidden);
        return readable;
    }
}
