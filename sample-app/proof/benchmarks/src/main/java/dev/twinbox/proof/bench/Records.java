package dev.twinbox.proof.bench;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Looks at the first records of a topic. */
final class Records {

    private Records() {}

    /** The smallest timestamp in milliseconds among the first records of all partitions. */
    static long firstTimestamp(String bootstrapServers, String topic, Deadline deadline) {
        Map<String, Object> settings = Map.of(ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        try (Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(partition -> new TopicPartition(topic, partition.partition()))
                    .toList();
            consumer.assign(partitions);
            long first = Long.MAX_VALUE;
            for (TopicPartition partition : partitions) {
                first = Math.min(first, firstTimestamp(consumer, partition, partitions, deadline));
            }
            return first;
        }
    }

    /** {@link Long#MAX_VALUE} if the partition is empty. */
    private static long firstTimestamp(
            Consumer<byte[], byte[]> consumer, TopicPartition partition, List<TopicPartition> all, Deadline deadline) {
        if (java.util.Objects.requireNonNull(
                        consumer.endOffsets(List.of(partition)).get(partition))
                == 0) {
            return Long.MAX_VALUE;
        }
        consumer.pause(all);
        consumer.resume(List.of(partition));
        consumer.seekToBeginning(List.of(partition));
        while (true) {
            deadline.remaining("the first record of " + partition);
            for (ConsumerRecord<byte[], byte[]> record :
                    consumer.poll(Duration.ofMillis(100)).records(partition)) {
                return record.timestamp();
            }
        }
    }
}
