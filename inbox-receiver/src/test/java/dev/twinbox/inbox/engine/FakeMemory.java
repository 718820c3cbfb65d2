package dev.twinbox.inbox.engine;

import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;

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
                        partition, new PartitionStart(0, HandoverKind.CLEAN, PartitionStart.Reason.NEW_TOPIC))));
        return found;
    }

    @Override
    public Set<String> save(Map<TopicPartition, Long> offsets) {
        saved.putAll(offsets);
        return createdAnew;
    }

    @Override
    public void saveLast(Map<TopicPartition, Long> offsets) {
        saved.putAll(offsets);
    }

    @Override
    public boolean isOfFormerTopic(TopicPartition partition) {
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
