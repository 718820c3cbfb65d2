package dev.twinbox.relay;

import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/**
 * The position moves when Kafka has acknowledged: after a crash between the two, what lies between them is sent once more.
 */
final class AtLeastOnce implements Publication {
    private static final Duration SAVE_INTERVAL = Duration.ofMillis(20);

    private final SessionContext session;
    private final PositionTable positions;
    private final ParkedTable parked;
    private @Nullable Producer<byte[], byte[]> producer;
    private @Nullable Flusher flusher; // null also where the operator has said how long records linger
    private @Nullable Thread flushing;

    AtLeastOnce(SessionContext session, PositionTable positions, ParkedTable parked) {
        this.session = session;
        this.positions = positions;
        this.parked = parked;
    }

    @Override
    public PositionTable.Saved begin() throws SQLException {
        PositionTable.Saved saved = positions.load();
        Producer<byte[], byte[]> opened = session.openProducer(ProducerSettings.SENDER);
        producer = opened;
        if (ProducerSettings.isLingerOurs(session.config())) {
            flusher = new Flusher(opened, session.failures());
            flushing = RelaySession.thread("relay-flusher", flusher);
            flushing.start();
        }
        return saved;
    }

    @Override
    public Producer<byte[], byte[]> producer() {
        return Objects.requireNonNull(producer, "begin() opens it");
    }

    @Override
    public @Nullable Page next() throws InterruptedException {
        if (flusher != null && !session.inFlight().hasUnsent()) {
            flusher.flush();
        }
        Page page = session.inFlight().take();
        if (page != null) {
            session.gate().awaitOpen();
        }
        return page;
    }

    @Override
    public void notTaken(OutboxRecord record, Exception why) {
        // Nothing behind it has been handed over: it is set aside or tried again.
    }

    @Override
    public void settle() {
        // What is saved is settled.
    }

    /** A save is a commit, and with a steady trickle of events each would have its own. A crash repeats that much more. */
    @Override
    public Duration saveInterval() {
        return SAVE_INTERVAL;
    }

    @Override
    public boolean save(PositionTable.Saved next) throws SQLException {
        return positions.save(next, session.lease().owner(), session.lease().epoch());
    }

    @Override
    public void park(List<ParkedTable.Entry> asides) throws SQLException {
        parked.park(asides);
    }

    @Override
    public void saved(PositionTable.Saved next, List<Page> done) {
        done.forEach(page -> session.progress().acknowledged(page.records().size(), page.bytes()));
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
        return session.inFlight().isSettled();
    }

    /** What Kafka has acknowledged it has, however the session ended. */
    @Override
    public void teach(Verdicts verdicts) {
        verdicts.sent(session.inFlight().sentRecords());
    }

    @Override
    public boolean mayBlame(Throwable reason) {
        return true;
    }

    @Override
    public Redelivery redelivery() {
        return new AtLeastOnceRedelivery(session);
    }

    @Override
    public void close() {
        if (flushing != null) {
            flushing.interrupt();
        }
        if (producer != null) {
            producer.close(Duration.ZERO);
        }
    }
}
