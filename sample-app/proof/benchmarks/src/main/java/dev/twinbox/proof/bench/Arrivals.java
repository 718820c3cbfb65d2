package dev.twinbox.proof.bench;

import dev.twinbox.CloudEventHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * A consumer that notes when each event of a workload arrived first, while the topic is written. An arrival is a little
 * later than the acknowledgement of the same record.
 */
final class Arrivals implements AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(500);

    private final Workload workload;
    private final Consumer<byte[], byte[]> consumer;
    private final Thread thread;
    /** {@link System#nanoTime()} by number; 0: not yet. Only the thread writes it; {@link #distinct} publishes it. */
    private final long[] first;

    private final AtomicInteger distinct = new AtomicInteger();
    private final AtomicLong repeated = new AtomicLong();
    private volatile @Nullable String failure;

    Arrivals(String bootstrapServers, String topic, Workload workload) {
        this.workload = workload;
        this.first = new long[workload.events()];
        this.consumer = new KafkaConsumer<>(
                Map.of(
                        ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                        bootstrapServers,
                        ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                        false,
                        ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
                        10_000),
                new ByteArrayDeserializer(),
                new ByteArrayDeserializer());
        List<TopicPartition> partitions = new ArrayList<>();
        consumer.partitionsFor(topic).forEach(info -> partitions.add(new TopicPartition(topic, info.partition())));
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
        this.thread = new Thread(this::follow, "arrivals");
        thread.start();
    }

    private void follow() {
        try (consumer) {
            while (true) {
                for (ConsumerRecord<byte[], byte[]> found : consumer.poll(POLL)) {
                    take(found, System.nanoTime());
                }
            }
        } catch (WakeupException e) {
            return; // closed
        } catch (RuntimeException e) {
            failure = "the consumer that watches the topic failed: " + e;
        }
    }

    private void take(ConsumerRecord<byte[], byte[]> found, long now) {
        Header id = found.headers().lastHeader(CloudEventHeaders.ID);
        int number =
                id == null ? -1 : workload.numberOf(UUID.fromString(new String(id.value(), StandardCharsets.UTF_8)));
        if (number < 0) {
            failure = "a record at " + found.topic() + ", offset " + found.offset() + " is none of the events";
        } else if (first[number] == 0) {
            first[number] = now;
            distinct.lazySet(distinct.get() + 1);
        } else {
            repeated.lazySet(repeated.get() + 1);
        }
    }

    /** How many events have arrived at least once. */
    int distinct() {
        String failed = failure;
        if (failed != null) {
            throw new InvalidRunException(failed);
        }
        return distinct.get();
    }

    long repeated() {
        return repeated.get();
    }

    /** When an event first arrived, {@link System#nanoTime()}; 0: not yet. */
    long of(int number) {
        return distinct() == 0 ? 0 : first[number];
    }

    /** Ends the consumer. The arrivals can still be read. */
    @Override
    public void close() {
        consumer.wakeup();
        try {
            thread.join();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
