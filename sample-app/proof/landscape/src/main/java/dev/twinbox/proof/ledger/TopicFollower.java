package dev.twinbox.proof.ledger;

import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads a topic from its beginning, again and again, without a group. It finds added partitions. One thread uses it.
 */
final class TopicFollower implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(100);

    /** After this time an added partition is found at the latest. */
    private static final int METADATA_AGE_MS = 5_000;

    private final String topic;
    private final Consumer<byte[], byte[]> consumer;
    private final Duration limit;

    /** @param limit how long to wait for an answer from Kafka */
    TopicFollower(String bootstrapServers, String topic, Duration limit) {
        this.topic = topic;
        this.limit = limit;
        Map<String, Object> settings = new HashMap<>();
        settings.put(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        settings.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        settings.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, false);
        settings.put(ConsumerConfig.MAX_POLL_RECORDS_CONFIG, 5000);
        // Records that are gone must be an error.
        settings.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        settings.put(ConsumerConfig.METADATA_MAX_AGE_CONFIG, METADATA_AGE_MS);
        settings.put(ConsumerConfig.RECONNECT_BACKOFF_MAX_MS_CONFIG, 500);
        consumer = new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        assignAll();
    }

    private void assignAll() {
        Set<TopicPartition> before = consumer.assignment();
        List<TopicPartition> partitions = consumer.partitionsFor(topic, limit).stream()
                .map(info -> new TopicPartition(topic, info.partition()))
                .toList();
        if (partitions.size() > before.size()) {
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions.stream()
                    .filter(partition -> !before.contains(partition))
                    .toList());
        }
    }

    /**
     * Hands over all records that were not handed over before, up to the end at the time of the call. Those of one
     * partition come in their order.
     *
     * @throws TimeoutException if Kafka does not answer, or sends no record within the limit
     */
    void readToEnd(java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> sink) {
        assignAll();
        Map<TopicPartition, Long> ends = consumer.endOffsets(consumer.assignment(), limit);
        long deadline = System.nanoTime() + limit.toNanos();
        while (behind(ends)) {
            Iterable<ConsumerRecord<byte[], byte[]>> page = consumer.poll(POLL);
            if (page.iterator().hasNext()) {
                page.forEach(sink);
                deadline = System.nanoTime() + limit.toNanos();
            } else if (System.nanoTime() > deadline) {
                throw new TimeoutException("no records for " + limit);
            }
        }
    }

    private boolean behind(Map<TopicPartition, Long> ends) {
        return ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey(), limit) < end.getValue());
    }

    @Override
    public void close() {
        consumer.close(org.apache.kafka.clients.consumer.CloseOptions.timeout(Duration.ZERO));
    }
}
