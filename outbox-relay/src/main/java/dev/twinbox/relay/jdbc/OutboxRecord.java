package dev.twinbox.relay.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.twinbox.CloudEventHeaders;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * One row of the outbox as it goes to Kafka. It is the producer's callback as well, so that a failure can name the row without
 * a second object for each one.
 */
public final class OutboxRecord implements Callback {
    /** What a record costs in memory beside its bytes; also counted by {@link OutboxTable} when it cuts a page. */
    public static final int OVERHEAD = 300;

    private final long seq;
    private final ProducerRecord<byte[], byte[]> record;
    private final @Nullable String fault;
    private @Nullable Batch batch;
    private long handedAt; // written by the sending thread before the record is handed over
    private volatile long settledAt;

    /** What a record belongs to: hears what becomes of it, on the producer's thread or the sending one. */
    public interface Batch {
        void acknowledged(OutboxRecord record);

        void failed(OutboxRecord record, Exception failure);
    }

    public OutboxRecord(long seq, ProducerRecord<byte[], byte[]> record) {
        this(seq, record, null);
    }

    private OutboxRecord(long seq, ProducerRecord<byte[], byte[]> record, @Nullable String fault) {
        this.seq = seq;
        this.record = record;
        this.fault = fault;
    }

    /**
     * A row that can not be made into a record.
     *
     * @param fault what is wrong with it, for a person
     */
    static OutboxRecord unreadable(long seq, String topic, byte @Nullable [] key, String fault) {
        return new OutboxRecord(seq, new ProducerRecord<>(topic.isEmpty() ? "?" : topic, key, null), fault);
    }

    public long seq() {
        return seq;
    }

    public ProducerRecord<byte[], byte[]> record() {
        return record;
    }

    public String topic() {
        return record.topic();
    }

    /** What its order is about; null: it has none. */
    public @Nullable EventKey key() {
        return record.key() == null ? null : new EventKey(record.topic(), new String(record.key(), UTF_8));
    }

    /** Why it can not be sent at all; null if it can. */
    public @Nullable String fault() {
        return fault;
    }

    /** Written by the reading thread before the page is handed on. */
    public void setBatch(Batch newBatch) {
        batch = newBatch;
    }

    public void handOver(long now) {
        handedAt = now;
    }

    /** Monotonic time; 0 before it was handed to the producer. */
    public long handedAt() {
        return handedAt;
    }

    /** Monotonic time at which it was acknowledged or set aside; 0 before. */
    public long settledAt() {
        return settledAt;
    }

    /** Kafka has it. */
    public boolean isAcknowledged() {
        return settledAt != 0 && handedAt != 0;
    }

    public void settle() {
        settledAt = System.nanoTime();
    }

    @Override
    public void onCompletion(@Nullable RecordMetadata metadata, @Nullable Exception failure) {
        Batch mine = batch;
        if (mine == null) {
            throw new IllegalStateException("seq " + seq + " was sent without a page");
        }
        if (failure == null) {
            settle();
            mine.acknowledged(this);
        } else {
            mine.failed(this, failure);
        }
    }

    /** Which row this is, for a person who has to find it; never its payload. */
    @Override
    public String toString() {
        Header id = record.headers().lastHeader(CloudEventHeaders.ID);
        String key = record.key() == null ? "null" : '"' + new String(record.key(), UTF_8) + '"';
        int length = record.value() == null ? 0 : record.value().length;
        return "event " + (id == null ? "?" : new String(id.value(), UTF_8)) + " (topic \"" + record.topic()
                + "\", key " + key + ", seq " + seq + ", " + length + " payload bytes)";
    }
}
