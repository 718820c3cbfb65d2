package dev.twinbox.inbox.kafka;

import dev.twinbox.inbox.config.FirstStart;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.inbox.jdbc.OffsetTable;
import dev.twinbox.inbox.jdbc.OffsetTable.Remembered;
import dev.twinbox.inbox.kafka.TopicLookup.Topic;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/** Remembers a group's offsets in the inbox database, by topic id and partition. */
public final class RememberedOffsets implements GroupOffsets {

    private final String group;
    private final OffsetPolicy policy;
    private final FirstStart firstStart;
    private final TopicLookup lookup;
    private final OffsetTable table;
    private final JtaDatabase database;
    private final Supplier<Consumer<byte[], byte[]>> probes;

    /** @param probes creates consumers that are in no group */
    public RememberedOffsets(
            String group,
            OffsetPolicy policy,
            FirstStart firstStart,
            TopicLookup lookup,
            OffsetTable table,
            JtaDatabase database,
            Supplier<Consumer<byte[], byte[]>> probes) {
        this.group = group;
        this.policy = policy;
        this.firstStart = firstStart;
        this.lookup = lookup;
        this.table = table;
        this.database = database;
        this.probes = probes;
    }

    @Override
    public Map<TopicPartition, PartitionStart> starts(Set<TopicPartition> partitions) throws Exception {
        Map<String, Topic> topics = lookup.describe(names(partitions));
        Set<TopicPartition> committed = lookup.committed(group);
        List<Remembered> known = find(topics.keySet());
        Set<String> knownTopics = known.stream().map(Remembered::topic).collect(Collectors.toCollection(HashSet::new));
        knownTopics.addAll(names(committed));
        List<Remembered> proposals = proposals(topics, knownTopics);
        if (!proposals.isEmpty()) {
            known = database.inTransaction(connection -> {
                table.propose(connection, group, proposals);
                return table.find(connection, group, topics.keySet()); // another member may have been first
            });
        }
        Map<TopicPartition, PartitionStart> starts = starts(partitions, topics, known);
        saveStarts(starts);
        return starts;
    }

    private List<Remembered> find(Set<String> topics) throws SQLException {
        return topics.isEmpty()
                ? List.of()
                : database.inTransaction(connection -> table.find(connection, group, topics));
    }

    /** Where all partitions start of the topics that the group has never read. */
    private List<Remembered> proposals(Map<String, Topic> topics, Set<String> known)
            throws ExecutionException, InterruptedException {
        List<TopicPartition> partitions = topics.entrySet().stream()
                .filter(topic -> !known.contains(topic.getKey()))
                .flatMap(topic -> IntStream.range(0, topic.getValue().partitions())
                        .mapToObj(number -> new TopicPartition(topic.getKey(), number)))
                .toList();
        if (partitions.isEmpty()) {
            return List.of();
        }
        return unread(firstOffsets(partitions), topics);
    }

    private Map<TopicPartition, Long> firstOffsets(List<TopicPartition> partitions)
            throws ExecutionException, InterruptedException {
        Map<TopicPartition, Long> offsets = new HashMap<>(
                switch (firstStart.kind()) {
                    case EARLIEST -> lookup.offsets(partitions, OffsetSpec.earliest());
                    case LATEST -> lookup.offsets(partitions, OffsetSpec.latest());
                    case TIME -> lookup.offsets(partitions, OffsetSpec.forTimestamp(timestamp()));
                });
        // Without a record of that time or later, the first one to come is it.
        List<TopicPartition> without = offsets.entrySet().stream()
                .filter(entry -> entry.getValue() < 0)
                .map(Map.Entry::getKey)
                .toList();
        if (!without.isEmpty()) {
            offsets.putAll(lookup.offsets(without, OffsetSpec.latest()));
        }
        return offsets;
    }

    private long timestamp() {
        return firstStart.time() == null ? 0 : firstStart.time().toEpochMilli();
    }

    private Map<TopicPartition, PartitionStart> starts(
            Set<TopicPartition> partitions, Map<String, Topic> topics, List<Remembered> known)
            throws ExecutionException, InterruptedException {
        Map<TopicPartition, PartitionStart> starts = new HashMap<>();
        List<TopicPartition> atBeginning = new ArrayList<>();
        List<TopicPartition> atEnd = new ArrayList<>();
        for (TopicPartition partition : partitions) {
            Topic topic = topics.get(partition.topic());
            if (topic == null) {
                continue;
            }
            Remembered row = find(known, topic, partition);
            if (row == null) {
                atBeginning.add(partition);
            } else if (!row.isRead()) {
                starts.put(
                        partition,
                        new PartitionStart(
                                row.next(), HandoverKind.CLEAN, PartitionStart.Reason.NEW_TOPIC, topic.id()));
            } else if (policy == OffsetPolicy.BEFORE_HANDLING) {
                atEnd.add(partition); // a loss is allowed there, a repeated event is not
            } else {
                starts.put(
                        partition,
                        new PartitionStart(
                                row.next(), HandoverKind.AFTER_CRASH, PartitionStart.Reason.REMEMBERED, topic.id()));
            }
        }
        put(starts, topics, atBeginning, OffsetSpec.earliest(), PartitionStart.Reason.NEW_PARTITION);
        put(starts, topics, atEnd, OffsetSpec.latest(), PartitionStart.Reason.AT_THE_END);
        return starts;
    }

    private void put(
            Map<TopicPartition, PartitionStart> starts,
            Map<String, Topic> topics,
            List<TopicPartition> partitions,
            OffsetSpec spec,
            PartitionStart.Reason reason)
            throws ExecutionException, InterruptedException {
        if (!partitions.isEmpty()) {
            lookup.offsets(partitions, spec).forEach((partition, offset) -> {
                Topic topic = topics.get(partition.topic());
                starts.put(
                        partition,
                        new PartitionStart(offset, HandoverKind.CLEAN, reason, topic == null ? null : topic.id()));
            });
        }
    }

    private static @Nullable Remembered find(List<Remembered> known, Topic topic, TopicPartition partition) {
        return known.stream()
                .filter(row -> row.topicId().equals(topic.id().id()) && row.partition() == partition.partition())
                .findFirst()
                .orElse(null);
    }

    /** The decision is stored before the first record is read, so that it is never made twice. */
    private void saveStarts(Map<TopicPartition, PartitionStart> starts) throws SQLException {
        Map<TopicPartition, Position> positions = new HashMap<>();
        starts.forEach((partition, start) -> positions.put(partition, new Position(start.offset(), start.topicId())));
        save(positions);
    }

    @Override
    public Map<TopicPartition, Position> save(Map<TopicPartition, Position> positions) throws SQLException {
        List<Remembered> rows = new ArrayList<>();
        positions.forEach((partition, position) -> {
            TopicId topic = position.topicId();
            if (topic != null) {
                rows.add(new Remembered(topic.id(), partition.topic(), partition.partition(), position.offset(), true));
            }
        });
        if (!rows.isEmpty()) {
            database.inTransaction(connection -> {
                table.save(connection, group, rows);
                return rows;
            });
        }
        return positions;
    }

    @Override
    public Map<String, TopicId> topicIds(Set<String> topics) throws ExecutionException, InterruptedException {
        return lookup.describe(topics).entrySet().stream()
                .collect(Collectors.toMap(
                        Map.Entry::getKey, topic -> topic.getValue().id()));
    }

    @Override
    public Set<String> noteMissing(Set<String> topics) throws Exception {
        if (firstStart.kind() != FirstStart.Kind.LATEST) {
            return Set.of();
        }
        Set<String> missing = lookup.missing(topics);
        if (!missing.isEmpty()) {
            List<Remembered> rows = missing.stream()
                    .map(topic -> new Remembered(idOfMissing(topic), topic, 0, 0, false))
                    .toList();
            database.inTransaction(connection -> {
                table.propose(connection, group, rows);
                return rows;
            });
        }
        return missing;
    }

    /** Kafka never gives a topic such an id: it is derived from the name. */
    private static UUID idOfMissing(String topic) {
        return UUID.nameUUIDFromBytes(topic.getBytes(StandardCharsets.UTF_8));
    }

    @Override
    public boolean isOfFormerTopic(TopicPartition partition, @Nullable TopicId topicId) throws Exception {
        Topic topic = lookup.describe(Set.of(partition.topic())).get(partition.topic());
        if (topic == null) {
            throw new IllegalStateException("topic " + partition.topic() + " does not exist now");
        }
        return topicId == null
                ? remembersOnlyFormer(partition, topic)
                : topic.id().isOtherTopicThan(topicId);
    }

    private boolean remembersOnlyFormer(TopicPartition partition, Topic topic) throws SQLException {
        List<Remembered> ofPartition = find(Set.of(partition.topic())).stream()
                .filter(row -> row.partition() == partition.partition())
                .filter(row -> !row.topicId().equals(idOfMissing(partition.topic())))
                .toList();
        return !ofPartition.isEmpty()
                && ofPartition.stream()
                        .noneMatch(row -> row.topicId().equals(topic.id().id()));
    }

    @Override
    public long nextReadable(TopicPartition partition, long damaged) {
        try (Consumer<byte[], byte[]> probe = probes.get()) {
            return NextReadable.after(probe, partition, damaged);
        }
    }

    @Override
    public Set<String> readable(Set<String> topics) throws Exception {
        return lookup.describe(topics).entrySet().stream()
                .filter(topic -> topic.getValue().mayBeRead())
                .map(Map.Entry::getKey)
                .collect(Collectors.toSet());
    }

    private static List<Remembered> unread(Map<TopicPartition, Long> offsets, Map<String, Topic> topics) {
        List<Remembered> rows = new ArrayList<>();
        offsets.forEach((partition, offset) -> {
            Topic topic = topics.get(partition.topic());
            if (topic != null) {
                rows.add(new Remembered(topic.id().id(), partition.topic(), partition.partition(), offset, false));
            }
        });
        return rows;
    }

    private static Set<String> names(Collection<TopicPartition> partitions) {
        return partitions.stream().map(TopicPartition::topic).collect(Collectors.toCollection(HashSet::new));
    }
}
