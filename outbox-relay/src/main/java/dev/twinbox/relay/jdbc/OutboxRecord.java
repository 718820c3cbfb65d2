package dev.twinbox.relay.jdbc;

import static java.nio.charset.StandardCharsets.UTF_8;

import dev.twinbox.CloudEventHeaders;
import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/**
 * One row of the outbox as it goes to Kafka. It is also the producer's callback: a failure can then name the row
 * without a second object per record.
 */
public final class OutboxRecord implements Callback {
    /** Memory that a record takes beside its bytes. {@link OutboxTable} counts it as well when it cuts a page. */
    public static final int OVERHEAD = 300;

    private final long seq;
    private final ProducerRecord<byte[], byte[]> record;
    private final @Nullable String fault;
    private final long unreadBytes;
    private @Nullable Batch batch;
    private long handedAt; // written by the sending thread before it hands the record over
    private boolean acknowledged; // written before settledAt, and read after it
    private volatile long settledAt;

    /**
     * The group that a record is sent with. It learns each outcome, on the producer's thread or on the sending thread.
     */
    public interface Batch {
        void acknowledged(OutboxRecord record);

        void failed(OutboxRecord record, Exception failure);
    }

    public OutboxRecord(long seq, ProducerRecord<byte[], byte[]> record) {
        this(seq, record, null, 0);
    }

    private OutboxRecord(long seq, ProducerRecord<byte[], byte[]> record, @Nullable String fault, long unreadBytes) {
        this.seq = seq;
        this.record = record;
        this.fault = fault;
        this.unreadBytes = unreadBytes;
    }

    /**
     * A row that cannot be made into a record.
     *
     * @param topic empty if it has none
     * @param fault what is wrong with it, for the operator
     * @param unreadBytes roughly what the row has beside topic and key
     */
    static OutboxRecord unreadable(long seq, String topic, byte @Nullable [] key, String fault, long unreadBytes) {
        return new OutboxRecord(seq, new ProducerRecord<>(topic, key, null), fault, unreadBytes);
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

    /** The key within which it is sent in order; null if it has none. */
    public @Nullable EventKey key() {
        return record.key() == null ? null : new EventKey(record.topic(), new String(record.key(), UTF_8));
    }

    /** Why it cannot be sent at all; null if it can. */
    public @Nullable String fault() {
        return fault;
    }

    /** What its row has beside the record, roughly: nothing, unless it cannot be sent at all. */
    public long unreadBytes() {
        return unreadBytes;
    }

    /** Called by the reading thread before it hands the page on. */
    public void setBatch(Batch newBatch) {
        batch = newBatch;
    }

    public void handOver(long now) {
        handedAt = now;
    }

    /** Monotonic time; 0 before the record is handed to the producer. */
    public long handedAt() {
        return handedAt;
    }

    /** Monotonic time at which it was acknowledged or parked; 0 before. */
    public long settledAt() {
        return settledAt;
    }

    /** Whether Kafka has acknowledged it. One that is parked, because the producer has not taken it, is not. */
    public boolean isAcknowledged() {
        return settledAt != 0 && acknowledged;
    }

    /** It needs no further answer: it is acknowledged, or it is parked. */
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
            acknowledged = true;
            settle();
            mine.acknowledged(this);
        } else {
            mine.failed(this, failure);
        }
    }

    /** Names the row so that an operator can find it; never shows its payload. */
    @Override
    public String toString() {
        Header id = record.headers().lastHeader(CloudEventHeaders.ID);
        String key = EventKey.shown(record.key() == null ? null : new String(record.key(), UTF_8));
        int length = record.value() == null ? 0 : record.value().length;
        return "event " + (id == null ? "?" : new String(id.value(), UTF_8)) + " (topic "
                + EventKey.shown(record.topic()) + ", key " + key + ", seq " + seq + ", " + length + " payload bytes)";
    }
}
