package dev.twinbox.sample.demo;

import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Sends records to Kafka again, with the same event ids. A producer does so if it crashes before it gets the
 * acknowledgement.
 */
final class Repeater {

    /** So many records are sent again. */
    static final int KEPT = 100;

    private static final long LIMIT_SECONDS = 20;

    private final String bootstrapServers;
    private final Deque<ConsumerRecord<byte[], byte[]>> latest = new ArrayDeque<>();

    Repeater(String bootstrapServers) {
        this.bootstrapServers = bootstrapServers;
    }

    /** Keeps a record, so that it can be sent again. */
    synchronized void remember(ConsumerRecord<byte[], byte[]> record) {
        latest.addLast(record);
        if (latest.size() > KEPT) {
            latest.removeFirst();
        }
    }

    /**
     * Sends the latest records again.
     *
     * @return how many, at most 100
     * @throws IllegalStateException if Kafka did not acknowledge them
     */
    int repeat() {
        List<ConsumerRecord<byte[], byte[]>> records = remembered();
        Map<String, Object> settings =
                Map.of(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers, ProducerConfig.ACKS_CONFIG, "all");
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(settings, new ByteArraySerializer(), new ByteArraySerializer())) {
            List<Future<RecordMetadata>> sends = records.stream()
                    .map(record -> producer.send(new ProducerRecord<>(
                            record.topic(), record.partition(), record.key(), record.value(), record.headers())))
                    .toList();
            for (Future<RecordMetadata> send : sends) {
                send.get(LIMIT_SECONDS, TimeUnit.SECONDS);
            }
        } catch (ExecutionException | TimeoutException e) {
            throw new IllegalStateException("Kafka did not acknowledge the duplicates", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException("Interrupted while sending duplicates", e);
        }
        return records.size();
    }

    private synchronized List<ConsumerRecord<byte[], byte[]>> remembered() {
        return List.copyOf(latest);
    }
}
