package dev.twinbox.inbox;

import dev.twinbox.CloudEventHeaders;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** Kafka for the tests: sends events as the relay would, and looks at groups. */
public final class Topics implements AutoCloseable {

    /**
     * It waits for {@link #flush}, so that added records make one batch, also if the machine stands still for some
     * seconds.
     */
    private final KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
            Map.of("bootstrap.servers", Servers.kafka().bootstrapServers(), "linger.ms", "60000"),
            new ByteArraySerializer(),
            new ByteArraySerializer());

    private final Admin admin =
            Admin.create(Map.of("bootstrap.servers", Servers.kafka().bootstrapServers()));

    /** An id in the form of a relay's event ids. */
    static String id() {
        return UUID.randomUUID().toString();
    }

    /** Sends an order. Its id is also the event id. */
    void send(String topic, String id, String action, int times) {
        send(topic, 0, id, "order", order(id, action, times));
    }

    void send(String topic, String id) {
        send(topic, id, "", 0);
    }

    static String order(String id, String action, int times) {
        return "{\"id\":\"" + id + "\",\"action\":\"" + action + "\",\"times\":" + times + "}";
    }

    void send(String topic, int partition, @Nullable String id, @Nullable String type, @Nullable String value) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, partition, bytes("key-1"), value == null ? null : bytes(value));
        header(record, CloudEventHeaders.SPEC_VERSION, "1.0");
        header(record, CloudEventHeaders.ID, id);
        header(record, CloudEventHeaders.TYPE, type);
        header(record, CloudEventHeaders.SOURCE, "/tests");
        header(record, CloudEventHeaders.TIME, "2026-11-29T12:00:00.123Z");
        header(record, CloudEventHeaders.CONTENT_TYPE, "application/json");
        header(record, "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01");
        send(record);
    }

    void send(ProducerRecord<byte[], byte[]> record) {
        producer.send(record);
        producer.flush();
    }

    /** Sends orders without an action as one Kafka batch, so that the receiver gets them in one poll. */
    void sendTogether(String topic, String... ids) {
        for (String id : ids) {
            producer.send(orderRecord(topic, 0, id, "", 0));
        }
        producer.flush();
    }

    /** Adds an order to the batch that the next {@link #flush} sends. */
    void add(String topic, String id, String action, int times) {
        producer.send(orderRecord(topic, 0, id, action, times));
    }

    /** Does the same with a key. */
    void add(String topic, String key, String id, String action, int times) {
        add(topic, 0, key, id, action, times);
    }

    /** Does the same on that partition. */
    void add(String topic, int partition, String key, String id, String action, int times) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, partition, bytes(key), bytes(order(id, action, times)));
        header(record, CloudEventHeaders.ID, id);
        header(record, CloudEventHeaders.TYPE, "order");
        producer.send(record);
    }

    void add(ProducerRecord<byte[], byte[]> record) {
        producer.send(record);
    }

    void flush() {
        producer.flush();
    }

    private static ProducerRecord<byte[], byte[]> orderRecord(
            String topic, int partition, String id, String action, int times) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(topic, partition, null, bytes(order(id, action, times)));
        header(record, CloudEventHeaders.ID, id);
        header(record, CloudEventHeaders.TYPE, "order");
        return record;
    }

    /** Sends without waiting for each record. */
    void sendMany(String topic, int partition, int number) {
        for (int i = 0; i < number; i++) {
            producer.send(orderRecord(topic, partition, id(), "", 0));
        }
        producer.flush();
    }

    private static void header(ProducerRecord<byte[], byte[]> record, String name, @Nullable String value) {
        if (value != null) {
            record.headers().add(name, bytes(value));
        }
    }

    public static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Of the broker that the tests of this JVM share. */
    public static String bootstrapServers() {
        return Servers.kafka().bootstrapServers();
    }

    Admin admin() {
        return admin;
    }

    /** Creates a topic of the shared broker, unless another test has. */
    static void ensure(String topic, int partitions) {
        try (Admin admin =
                Admin.create(Map.of("bootstrap.servers", Servers.kafka().bootstrapServers()))) {
            if (!admin.listTopics().names().get().contains(topic)) {
                Servers.kafka().createTopic(topic, partitions);
            }
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Records of the topic that the group has not committed. */
    long lag(String group, String topic) {
        try {
            Map<TopicPartition, OffsetAndMetadata> committed = admin.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get();
            long lag = 0;
            for (var partition : admin.describeTopics(java.util.List.of(topic))
                    .allTopicNames()
                    .get()
                    .get(topic)
                    .partitions()) {
                TopicPartition key = new TopicPartition(topic, partition.partition());
                long end = admin.listOffsets(Map.of(key, OffsetSpec.latest()))
                        .partitionResult(key)
                        .get()
                        .offset();
                OffsetAndMetadata offset = committed.get(key);
                lag += end - (offset == null ? 0 : offset.offset());
            }
            return lag;
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Members of the group that have a partition of the topic. */
    java.util.Set<String> owners(String group, String topic) {
        try {
            return admin
                    .describeConsumerGroups(java.util.List.of(group))
                    .describedGroups()
                    .get(group)
                    .get()
                    .members()
                    .stream()
                    .filter(member -> member.assignment().topicPartitions().stream()
                            .anyMatch(partition -> partition.topic().equals(topic)))
                    .map(member -> member.consumerId())
                    .collect(java.util.stream.Collectors.toSet());
        } catch (ExecutionException e) {
            if (e.getCause() instanceof org.apache.kafka.common.errors.GroupIdNotFoundException) {
                return java.util.Set.of(); // nobody has joined yet
            }
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    long members(String group) {
        try {
            return admin.describeConsumerGroups(java.util.List.of(group))
                    .describedGroups()
                    .get(group)
                    .get()
                    .members()
                    .size();
        } catch (InterruptedException | ExecutionException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        producer.close();
        admin.close();
    }
}
