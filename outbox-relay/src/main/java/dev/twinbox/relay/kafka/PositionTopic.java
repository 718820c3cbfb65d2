package dev.twinbox.relay.kafka;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.config.RelaySettings;
import dev.twinbox.relay.jdbc.PositionTable;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsOptions;
import org.apache.kafka.clients.admin.ListConsumerGroupOffsetsSpec;
import org.apache.kafka.clients.admin.NewTopic;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerGroupMetadata;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.GroupIdNotFoundException;
import org.apache.kafka.common.errors.TopicExistsException;
import org.apache.kafka.common.errors.UnknownTopicOrPartitionException;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/**
 * Kafka's part of exactly-once publication. For each of the relay's two producers it keeps the number of the last
 * committed transaction, as the offset of a consumer group. Nothing is ever written into the topic. It must exist
 * because Kafka commits no offset of a missing topic, and the client would wait forever.
 */
public final class PositionTopic implements AutoCloseable {
    /** The producer that a number belongs to. */
    public enum Partition {
        PAGES(0),
        PARKED(1);

        private final int number;

        Partition(int number) {
            this.number = number;
        }
    }

    private static final String OUTBOX = "outbox=";

    private final RelayConfig config;
    private final UUID outbox;
    private @Nullable ConsumerGroupMetadata group; // guarded by this
    private @Nullable Admin admin; // guarded by this

    /**
     * Does not ask Kafka yet.
     *
     * @param outbox identifies this relay's own numbers
     */
    public PositionTopic(RelayConfig config, UUID outbox) {
        this.config = config;
        this.outbox = outbox;
    }

    /** Only a consumer can name a group. This group never has a member. */
    private synchronized ConsumerGroupMetadata group() {
        ConsumerGroupMetadata present = group;
        if (present == null) {
            Map<String, Object> settings = new HashMap<>(config.kafka().settings());
            settings.keySet().retainAll(ConsumerConfig.configNames());
            settings.put(ConsumerConfig.GROUP_ID_CONFIG, name(config));
            ByteArrayDeserializer bytes = new ByteArrayDeserializer();
            try (Consumer<byte[], byte[]> consumer = new KafkaConsumer<>(settings, bytes, bytes)) {
                present = consumer.groupMetadata();
            }
            group = present;
        }
        return present;
    }

    private synchronized Admin admin() {
        Admin present = admin;
        if (present == null) {
            present = admin(config);
            admin = present;
        }
        return present;
    }

    private <T> T answer(KafkaFuture<T> future) {
        return Topics.answer(future, KafkaLogin.of(config.kafka()));
    }

    private static String name(RelayConfig config) {
        return config.delivery().positionTopic();
    }

    private TopicPartition partition(Partition kind) {
        return new TopicPartition(name(config), kind.number);
    }

    /**
     * Creates the topic; returns whether it was missing.
     *
     * @throws KafkaException if Kafka does not answer
     */
    public static boolean create(RelayConfig config) {
        NewTopic topic = new NewTopic(name(config), Optional.of(Partition.values().length), Optional.empty());
        try (Admin admin = admin(config)) {
            Topics.answer(admin.createTopics(List.of(topic)).all(), KafkaLogin.of(config.kafka()));
            return true;
        } catch (TopicExistsException e) {
            return false;
        }
    }

    private static Admin admin(RelayConfig config) {
        return Admin.create(Topics.settings(config.kafka()));
    }

    /**
     * Fails if the topic does not exist with its partitions.
     *
     * @throws RelayException if the topic is not as required
     */
    public void check() {
        int partitions = partitions();
        if (partitions < Partition.values().length) {
            throw new RelayException(
                    ExitCode.DELIVERY,
                    "topic \"" + name(config) + "\" "
                            + (partitions == 0
                                    ? "does not exist, or may not be described"
                                    : "does not have the " + Partition.values().length + " partitions that it needs")
                            + ": exactly-once publication keeps its position there. Create it with "
                            + "\"twinbox-relay migrate\", or kafka-topics.sh --create --topic " + name(config)
                            + " --partitions "
                            + Partition.values().length + ", or correct " + RelaySettings.NAME.key());
        }
    }

    private int partitions() {
        try {
            return answer(admin().describeTopics(List.of(name(config))).allTopicNames()).values().stream()
                    .mapToInt(topic -> topic.partitions().size())
                    .sum();
        } catch (UnknownTopicOrPartitionException e) {
            return 0;
        }
    }

    /** Commits the producer's transaction together with its number. */
    public void commit(Producer<byte[], byte[]> producer, Map<Partition, PositionTable.Saved> numbers) {
        producer.sendOffsetsToTransaction(offsets(numbers), group());
        producer.commitTransaction();
    }

    /** Commits a number again, in a transaction of its own, before Kafka forgets it. */
    public void refresh(Producer<byte[], byte[]> producer, Partition kind, PositionTable.Saved number) {
        producer.beginTransaction();
        producer.sendOffsetsToTransaction(offsets(Map.of(kind, number)), group());
        producer.commitTransaction();
    }

    private Map<TopicPartition, OffsetAndMetadata> offsets(Map<Partition, PositionTable.Saved> numbers) {
        Map<TopicPartition, OffsetAndMetadata> offsets = new HashMap<>();
        numbers.forEach((kind, saved) -> offsets.put(
                partition(kind),
                new OffsetAndMetadata(
                        saved.number(),
                        OUTBOX + outbox + " seq=" + saved.position().seq())));
        return offsets;
    }

    /**
     * The number of the last committed transaction; null if there is none. Waits for a transaction that is ending.
     *
     * @throws RelayException if the number belongs to another outbox
     */
    public @Nullable Long committed(Partition kind) {
        TopicPartition partition = partition(kind);
        OffsetAndMetadata offset = offset(partition);
        if (offset == null) {
            return null;
        }
        if (!offset.metadata().startsWith(OUTBOX + outbox)) {
            throw new RelayException(
                    ExitCode.DELIVERY,
                    "the committed offset of group \"" + name(config) + "\" for " + partition
                            + " is not of this outbox (" + OUTBOX + outbox + ") but \"" + offset.metadata()
                            + "\": two relays must not share name or topic in one Kafka cluster. Choose another "
                            + RelaySettings.NAME.key()
                            + ", or, if the other outbox is gone for good, delete the group with "
                            + "kafka-consumer-groups.sh --delete --group " + name(config));
        }
        return offset.offset();
    }

    private @Nullable OffsetAndMetadata offset(TopicPartition partition) {
        try {
            return answer(admin().listConsumerGroupOffsets(
                                    Map.of(
                                            name(config),
                                            new ListConsumerGroupOffsetsSpec().topicPartitions(List.of(partition))),
                                    new ListConsumerGroupOffsetsOptions().requireStable(true))
                            .partitionsToOffsetAndMetadata())
                    .get(partition);
        } catch (GroupIdNotFoundException e) {
            return null;
        }
    }

    @Override
    public synchronized void close() {
        if (admin != null) {
            admin.close(Duration.ZERO);
            admin = null;
        }
    }
}
