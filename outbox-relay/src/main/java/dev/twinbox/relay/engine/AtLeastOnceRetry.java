package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.ParkedQueue;
import dev.twinbox.relay.kafka.ProducerSettings;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/** Removes a row after Kafka has acknowledged it. Events that were being sent at a crash are sent again. */
final class AtLeastOnceRetry implements RetryPublication {
    private final Function<String, Producer<byte[], byte[]>> producers;
    private @Nullable Producer<byte[], byte[]> producer;

    /** @param producers open a producer for a purpose */
    AtLeastOnceRetry(Function<String, Producer<byte[], byte[]>> producers) {
        this.producers = producers;
    }

    @Override
    public void open() {
        // Nothing: no predecessor needs to be fenced.
    }

    @Override
    public void takeUp(ParkedQueue table) throws SQLException {
        table.resume();
    }

    @Override
    public Producer<byte[], byte[]> producer() {
        Producer<byte[], byte[]> present = producer;
        if (present == null) {
            present = producers.apply(ProducerSettings.RETRY);
            producer = present;
        }
        return present;
    }

    @Override
    public List<ParkedQueue.Claimed> claim(ParkedQueue table, List<ParkedQueue.Candidate> chosen) throws SQLException {
        return table.claim(chosen);
    }

    @Override
    public void begin() {
        // Nothing: each record stands for itself.
    }

    @Override
    public List<Long> sent(RetryBatch batch) {
        return batch.acknowledged();
    }

    @Override
    public void commit(List<Long> sent, PutBack putBack) {
        // Nothing: an acknowledged record is sent.
    }

    @Override
    public void abandon() {
        closeProducer();
    }

    /** No: Kafka keeps nothing for this mode. */
    @Override
    public boolean isRefreshDue() {
        return false;
    }

    @Override
    public void refresh() {
        // Nothing, see above.
    }

    @Override
    public void closeProducer() {
        if (producer != null) {
            producer.close(Duration.ZERO);
            producer = null;
        }
    }
}
