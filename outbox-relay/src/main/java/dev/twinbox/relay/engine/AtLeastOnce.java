package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkedTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.kafka.ProducerSettings;
import dev.twinbox.relay.pause.PausedTopics;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/** Moves the position after Kafka has acknowledged. A crash between the two repeats the events between them. */
final class AtLeastOnce implements Publication {
    private static final Duration SAVE_INTERVAL = Duration.ofMillis(20);

    private final RelayConfig config;
    private final LeasedTables tables;
    private final Function<String, Producer<byte[], byte[]>> producers;
    private final InFlight inFlight;
    private final PausedTopics pausedTopics;
    private final Failures failures;
    private final Progress progress;
    private final SessionThreads threads;
    private @Nullable Producer<byte[], byte[]> producer;
    private @Nullable ProducerFlusher flusher; // null also if the operator has configured linger.ms
    private boolean windowHasMore; // owned by the sending thread

    /** @param producers open a producer for a purpose */
    AtLeastOnce(
            RelayConfig config,
            LeasedTables tables,
            Function<String, Producer<byte[], byte[]>> producers,
            InFlight inFlight,
            PausedTopics pausedTopics,
            Failures failures,
            Progress progress,
            SessionThreads threads) {
        this.config = config;
        this.tables = tables;
        this.producers = producers;
        this.inFlight = inFlight;
        this.pausedTopics = pausedTopics;
        this.failures = failures;
        this.progress = progress;
        this.threads = threads;
    }

    @Override
    public PositionTable.Saved begin() throws SQLException {
        PositionTable.Saved saved = tables.positions().load();
        Producer<byte[], byte[]> opened = producers.apply(ProducerSettings.SENDER);
        producer = opened;
        if (ProducerSettings.isLingerOurs(config)) {
            ProducerFlusher flushing = new ProducerFlusher(opened, failures);
            flusher = flushing;
            threads.start("relay-flusher", flushing::run);
        }
        return saved;
    }

    @Override
    public Producer<byte[], byte[]> producer() {
        return Objects.requireNonNull(producer, "begin() opens it");
    }

    @Override
    public @Nullable Page next() throws InterruptedException {
        // While more rows of the window are being read, its records fill batches. They linger for a moment at most.
        if (flusher != null && !windowHasMore && !inFlight.hasUnsent()) {
            flusher.flush();
        }
        inFlight.awaitUnsent();
        pausedTopics.awaitRoom(inFlight.nextRecords());
        Page page = inFlight.take();
        if (page != null) {
            windowHasMore = page.after().to() != null;
        }
        return page;
    }

    /** No: nothing was handed over after the record. It is parked or retried. */
    @Override
    public boolean isBrokenByRefusal() {
        return false;
    }

    @Override
    public void settle() {
        // Nothing: a saved position is final.
    }

    /**
     * Each save is a commit. Without an interval, a steady trickle of events would need one commit each. After a crash,
     * the events of one interval are repeated.
     */
    @Override
    public Duration saveInterval() {
        return SAVE_INTERVAL;
    }

    @Override
    public boolean save(PositionTable.Saved next) throws SQLException {
        return tables.save(next);
    }

    @Override
    public void park(List<ParkedTable.Entry> entries) throws SQLException {
        tables.parking().park(entries);
    }

    @Override
    public void recordSaved(PositionTable.Saved next, List<Page> done) {
        for (Page page : done) {
            progress.recordAcknowledged(page.records().size(), page.bytes());
            for (OutboxRecord record : page.records()) {
                if (record.isAcknowledged()) {
                    progress.recordDelivery(page.committedAfter(), record.settledAt());
                }
            }
        }
    }

    @Override
    public @Nullable Position unconfirmed() {
        return null;
    }

    @Override
    public boolean confirm(PositionTable.Saved next) {
        throw new IllegalStateException("there is nothing to confirm");
    }

    @Override
    public boolean isSettled() {
        return inFlight.isSettled();
    }

    /** Kafka keeps what it has acknowledged, however the session ended. */
    @Override
    public void passOn(KnownOutcomes known) {
        known.recordSent(inFlight.sentRecords());
    }

    @Override
    public boolean mayBlame(Throwable reason) {
        return true;
    }

    @Override
    public void close() {
        if (producer != null) {
            producer.close(Duration.ZERO);
        }
    }
}
