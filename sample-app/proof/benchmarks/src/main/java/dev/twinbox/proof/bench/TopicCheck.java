package dev.twinbox.proof.bench;

import dev.twinbox.CloudEventHeaders;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads a whole topic and compares it with the workload: each event once, unchanged, in order per key. One reader for
 * one topic, used once.
 */
final class TopicCheck {

    private static final Duration POLL = Duration.ofMillis(500);

    /** The required order of events with one key. */
    enum Order {
        BY_KEY,
        /** None: sessions that did not wait for each other committed them. */
        ANY
    }

    private final ExpectedEvents workload;
    private final String topic;
    private final Order order;
    private final BitSet seen;
    private final int[] latestOfCustomer;
    private final int[] partitionOfCustomer;
    private long repeated;
    private long reordered;
    private long firstTimestamp = Long.MAX_VALUE;
    private long lastTimestamp = Long.MIN_VALUE;

    private TopicCheck(ExpectedEvents workload, String topic, Order order) {
        this.workload = workload;
        this.order = order;
        this.topic = topic;
        this.seen = new BitSet(workload.events());
        this.latestOfCustomer = new int[workload.keys()];
        this.partitionOfCustomer = new int[workload.keys()];
        Arrays.fill(latestOfCustomer, -1);
        Arrays.fill(partitionOfCustomer, -1);
    }

    /**
     * Reads the topic to its end.
     *
     * @return the time between the first and the last record, by the producer's timestamps
     * @throws InvalidRunException if the topic does not hold exactly the workload
     */
    static Duration check(
            String bootstrapServers, String topic, ExpectedEvents workload, Order order, Deadline deadline) {
        return new TopicCheck(workload, topic, order).read(bootstrapServers, deadline);
    }

    private Duration read(String bootstrapServers, Deadline deadline) {
        Map<String, Object> settings = Map.of(
                ConsumerConfig.BOOTSTRAP_SERVERS_CONFIG,
                bootstrapServers,
                ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG,
                false,
                ConsumerConfig.MAX_POLL_RECORDS_CONFIG,
                10_000);
        try (Consumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            consumer.assign(partitions);
            consumer.seekToBeginning(partitions);
            Map<TopicPartition, Long> ends = consumer.endOffsets(partitions);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                deadline.remaining("the check of topic " + topic);
                consumer.poll(POLL).forEach(this::take);
            }
        }
        return judged();
    }

    private void take(ConsumerRecord<byte[], byte[]> found) {
        int number = workload.numberOf(idOf(found));
        if (number < 0) {
            throw invalid("a record at " + place(found) + " has an id that was never loaded");
        }
        if (!workload.is(number, found)) {
            throw invalid("the record at " + place(found)
                    + " is not the event that was loaded: key, payload or headers differ. Found " + described(found));
        }
        if (seen.get(number)) {
            repeated++;
            return;
        }
        seen.set(number);
        int customer = workload.customer(number);
        if ((order == Order.BY_KEY && number < latestOfCustomer[customer])
                || (partitionOfCustomer[customer] >= 0 && partitionOfCustomer[customer] != found.partition())) {
            reordered++;
        }
        latestOfCustomer[customer] = number;
        partitionOfCustomer[customer] = found.partition();
        firstTimestamp = Math.min(firstTimestamp, found.timestamp());
        lastTimestamp = Math.max(lastTimestamp, found.timestamp());
    }

    private UUID idOf(ConsumerRecord<byte[], byte[]> found) {
        Header id = found.headers().lastHeader(CloudEventHeaders.ID);
        if (id == null) {
            throw invalid("a record at " + place(found) + " has no header " + CloudEventHeaders.ID);
        }
        return UUID.fromString(new String(id.value(), StandardCharsets.UTF_8));
    }

    private Duration judged() {
        int lost = workload.events() - seen.cardinality();
        if (lost > 0 || repeated > 0 || reordered > 0) {
            throw invalid(workload.events() + " events expected: " + lost + " lost, " + repeated + " repeated, "
                    + reordered + " out of order");
        }
        return Duration.ofMillis(lastTimestamp - firstTimestamp);
    }

    private InvalidRunException invalid(String what) {
        return new InvalidRunException("topic " + topic + ": " + what);
    }

    private static String described(ConsumerRecord<byte[], byte[]> found) {
        StringBuilder text = new StringBuilder("key " + new String(found.key(), StandardCharsets.UTF_8) + ", "
                + found.serializedValueSize() + " bytes, headers");
        found.headers()
                .forEach(header -> text.append(' ')
                        .append(header.key())
                        .append('=')
                        .append(new String(header.value(), StandardCharsets.UTF_8)));
        return text.toString();
    }

    private static String place(ConsumerRecord<?, ?> found) {
        return "partition " + found.partition() + ", offset " + found.offset();
    }
}
