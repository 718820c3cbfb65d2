package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxRecord;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Lets a producer's first record to each partition arrive before the second leaves. A broker that knows a producer refuses
 * what comes behind a refused batch, because a number is missing; of one that it does not know, or knows no more, it takes
 * any number: a refused first batch would be overtaken by the second, which is under way already. Seen on Kafka 4.4.
 *
 * <p>Not for several threads.
 */
final class FirstRecords {
    /** Brokers forget producers that are silent for a day; this is far below what anybody sets. */
    private static final Duration REMEMBERED = Duration.ofMinutes(10);

    private final Map<String, Set<Integer>> known = new HashMap<>();
    /** Topics all of whose partitions are known: the usual case, in which nobody need ask where a key goes. */
    private final Set<String> complete = new HashSet<>();

    private long since = System.nanoTime();

    /** What happens to records when their turn has come. */
    interface RecordPlacer {
        /** Where a record goes; null if no order holds for it, or it goes nowhere. */
        @Nullable TopicPartition partitionOf(OutboxRecord record) throws InterruptedException;

        /** How many partitions the topic of such a record has. */
        int partitions(String topic) throws InterruptedException;

        /** Returns whether it was handed to the producer. */
        boolean place(OutboxRecord record) throws InterruptedException, SendFailedException;

        /** Waits until what was handed to the producer is answered, or nothing more may be sent. */
        void awaitAnswers() throws InterruptedException;
    }

    /**
     * Places records in their order, except that the first to go to a partition that the producer has not written to are
     * placed before the others and waited for. The order within each partition stays.
     */
    void place(List<OutboxRecord> records, RecordPlacer placer) throws InterruptedException, SendFailedException {
        for (OutboxRecord record : placeFirsts(records, placer)) {
            placer.place(record);
        }
    }

    /** Returns what is left. */
    private List<OutboxRecord> placeFirsts(List<OutboxRecord> records, RecordPlacer placer)
            throws InterruptedException, SendFailedException {
        if (System.nanoTime() - since > REMEMBERED.toNanos()) {
            known.clear();
            complete.clear();
            since = System.nanoTime();
        }
        List<OutboxRecord> rest = new ArrayList<>(records.size());
        Set<TopicPartition> placed = new HashSet<>();
        for (OutboxRecord record : records) {
            if (complete.contains(record.topic())) {
                rest.add(record);
                continue;
            }
            TopicPartition partition = placer.partitionOf(record);
            if (partition == null || isKnown(partition) || placed.contains(partition)) {
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
