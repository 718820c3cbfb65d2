package dev.twinbox.proof.bench.debezium;

import io.debezium.engine.DebeziumEngine;
import io.debezium.engine.RecordChangeEvent;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.apache.kafka.connect.source.SourceRecord;
import org.jspecify.annotations.Nullable;

/**
 * Sends the records of the outbox event router, batch by batch. A batch is processed when Kafka has acknowledged all of
 * it.
 */
final class Publisher implements DebeziumEngine.ChangeConsumer<RecordChangeEvent<SourceRecord>> {

    private static final Header SPEC_VERSION = header("ce_specversion", "1.0");
    /** Headers of the router, with their names on Kafka. The other names come from the router's settings. */
    private static final String ROUTERS_ID = "id";
    /** The header with the source of a change. The events of the other sides do not have it. */
    private static final String CONNECTORS_OWN = "__debezium.";

    private final Producer<byte[], byte[]> producer;
    private final long events;
    private final CompletableFuture<Void> end = new CompletableFuture<>();
    private final AtomicReference<@Nullable Exception> failure = new AtomicReference<>();
    private long published;
    private volatile long firstBatch;
    // Written by the producer's thread, read after a flush.
    private volatile long lastAcknowledgement;

    Publisher(Producer<byte[], byte[]> producer, long events) {
        this.producer = producer;
        this.events = events;
    }

    @Override
    public void handleBatch(
            List<RecordChangeEvent<SourceRecord>> batch,
            DebeziumEngine.RecordCommitter<RecordChangeEvent<SourceRecord>> committer)
            throws InterruptedException {
        if (firstBatch == 0) {
            firstBatch = System.nanoTime();
        }
        for (RecordChangeEvent<SourceRecord> event : batch) {
            send(event.record());
        }
        producer.flush();
        Exception first = failure.get();
        if (first != null) {
            throw new IllegalStateException("Kafka refused an event", first);
        }
        for (RecordChangeEvent<SourceRecord> event : batch) {
            committer.markProcessed(event);
        }
        committer.markBatchFinished();
        published += batch.size();
        if (published >= events) {
            end.complete(null);
        }
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the callback gets each outcome
    private void send(SourceRecord routed) {
        byte[] key = utf8(String.valueOf(routed.key()));
        ProducerRecord<byte[], byte[]> event =
                new ProducerRecord<>(routed.topic(), null, key, bytes(routed.value()), List.of(SPEC_VERSION));
        event.headers().add(header("ce_partitionkey", String.valueOf(routed.key())));
        for (org.apache.kafka.connect.header.Header header : routed.headers()) {
            if (!header.key().startsWith(CONNECTORS_OWN)) {
                String name = header.key().equals(ROUTERS_ID) ? "ce_id" : header.key();
                event.headers().add(header(name, String.valueOf(header.value())));
            }
        }
        producer.send(event, (metadata, exception) -> {
            if (exception != null) {
                failure.compareAndSet(null, exception);
            }
            lastAcknowledgement = System.nanoTime();
        });
    }

    /** The router passes on the column as the connector has read it. */
    private static byte[] bytes(Object payload) {
        if (payload instanceof byte[] array) {
            return array;
        }
        ByteBuffer buffer = ((ByteBuffer) payload).duplicate();
        byte[] copy = new byte[buffer.remaining()];
        buffer.get(copy);
        return copy;
    }

    private static Header header(String name, String value) {
        return new RecordHeader(name, utf8(value));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    /** Called by the engine when it stops, whatever the reason. */
    void engineEnded(boolean success, String message, @Nullable Throwable error) {
        end.completeExceptionally(new IllegalStateException("Debezium stopped: " + message, error));
    }

    void awaitEnd() throws InterruptedException, ExecutionException {
        end.get();
    }

    /** From the first batch that the connector had read to the last acknowledgement. */
    long nanos() {
        return lastAcknowledgement - firstBatch;
    }
}
