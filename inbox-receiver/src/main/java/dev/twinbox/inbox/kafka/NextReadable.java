package dev.twinbox.inbox.kafka;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;

/**
 * Finds where a partition can be read again after a damaged record batch. Kafka reads whole batches and does not say
 * where a damaged one ends. So this tries one offset after the other, with a consumer of its own that is in no group.
 */
final class NextReadable {

    private static final Duration POLL = Duration.ofMillis(200);

    /** How long one offset may take to be answered. */
    private static final Duration ANSWER = Duration.ofSeconds(10);

    /** A batch can hold thousands of records, and each try takes about a millisecond. */
    private static final Duration LIMIT = Duration.ofMinutes(1);

    private final Consumer<byte[], byte[]> consumer;
    private final TopicPartition partition;

    private NextReadable(Consumer<byte[], byte[]> consumer, TopicPartition partition) {
        this.consumer = consumer;
        this.partition = partition;
    }

    /**
     * The first offset after {@code damaged} from which Kafka can be read; the end of the partition if there is none.
     *
     * @param consumer is in no group and checks checksums; it also sees records of Kafka transactions that are not
     *     committed
     * @throws TimeoutException if it is not found in time
     */
    static long after(Consumer<byte[], byte[]> consumer, TopicPartition partition, long damaged) {
        consumer.assign(List.of(partition));
        Map<TopicPartition, Long> ends = consumer.endOffsets(List.of(partition), ANSWER);
        long end = ends.getOrDefault(partition, damaged + 1);
        NextReadable search = new NextReadable(consumer, partition);
        long deadline = System.nanoTime() + LIMIT.toNanos();
        for (long offset = damaged + 1; offset < end; offset++) {
            if (search.isReadable(offset)) {
                return offset;
            }
            if (System.nanoTime() - deadline > 0) {
                throw new TimeoutException("No readable record was found up to offset " + offset
                        + ": find the end of the damaged batch with kafka-dump-log.sh");
            }
        }
        return end;
    }

    private boolean isReadable(long offset) {
        consumer.seek(partition, offset);
        long deadline = System.nanoTime() + ANSWER.toNanos();
        while (System.nanoTime() - deadline < 0) {
            try {
                if (!consumer.poll(POLL).isEmpty() || consumer.position(partition, ANSWER) > offset) {
                    return true;
                }
            } catch (InterruptException e) {
                throw e;
            } catch (KafkaException e) {
                return false; // the damaged batch reaches up to here
            }
        }
        throw new TimeoutException("Kafka does not answer for " + partition + ": check that its leader is reachable");
    }
}
