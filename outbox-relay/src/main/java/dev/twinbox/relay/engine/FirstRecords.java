package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Waits until a producer's first record to each partition is acknowledged before it sends the second. A broker that
 * knows a producer refuses all batches after a refused one, because a sequence number is missing. A broker that does
 * not know the producer, or has forgotten it, accepts any sequence number. Then a second batch that is already on its
 * way would overtake a refused first one. Observed on Kafka 4.4.
 *
 * <p>Not for several threads.
 */
final class FirstRecords {
    /** Brokers forget producers that are silent for a day. This is far below every usual setting. */
    private static final Duration REMEMBERED = Duration.ofMinutes(10);

    private final Map<String, Set<Integer>> known = new HashMap<>();
    /** Topics whose partitions are all known. In this usual case, no partition of a key is computed. */
    private final Set<String> complete = new HashSet<>();

    private boolean hasLateFirsts; // among the others of this call there may be the first record of a partition
    private long since = System.nanoTime();

    /** Sends or parks the records in the order given here. */
    interface RecordPlacer {
        /** The partition of a record; null if the record has no order or no topic. */
        @Nullable TopicPartition partitionOf(OutboxRecord record) throws InterruptedException;

        /** How many partitions the topic of such a record has. */
        int partitions(String topic) throws InterruptedException;

        /** Returns whether the record was handed to the producer. */
        boolean place(OutboxRecord record) throws InterruptedException, SendFailedException;

        /** Waits until all records handed to the producer are answered, or nothing more may be sent. */
        void awaitAnswers() throws InterruptedException;
    }

    /**
     * Places records in their order, with one exception. Records that are the first for a partition of this producer
     * are placed before the others and awaited. The order within each partition stays, and so does the order within
     * each key: a record whose partition could not be told comes later, and then all records of its key do.
     */
    void place(List<OutboxRecord> records, RecordPlacer placer) throws InterruptedException, SendFailedException {
        List<OutboxRecord> rest = placeFirsts(records, placer);
        for (OutboxRecord record : rest) {
            if (placer.place(record) && hasLateFirsts) {
                awaitIfFirst(record, placer);
            }
        }
    }

    /** Places the first records; returns the others. */
    private List<OutboxRecord> placeFirsts(List<OutboxRecord> records, RecordPlacer placer)
            throws InterruptedException, SendFailedException {
        if (System.nanoTime() - since > REMEMBERED.toNanos()) {
            known.clear();
            complete.clear();
            since = System.nanoTime();
        }
        hasLateFirsts = false;
        List<OutboxRecord> rest = new ArrayList<>(records.size());
        Set<TopicPartition> placed = new HashSet<>();
        for (OutboxRecord record : records) {
            if (complete.contains(record.topic())) {
                rest.add(record);
                continue;
            }
            TopicPartition partition = placer.partitionOf(record);
            boolean isFirst = partition != null && !isKnown(partition) && !placed.contains(partition);
            boolean mayGoFirst = isFirst && !containsKeyOf(record, rest);
            hasLateFirsts |= partition == null ? record.record().key() != null : isFirst && !mayGoFirst;
            if (!mayGoFirst) {
                rest.add(record);
            } else if (placer.place(record)) {
                placed.add(partition);
            }
        }
        if (!placed.isEmpty()) {
            placer.awaitAnswers();
            for (TopicPartition partition : placed) {
                know(partition, placer.partitions(partition.topic()));
            }
        }
        return rest;
    }

    /**
     * Whether an earlier record of the same key comes later. Its topic was missing a moment ago or had other
     * partitions, or its row cannot be read.
     */
    private static boolean containsKeyOf(OutboxRecord record, List<OutboxRecord> rest) {
        byte[] key = record.record().key();
        return rest.stream()
                .anyMatch(earlier -> Arrays.equals(key, earlier.record().key())
                        && record.topic().equals(earlier.topic()));
    }

    /** Among the others there is a record that is the first of its partition. */
    private void awaitIfFirst(OutboxRecord record, RecordPlacer placer) throws InterruptedException {
        TopicPartition partition = complete.contains(record.topic()) ? null : placer.partitionOf(record);
        if (partition != null && !isKnown(partition)) {
            placer.awaitAnswers();
            know(partition, placer.partitions(partition.topic()));
        }
    }

    private boolean isKnown(TopicPartition partition) {
        Set<Integer> partitions = known.get(partition.topic());
        return partitions != null && partitions.contains(partition.partition());
    }

    private void know(TopicPartition partition, int partitions) {
        Set<Integer> ofTopic = known.computeIfAbsent(partition.topic(), topic -> new HashSet<>());
        ofTopic.add(partition.partition());
        if (ofTopic.size() >= partitions) {
            complete.add(partition.topic());
        }
    }
}
