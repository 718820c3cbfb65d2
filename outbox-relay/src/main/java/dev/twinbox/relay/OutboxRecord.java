package dev.twinbox.relay;

import org.apache.kafka.clients.producer.Callback;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.jspecify.annotations.Nullable;

/**
 * One row of the outbox as it goes to Kafka. It is the producer's callback as well, so that a failure can name the row without
 * a second object for each one.
 */
final class OutboxRecord implements Callback {
    private final long seq;
    private final ProducerRecord<byte[], byte[]> record;
    private @Nullable Page page;

    OutboxRecord(long seq, ProducerRecord<byte[], byte[]> record) {
        this.seq = seq;
        this.record = record;
    }

    long seq() {
        return seq;
    }

    ProducerRecord<byte[], byte[]> record() {
        return record;
    }

    /** Written by the reading thread before the page is handed on. */
    void belongsTo(Page newPage) {
        page = newPage;
    }

    @Override
    public void onCompletion(@Nullable RecordMetadata metadata, @Nullable Exception failure) {
        Page mine = page;
        if (mine == null) {
            throw new IllegalStateException("seq " + seq + " was sent without a page");
        }
        if (failure == null) {
            mine.acknowledged();
        } else {
            mine.failed(this, failure);
        }
    }

    /** Which row this is, for a person who has to find it; never its payload. */
    @Override
    public String toString() {
        return RecordAssembler.describe(this);
    }
}
