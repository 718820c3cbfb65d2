package dev.twinbox.proof.bench;

import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Puts a whole workload on a topic in one Kafka transaction. Consumers of committed records see nothing of it until
 * {@link #commit}, then all of it. So nothing is sent while they are timed.
 */
final class TopicBacklog implements AutoCloseable {

    private final Producer<byte[], byte[]> producer;

    TopicBacklog(String bootstrapServers) {
        producer = new KafkaProducer<>(
                Map.of(
                        ProducerConfig.BOOTSTRAP_SERVERS_CONFIG,
                        bootstrapServers,
                        ProducerConfig.TRANSACTIONAL_ID_CONFIG,
                        "bench",
                        ProducerConfig.COMPRESSION_TYPE_CONFIG,
                        "lz4",
                        ProducerConfig.LINGER_MS_CONFIG,
                        5,
                        ProducerConfig.BATCH_SIZE_CONFIG,
                        1 << 17),
                new ByteArraySerializer(),
                new ByteArraySerializer());
        producer.initTransactions();
    }

    /**
     * Sends all events and waits for their acknowledgements. They are not visible yet.
     *
     * @return by partition the offset after the last event
     */
    Map<Integer, Long> send(Workload workload, String topic, Delivery delivery) {
        producer.beginTransaction();
        Map<Integer, Future<RecordMetadata>> last = new HashMap<>();
        for (int from = 0; from < workload.events(); from += Delivery.DISTANCE) {
            int to = Math.min(from + Delivery.DISTANCE, workload.events());
            for (int copy = 1; copy <= delivery.copies(); copy++) {
                for (int number = from; number < to; number++) {
                    int partition = delivery.partitionOf(workload, number);
                    last.put(
                            partition,
                            producer.send(EventRecord.of(workload, number).to(topic, partition)));
                }
            }
        }
        producer.flush();
        Map<Integer, Long> ends = new HashMap<>();
        last.forEach((partition, sent) -> ends.put(partition, offset(topic, sent) + 1));
        return ends;
    }

    /**
     * As {@link #send}, but a part of the events is there twice at once: the copy follows in the next partition. Two
     * instances get such an event at the same time, if each has one of the partitions.
     */
    Map<Integer, Long> sendTwice(Workload workload, String topic, int partitions, int percentTwice) {
        producer.beginTransaction();
        Map<Integer, Future<RecordMetadata>> last = new HashMap<>();
        for (int number = 0; number < workload.events(); number++) {
            int copies = number % 10 < percentTwice / 10 ? 2 : 1;
            for (int copy = 0; copy < copies; copy++) {
                int partition = (number + copy) % partitions;
                last.put(
                        partition,
                        producer.send(EventRecord.of(workload, number).to(topic, partition)));
            }
        }
        producer.flush();
        Map<Integer, Long> ends = new HashMap<>();
        last.forEach((partition, sent) -> ends.put(partition, offset(topic, sent) + 1));
        return ends;
    }

    private static long offset(String topic, Future<RecordMetadata> sent) {
        try {
            return sent.get().offset();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InvalidRunException("interrupted while sending to " + topic, e);
        } catch (ExecutionException e) {
            throw new InvalidRunException("could not send to " + topic, e);
        }
    }

    /** Makes the sent events visible. */
    void commit() {
        producer.commitTransaction();
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(5));
    }
}
