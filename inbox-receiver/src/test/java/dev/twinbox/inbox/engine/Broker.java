package dev.twinbox.inbox.engine;

import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.inbox.Topics;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;

/** The shared broker, for tests of topics that come and go. */
final class Broker implements AutoCloseable {

    private static final Duration LIMIT = Duration.ofSeconds(30);

    private final Admin admin = Admin.create(Map.of("bootstrap.servers", Topics.bootstrapServers()));

    /** Creates a topic with one partition, as soon as a former one of this name is gone. */
    void create(String topic) {
        await().atMost(LIMIT).pollInterval(Duration.ofMillis(20)).until(() -> {
            try {
                admin.createTopics(List.of(new NewTopic(topic, 1, (short) 1)))
                        .all()
                        .get();
                return true;
            } catch (ExecutionException e) {
                if (e.getCause() instanceof TopicExistsException) {
                    return false;
                }
                throw e;
            }
        });
    }

    void delete(String topic) throws Exception {
        admin.deleteTopics(List.of(topic)).all().get();
    }

    void createAnew(String topic) throws Exception {
        delete(topic);
        create(topic);
    }

    /** Sends events of one key, whose ids and values are the prefix and a number. Returns those. */
    List<String> send(String topic, String prefix, int number) {
        List<String> values = new ArrayList<>();
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", Topics.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            for (int i = 0; i < number; i++) {
                String value = prefix + i;
                ProducerRecord<byte[], byte[]> record =
                        new ProducerRecord<>(topic, 0, Topics.bytes("key"), Topics.bytes(value));
                record.headers()
                        .add(CloudEventHeaders.ID, Topics.bytes(value))
                        .add(CloudEventHeaders.TYPE, Topics.bytes("order"));
                producer.send(record);
                values.add(value);
            }
            producer.flush();
        }
        return values;
    }

    /** Sends one event. */
    void send(String topic, @Nullable String key, String id, String value) {
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", Topics.bootstrapServers()),
                new ByteArraySerializer(),
                new ByteArraySerializer())) {
            ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>(topic, 0, key == null ? null : Topics.bytes(key), Topics.bytes(value));
            record.headers()
                    .add(CloudEventHeaders.ID, Topics.bytes(id))
                    .add(CloudEventHeaders.TYPE, Topics.bytes("order"));
            producer.send(record);
            producer.flush();
        }
    }

    /** Deletes all records before this offset, as a topic's retention does. */
    void deleteBefore(String topic, long offset) throws Exception {
        admin.deleteRecords(Map.of(new TopicPartition(topic, 0), RecordsToDelete.beforeOffset(offset)))
                .all()
                .get();
    }

    UUID id(String topic) {
        try {
            Uuid id = admin.describeTopics(List.of(topic))
                    .allTopicNames()
                    .get()
                    .get(topic)
                    .topicId();
            return new UUID(id.getMostSignificantBits(), id.getLeastSignificantBits());
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Null if there is none. */
    @Nullable OffsetAndMetadata committed(String group, String topic) {
        try {
            return admin.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get()
                    .get(new TopicPartition(topic, 0));
        } catch (ExecutionException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    boolean hasCommitted(String group, String topic, long offset) {
        OffsetAndMetadata committed = committed(group, topic);
        return committed != null && committed.offset() == offset;
    }

    /** Repeats it until the group's coordinator knows the topic: it hears of a new one a moment later. */
    void commit(String group, String topic, OffsetAndMetadata offset) {
        await().ignoreExceptionsMatching(e -> e.getCause() instanceof UnknownTopicOrPartitionException)
                .until(() -> {
                    admin.alterConsumerGroupOffsets(group, Map.of(new TopicPartition(topic, 0), offset))
                            .all()
                            .get();
                    return true;
                });
    }

    @Override
    public void close() {
        admin.close();
    }
}
