package dev.twinbox.sample.bench;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/**
 * Puts a whole workload on a topic in one Kafka transaction. Consumers that read committed records see none of it until
 * {@link #commit}, then all of it: nothing is sent any more while they are timed.
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
     * Sends all events to partition 0 and waits for the broker; nobody can read them yet.
     *
     * @return the offset just behind the last of them
     */
    long send(Workload workload, String topic) {
        producer.beginTransaction();
        @Nullable Future<RecordMetadata> last = null;
        for (int number = 0; number < workload.events(); number++) {
            last = producer.send(EventRecord.of(workload, number).to(topic, 0));
        }
        producer.flush();
        try {
            return last == null ? 0 : last.get().offset() + 1;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InvalidRunException("interrupted while sending to " + topic, e);
        } catch (ExecutionException e) {
            throw new InvalidRunException("could not send to " + topic, e);
        }
    }

    /** Makes visible what was sent. */
    void commit() {
        producer.commitTransaction();
    }

    @Override
    public void close() {
        producer.close(Duration.ofSeconds(5));
    }
}
