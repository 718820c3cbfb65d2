package dev.twinbox.relay;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidProducerEpochException;
import org.apache.kafka.common.errors.InvalidTxnStateException;
import org.apache.kafka.common.errors.ProducerFencedException;
import org.apache.kafka.common.errors.TransactionAbortableException;
import org.apache.kafka.common.errors.TransactionAbortedException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Pages are sent in Kafka transactions, and Kafka decides. Before a transaction is committed the database knows both where the
 * relay is if it is, and where if it is not; the commit itself carries the number of that row. Whoever comes next first fences
 * us, then asks Kafka for the number: whatever we did not get done has not happened, also what was set aside. See ADR 0018.
 */
final class ExactlyOnce implements Publication {
    private static final Logger LOG = LoggerFactory.getLogger(ExactlyOnce.class);

    /** They end a transaction, whatever record they are told to. */
    private static final List<Class<? extends Exception>> OF_TRANSACTIONS = List.of(
            ProducerFencedException.class,
            InvalidProducerEpochException.class,
            InvalidTxnStateException.class,
            TransactionAbortableException.class,
            TransactionAbortedException.class);

    private final SessionContext session;
    private final Connection saving;
    private final PositionTable positions;
    private final ParkedTable parked;
    private final Lease lease;
    private final PositionTopic topic;
    private @Nullable Producer<byte[], byte[]> producer;
    private @Nullable TransactionalPages pages;
    private long confirmed; // the number that the newest row says Kafka has
    private int preparedRecords; // of the transaction that is not committed
    private long preparedBytes; // the same
    private long preparedWith; // its last number; 0: nothing is prepared
    private long undecidedWith; // the last number with which events were set aside without decision; 0: there are none

    /**
     * @param saving the connection of the two tables
     * @param outbox how our offsets in Kafka are known again
     */
    ExactlyOnce(SessionContext session, Connection saving, PositionTable positions, ParkedTable parked, UUID outbox) {
        this.session = session;
        this.saving = saving;
        this.positions = positions;
        this.parked = parked;
        this.lease = session.lease();
        this.topic = new PositionTopic(session.config(), outbox);
    }

    /**
     * The order matters: once our producer is initialized nobody who had the lease before us can commit, so what Kafka
     * answers stays true; and each row that we write from then on is one that only the lease's owner can write.
     */
    @Override
    public PositionTable.Saved begin() throws SQLException, LeaseLostException {
        topic.check();
        lease.renewIfDue(); // as long as we own it others need not try; a slow start must not hand it round
        Producer<byte[], byte[]> opened = session.openProducer(ProducerSettings.SENDER);
        producer = opened;
        opened.initTransactions();
        lease.renewIfDue();
        Long kafka = topic.committed(PositionTopic.Lane.PAGES);
        lease.renewIfDue();
        PositionTable.Prepared row = positions.loadPrepared();
        Resolution resolution = Resolution.of(session.config().name(), row, kafka);
        PositionTable.Saved committed = resolution.outcome() == Resolution.Outcome.FIRST
                ? first(row, kafka)
                : new PositionTable.Saved(Objects.requireNonNull(kafka), resolution.position());
        long number = Math.max(row.number(), committed.number()) + 1;
        resolve(resolution, number, committed.number());
        confirmed = committed.number();
        pages = new TransactionalPages(session, opened, topic, committed, TransactionalPages.REFRESH);
        return new PositionTable.Saved(number, resolution.position());
    }

    /** Sets Kafka's numbers, as a transaction like all others: nothing is committed that the database does not know. */
    private PositionTable.Saved first(PositionTable.Prepared row, @Nullable Long pagesNumber)
            throws SQLException, LeaseLostException {
        Long parkedNumber = topic.committed(PositionTopic.Lane.PARKED);
        long number = Math.max(row.number(), pagesNumber == null ? 0 : pagesNumber) + 1;
        PositionTable.Saved first = new PositionTable.Saved(number, row.position());
        write(new PositionTable.Prepared(number, row.position(), null, row.position()));
        producer().beginTransaction();
        topic.commit(
                producer(),
                Map.of(
                        PositionTopic.Lane.PAGES,
                        first,
                        PositionTopic.Lane.PARKED,
                        new PositionTable.Saved(parkedNumber == null ? 0 : parkedNumber, Position.START)));
        LOG.info("Publishing exactly once, {}, number {}", row.position(), number);
        return first;
    }

    /** Makes what has come out durable, with all that hangs on it. */
    private void resolve(Resolution resolution, long number, long committed) throws SQLException, LeaseLostException {
        saving.setAutoCommit(false); // after a failure the connection ends with the session, and this with it
        write(new PositionTable.Prepared(number, resolution.position(), committed, null));
        if (resolution.outcome() == Resolution.Outcome.COMMITTED) {
            parked.decide();
        } else {
            parked.revoke();
        }
        saving.commit();
        saving.setAutoCommit(true);
    }

    private void write(PositionTable.Prepared row) throws SQLException, LeaseLostException {
        if (!positions.prepare(row, lease.owner(), lease.epoch())) {
            lease.end();
            throw new LeaseLostException("saving a position found epoch " + lease.epoch() + " over");
        }
    }

    @Override
    public Producer<byte[], byte[]> producer() {
        return Objects.requireNonNull(producer, "begin() opens it");
    }

    private TransactionalPages pages() {
        return Objects.requireNonNull(pages, "begin() makes it");
    }

    @Override
    public @Nullable Page next() throws InterruptedException {
        return pages().next();
    }

    /** The transaction is broken, whatever the reason: what was sent in it must be sent again without this record. */
    @Override
    public void notTaken(OutboxRecord record, Exception why) throws SendFailedException {
        session.topics().forget(record.topic());
        throw new SendFailedException(record, why);
    }

    /** What was sent in a transaction that is committed by now, is; and so with what was set aside. */
    @Override
    public void settle() throws SQLException, LeaseLostException {
        long committed = pages().committed().number();
        if (preparedWith != 0 && preparedWith <= committed) {
            session.progress().acknowledged(preparedRecords, preparedBytes);
            preparedRecords = 0;
            preparedBytes = 0;
            preparedWith = 0;
        }
        if (undecidedWith != 0 && undecidedWith <= committed) {
            decide();
        }
    }

    private void decide() throws SQLException, LeaseLostException {
        synchronized (session.parkedRows()) {
            saving.setAutoCommit(false);
            if (!parked.holdLease(lease)) {
                throw new LeaseLostException("setting events aside found epoch " + lease.epoch() + " over");
            }
            parked.decide();
            saving.commit();
            saving.setAutoCommit(true);
        }
        undecidedWith = 0;
    }

    /** The next page waits for it. */
    @Override
    public Duration saveInterval() {
        return Duration.ZERO;
    }

    @Override
    public boolean save(PositionTable.Saved next) throws SQLException {
        PositionTable.Saved committed = pages().committed();
        confirmed = committed.number();
        return positions.prepare(
                new PositionTable.Prepared(next.number(), committed.position(), committed.number(), next.position()),
                lease.owner(),
                lease.epoch());
    }

    @Override
    public void park(List<ParkedTable.Entry> asides) throws SQLException {
        parked.parkUndecided(asides);
    }

    @Override
    public void saved(PositionTable.Saved next, List<Page> done) {
        if (done.stream().anyMatch(page -> !page.asides().isEmpty())) {
            undecidedWith = next.number();
        }
        for (Page page : done) {
            preparedRecords += page.records().size();
            preparedBytes += page.bytes();
        }
        preparedWith = next.number();
        pages().prepared(next);
    }

    /** While there is more to do, the row that is written before the next commit says it as well. */
    @Override
    public @Nullable Position unconfirmed() {
        PositionTable.Saved committed = pages().committed();
        boolean idle = !pages().isOpen() && session.inFlight().isSettled();
        return idle && committed.number() != confirmed ? committed.position() : null;
    }

    @Override
    public boolean confirm(PositionTable.Saved next) throws SQLException {
        long committed = pages().committed().number();
        confirmed = committed;
        return positions.prepare(
                new PositionTable.Prepared(next.number(), next.position(), committed, null),
                lease.owner(),
                lease.epoch());
    }

    @Override
    public boolean isSettled() {
        return session.inFlight().isSettled()
                && !pages().isOpen()
                && pages().committed().number() == confirmed;
    }

    /** Nothing: what was acknowledged in a transaction that is not committed is nowhere. */
    @Override
    public void teach(Verdicts verdicts) {
        // See above.
    }

    @Override
    public boolean mayBlame(Throwable reason) {
        return reason.getClass() != KafkaException.class
                && OF_TRANSACTIONS.stream().noneMatch(type -> type.isInstance(reason));
    }

    @Override
    public Redelivery redelivery() {
        return new ExactlyOnceRedelivery(session, topic);
    }

    @Override
    public void close() {
        if (producer != null) {
            producer.close(Duration.ZERO);
        }
        topic.close();
    }
}
