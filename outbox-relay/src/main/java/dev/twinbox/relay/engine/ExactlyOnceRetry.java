package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.ParkedQueue;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.kafka.PositionTopic;
import dev.twinbox.relay.kafka.ProducerSettings;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Claims the rows of a batch under a number, and sends them in a Kafka transaction that commits this number. After a
 * crash, rows claimed under the number that Kafka has are removed. Rows claimed under another number are sent again.
 */
final class ExactlyOnceRetry implements RetryPublication {
    private static final Logger LOG = LoggerFactory.getLogger(ExactlyOnceRetry.class);

    private final Function<String, Producer<byte[], byte[]>> producers;
    private final PositionTopic topic;
    private @Nullable Producer<byte[], byte[]> producer;
    private @Nullable Long committed;
    private long number;
    private @Nullable Long refreshedAt; // monotonic time; null: not in this session yet

    /** @param producers open a producer for a purpose */
    ExactlyOnceRetry(Function<String, Producer<byte[], byte[]>> producers, PositionTopic topic) {
        this.producers = producers;
        this.topic = topic;
    }

    @Override
    public void open() {
        producer(); // From here on no predecessor can commit.
        committed = topic.committed(PositionTopic.Partition.PARKED);
    }

    @Override
    public void takeUp(ParkedQueue table) throws SQLException {
        Long claimed = table.sendingAs();
        Long known = committed;
        if (claimed != null && known == null) {
            throw new RelayException(
                    ExitCode.DELIVERY,
                    "parked events were being sent as number " + claimed + " when their relay ended, but Kafka has no "
                            + "committed offset that shows whether they arrived: it was deleted or has expired. Check "
                            + "whether the events that \"twinbox-relay parked\" shows as sending are in their topics. "
                            + "\"twinbox-relay rebase --from-position\" sends them again");
        }
        if (known != null) {
            table.deleteSent(known);
        }
        table.resume();
        number = Math.max(known == null ? 0 : known, claimed == null ? 0 : claimed);
    }

    @Override
    public Producer<byte[], byte[]> producer() {
        Producer<byte[], byte[]> present = producer;
        if (present == null) {
            present = producers.apply(ProducerSettings.RETRY);
            producer = present;
            present.initTransactions();
        }
        return present;
    }

    @Override
    public List<ParkedQueue.Claimed> claim(ParkedQueue table, List<ParkedQueue.Candidate> chosen) throws SQLException {
        number++;
        return table.claim(chosen, number);
    }

    @Override
    public void begin() {
        producer().beginTransaction();
    }

    /** A record that was not taken or was refused has broken the transaction: it cannot be committed. */
    @Override
    public List<Long> sent(RetryBatch batch) {
        if (batch.hasFailed() || batch.acknowledged().isEmpty()) {
            abandon();
            return List.of();
        }
        return batch.acknowledged();
    }

    @Override
    public void abandon() {
        try {
            if (producer != null) {
                // Otherwise consumers of committed records would wait for the transaction's timeout.
                producer.abortTransaction();
            }
        } catch (KafkaException | IllegalStateException e) {
            LOG.debug("Could not abort the transaction; the next producer aborts it", e);
        }
        closeProducer();
    }

    /**
     * A claimed row counts as sent as soon as Kafka has its number. So the other rows must be unclaimed before the
     * commit.
     */
    @Override
    public void commit(List<Long> sent, PutBack putBack) throws SQLException, LeaseLostException {
        if (sent.isEmpty()) {
            return;
        }
        putBack.run();
        Producer<byte[], byte[]> present = Objects.requireNonNull(producer, "a batch was sent with it");
        topic.commit(present, Map.of(PositionTopic.Partition.PARKED, new PositionTable.Saved(number, Position.START)));
        committed = number;
        refreshedAt = System.nanoTime();
    }

    /** At once in a new session: a relay may be started again more often than in the interval. */
    @Override
    public boolean isRefreshDue() {
        Long last = refreshedAt;
        return last == null || System.nanoTime() - last > TransactionalPages.REFRESH.toNanos();
    }

    /** Pages have an offset of their own, so their commits do not keep this one. */
    @Override
    public void refresh() {
        Long known = committed;
        PositionTable.Saved last = new PositionTable.Saved(known == null ? 0 : known, Position.START);
        topic.refresh(producer(), PositionTopic.Partition.PARKED, last);
        committed = last.number();
        refreshedAt = System.nanoTime();
    }

    @Override
    public void closeProducer() {
        if (producer != null) {
            producer.close(Duration.ZERO);
            producer = null;
        }
    }
}
