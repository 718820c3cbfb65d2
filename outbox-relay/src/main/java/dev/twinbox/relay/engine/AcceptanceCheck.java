package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkReason;
import dev.twinbox.relay.jdbc.ParkedQueue;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.kafka.ProducerSettings;
import dev.twinbox.relay.kafka.Refusal;
import dev.twinbox.relay.kafka.Topic;
import dev.twinbox.relay.kafka.Topics;
import dev.twinbox.relay.pause.PausedTopics;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.IntStream;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * Finds out before sending which records Kafka will not accept, or not now. Finding out after sending breaks the order
 * of a key or costs a new producer.
 */
final class AcceptanceCheck {
    /** Bytes of a batch with one record, beside key, value and headers, in Kafka's message format 2. */
    private static final int BATCH_OVERHEAD = 61;

    private static final int RECORD_OVERHEAD = 3;
    private static final int BITS_PER_VARINT_BYTE = 7;

    /** Whether a batch is sent without compression. */
    private enum Compression {
        NONE,
        SOME
    }

    private final Topics topics;
    private final KnownOutcomes known;
    private final PausedTopics pausedTopics;
    private final Compression compression;

    AcceptanceCheck(RelayConfig config, Topics topics, KnownOutcomes known, PausedTopics pausedTopics) {
        this.topics = topics;
        this.known = known;
        this.pausedTopics = pausedTopics;
        Object type = ProducerSettings.of(config).get(ProducerConfig.COMPRESSION_TYPE_CONFIG);
        this.compression = "none".equals(type) ? Compression.NONE : Compression.SOME;
    }

    /**
     * Why the record must not be handed to the producer now; null if nothing prevents it.
     *
     * @throws KafkaException if Kafka must be asked and does not answer
     */
    @Nullable ParkReason objection(OutboxRecord record) {
        ParkReason learned = known.of(record.seq());
        if (learned != null) {
            return learned;
        }
        ParkReason obstacle = obstacle(record);
        return obstacle != null || !known.hasStalled() ? obstacle : stalled(record);
    }

    /**
     * As {@link #objection}, but without what earlier sessions learned. A partition that stood still may be tried
     * again.
     */
    @Nullable ParkReason obstacle(OutboxRecord record) {
        if (pausedTopics.contains(record.topic())) {
            return ParkReason.pausedTopic(record.topic()); // Kafka is not asked: the topic may be missing.
        }
        String fault = record.fault();
        if (fault != null) {
            return ParkReason.refused(fault);
        }
        ParkReason obstacle = obstacle(record, topics.of(record.topic()));
        return obstacle == null || obstacle.state() != ParkedState.REFUSED
                ? obstacle
                : obstacle(record, topics.fresh(record.topic())); // A limit may have been raised since.
    }

    /** <b>Remedy.</b> The rest of the message names it. */
    private @Nullable ParkReason obstacle(OutboxRecord outboxRecord, Topic topic) {
        ProducerRecord<byte[], byte[]> record = outboxRecord.record();
        String obstacle = topic.obstacle();
        if (obstacle != null) {
            return topic.status() == Topic.Status.MISSING
                    ? ParkReason.waitingForTopic(obstacle)
                    : ParkReason.refused(outboxRecord + " cannot be sent: " + obstacle);
        }
        if (record.key() == null && topic.needsKey() == Topic.Key.REQUIRED) {
            return ParkReason.refused(
                    outboxRecord + " has no key, but its topic is compacted: give the event a key, or set "
                            + "cleanup.policy of the topic to delete");
        }
        if (compression == Compression.NONE && plainSize(record) > topic.maxBytes()) {
            return ParkReason.refused(outboxRecord + " takes " + plainSize(record)
                    + " bytes, more than max.message.bytes of its topic, " + topic.maxBytes() + ": " + Refusal.LIMITS);
        }
        return null;
    }

    /**
     * Whether only the broker can tell if the record is too large, because that depends on compression. Headers of half
     * the limit are not noticed: that costs a new producer, no more.
     */
    boolean mayBeTooLarge(OutboxRecord outboxRecord) {
        ProducerRecord<byte[], byte[]> record = outboxRecord.record();
        long limit = topics.of(outboxRecord.topic()).maxBytes();
        return compression == Compression.SOME
                && record.value() != null
                && record.value().length > limit / 2
                && plainSize(record) > limit;
    }

    /** Kafka or its client will never accept the record. */
    ParkReason refused(OutboxRecord record, Exception why) {
        return ParkReason.refused(Refusal.describe(record, why, topics.login()));
    }

    private @Nullable ParkReason stalled(OutboxRecord record) {
        if (known.isStalled(record.topic())) {
            return ParkReason.waitingForTopic(
                    "topic \"" + record.topic() + "\" refuses the relay's timestamps: check its message.timestamp.* "
                            + "settings and the clocks of the brokers. The relay tries again by itself");
        }
        TopicPartition partition = partitionOf(record);
        return partition != null && known.isStalled(partition) ? stalled(partition) : null;
    }

    static ParkReason stalled(TopicPartition partition) {
        return ParkReason.waitingFor(
                partition.partition(),
                "partition " + partition.partition() + " of topic \"" + partition.topic()
                        + "\" accepts nothing although Kafka answers: check its leader and its in-sync replicas");
    }

    /**
     * The partition of a record with a key; null without a key, or if its topic does not exist.
     *
     * @throws KafkaException if Kafka must be asked and does not answer
     */
    @Nullable TopicPartition partitionOf(OutboxRecord record) {
        if (record.record().key() == null || record.fault() != null) {
            return null;
        }
        Topic topic = topics.of(record.topic());
        return topic.partitions() == 0
                ? null
                : new TopicPartition(
                        record.topic(), topic.partitionOf(record.record().key()));
    }

    /**
     * Whether the topic or partition that parked events wait for is available now. A pause that has ended always is.
     *
     * @throws KafkaException if Kafka does not answer
     */
    boolean isThere(ParkedQueue.WaitedFor group) {
        Topic topic = topics.fresh(group.topic());
        return group.partition() == ParkReason.PAUSED
                || (topic.status() != Topic.Status.MISSING
                        && !topic.unwritable().contains(group.partition()));
    }

    /** An event that waited for this was sent. */
    void recordMoving(ParkedQueue.WaitedFor group) {
        known.recordMoving(group.topic(), group.partition());
    }

    /** @throws KafkaException if Kafka must be asked and does not answer */
    int partitions(String topic) {
        return topics.of(topic).partitions();
    }

    /**
     * The record with a partition if it needs one. Without a key, the producer must not choose a partition that stands
     * still.
     *
     * @throws KafkaException if Kafka must be asked and does not answer
     */
    ProducerRecord<byte[], byte[]> routed(ProducerRecord<byte[], byte[]> record) {
        if (record.key() != null || !known.hasStalled()) {
            return record;
        }
        Topic topic = topics.of(record.topic());
        int[] moving = IntStream.range(0, topic.partitions())
                .filter(partition -> !known.isStalled(new TopicPartition(record.topic(), partition)))
                .toArray();
        if (moving.length == 0 || moving.length == topic.partitions()) {
            return record;
        }
        int partition = moving[ThreadLocalRandom.current().nextInt(moving.length)];
        return new ProducerRecord<>(record.topic(), partition, null, null, record.value(), record.headers());
    }

    /** The size of the record as a batch of its own, without compression. */
    static long plainSize(ProducerRecord<byte[], byte[]> record) {
        long size = RECORD_OVERHEAD + field(record.key()) + field(record.value());
        int headers = 0;
        for (Header header : record.headers()) {
            size += field(header.key().length()) + field(header.value());
            headers++;
        }
        size += varint(headers);
        return BATCH_OVERHEAD + varint(size) + size;
    }

    private static long field(byte @Nullable [] bytes) {
        return bytes == null ? 1 : field(bytes.length);
    }

    private static long field(int length) {
        return (long) varint(length) + length;
    }

    /** Bytes of a number in zigzag encoding, which doubles the number. */
    private static int varint(long value) {
        int bits = Long.SIZE - Long.numberOfLeadingZeros(value << 1);
        return Math.max(1, (bits + BITS_PER_VARINT_BYTE - 1) / BITS_PER_VARINT_BYTE);
    }
}
