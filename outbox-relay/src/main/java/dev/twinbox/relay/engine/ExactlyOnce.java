package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkedTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.kafka.PositionTopic;
import dev.twinbox.relay.kafka.ProducerSettings;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.Function;
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
 * Sends pages in Kafka transactions; Kafka's commit decides. Before the commit, the database holds both positions: the
 * one if the transaction commits, and the one if it does not. The commit itself carries the number of that row. A
 * successor first fences this relay, then asks Kafka for the number. So an uncommitted transaction has no effect,
 * including its parked events. See ADR 0018.
 */
final class ExactlyOnce implements Publication {
    private static final Logger LOG = LoggerFactory.getLogger(ExactlyOnce.class);

    /** These end a transaction, whichever record reports them. */
    private static final List<Class<? extends Exception>> TRANSACTION_FAILURES = List.of(
            ProducerFencedException.class,
            InvalidProducerEpochException.class,
            InvalidTxnStateException.class,
            TransactionAbortableException.class,
            TransactionAbortedException.class);

    /** In the middle of a transaction, acknowledged pages leave the memory within this time. */
    private static final Duration SAVE_INTERVAL = Duration.ofMillis(20);

    /** The events of a page whose transaction is not committed yet. */
    private record Delivery(long committedAfter, long events) {}

    private final String relay;
    private final LeasedTables tables;
    private final PositionTopic topic;
    private final Function<String, Producer<byte[], byte[]>> producers;
    private final TransactionalPages pages;
    private final BlockedKeys blockedKeys;
    private final Progress progress;
    private final Lease lease;
    private @Nullable Producer<byte[], byte[]> producer;
    private long confirmed; // the number that Kafka has committed, according to the newest row
    private final List<Delivery> preparedDeliveries = new ArrayList<>();
    private int preparedRecords; // records of the transaction that is not committed yet
    private long preparedBytes; // bytes of the same transaction
    private long preparedWith; // the last number of that transaction; 0: nothing is prepared
    private long undecidedWith; // the last number under which events were parked undecided; 0: there are none
    /** What Kafka had at the last {@link #settle()}. No event is undecided that was parked up to this number. */
    private PositionTable.Saved settled = PositionTable.Saved.NOTHING;

    /**
     * @param relay the relay's name
     * @param topic closed together with this object
     * @param producers open a producer for a purpose
     */
    ExactlyOnce(
            String relay,
            LeasedTables tables,
            PositionTopic topic,
            Function<String, Producer<byte[], byte[]>> producers,
            TransactionalPages pages,
            BlockedKeys blockedKeys,
            Progress progress) {
        this.relay = relay;
        this.tables = tables;
        this.topic = topic;
        this.producers = producers;
        this.pages = pages;
        this.blockedKeys = blockedKeys;
        this.progress = progress;
        this.lease = tables.lease();
    }

    /**
     * Finds out where to continue. The order matters. Once the producer is initialized, no earlier owner of the lease
     * can commit, so Kafka's answer stays true. And from then on only the lease's owner can write rows.
     */
    @Override
    public PositionTable.Saved begin() throws SQLException, LeaseLostException {
        topic.check();
        lease.renewIfDue(); // A slow start must not lose the lease to another process.
        Producer<byte[], byte[]> opened = producers.apply(ProducerSettings.SENDER);
        producer = opened;
        opened.initTransactions();
        lease.renewIfDue();
        Long kafka = topic.committed(PositionTopic.Partition.PAGES);
        lease.renewIfDue();
        PositionTable.Prepared row = tables.positions().loadPrepared();
        LastTransaction resolution = LastTransaction.of(relay, row, kafka);
        PositionTable.Saved committed = resolution.outcome() == LastTransaction.Outcome.FIRST
                ? first(row, kafka)
                : new PositionTable.Saved(Objects.requireNonNull(kafka), resolution.position());
        long number = Math.max(row.number(), committed.number()) + 1;
        resolve(resolution, number, committed.number());
        confirmed = committed.number();
        settled = committed;
        pages.start(opened, committed);
        return new PositionTable.Saved(number, resolution.position());
    }

    /** Sets Kafka's numbers in a transaction like all others: the database knows of it before it is committed. */
    private PositionTable.Saved first(PositionTable.Prepared row, @Nullable Long pagesNumber)
            throws SQLException, LeaseLostException {
        Long parkedNumber = topic.committed(PositionTopic.Partition.PARKED);
        long number = Math.max(row.number(), pagesNumber == null ? 0 : pagesNumber) + 1;
        PositionTable.Saved first = new PositionTable.Saved(number, row.position());
        write(new PositionTable.Prepared(number, row.position(), null, row.position()));
        producer().beginTransaction();
        topic.commit(
                producer(),
                Map.of(
                        PositionTopic.Partition.PAGES,
                        first,
                        PositionTopic.Partition.PARKED,
                        new PositionTable.Saved(parkedNumber == null ? 0 : parkedNumber, Position.START)));
        LOG.info("Publishing exactly once, {}, number {}", row.position(), number);
        return first;
    }

    /** Saves the outcome of the last transaction, and decides the fate of its parked events. */
    private void resolve(LastTransaction resolution, long number, long committed)
            throws SQLException, LeaseLostException {
        tables.inTransaction(() -> {
            write(new PositionTable.Prepared(number, resolution.position(), committed, null));
            if (resolution.outcome() == LastTransaction.Outcome.NOT_COMMITTED
                    || resolution.outcome() == LastTransaction.Outcome.FIRST) {
                tables.parked().revoke();
            } else {
                tables.parked().decide();
            }
        });
    }

    private void write(PositionTable.Prepared row) throws SQLException, LeaseLostException {
        if (!tables.prepare(row)) {
            lease.end();
            throw new LeaseLostException("epoch " + lease.epoch() + " had ended when a position was to be saved");
        }
    }

    @Override
    public Producer<byte[], byte[]> producer() {
        return Objects.requireNonNull(producer, "begin() opens it");
    }

    @Override
    public @Nullable Page next() throws InterruptedException {
        return pages.next();
    }

    /** Yes: the transaction is broken for any reason. Its records must be sent again without this one. */
    @Override
    public boolean isBrokenByRefusal() {
        return true;
    }

    /** Once a transaction is committed, its records are published and its parked events are decided. */
    @Override
    public void settle() throws SQLException, LeaseLostException {
        PositionTable.Saved now = pages.committed();
        long committed = now.number();
        if (preparedWith != 0 && preparedWith <= committed) {
            progress.recordAcknowledged(preparedRecords, preparedBytes);
            recordDeliveries();
            preparedRecords = 0;
            preparedBytes = 0;
            preparedWith = 0;
        }
        if (undecidedWith != 0 && undecidedWith <= committed) {
            decide();
        }
        settled = now;
    }

    /** Consumers of committed records see the events from now on. */
    private void recordDeliveries() {
        long now = System.nanoTime();
        for (Delivery page : preparedDeliveries) {
            for (long i = 0; i < page.events(); i++) {
                progress.recordDelivery(page.committedAfter(), now);
            }
        }
        preparedDeliveries.clear();
    }

    private void decide() throws SQLException, LeaseLostException {
        synchronized (blockedKeys.rowsLock()) {
            tables.inTransaction(() -> {
                tables.holdLease();
                tables.parked().decide();
            });
        }
        undecidedWith = 0;
    }

    /** Only the position after the last page of a transaction counts, and its end waits for that save. */
    @Override
    public Duration saveInterval() {
        return pages.isEnding() ? Duration.ZERO : SAVE_INTERVAL;
    }

    /**
     * Kafka has nothing newer than what is settled: a transaction whose last page is not saved yet cannot be committed,
     * and these pages belong to it or to a later one.
     */
    @Override
    public boolean save(PositionTable.Saved next) throws SQLException {
        confirmed = settled.number();
        return tables.prepare(
                new PositionTable.Prepared(next.number(), settled.position(), settled.number(), next.position()));
    }

    @Override
    public void park(List<ParkedTable.Entry> entries) throws SQLException {
        tables.parking().parkUndecided(entries);
    }

    @Override
    public void recordSaved(PositionTable.Saved next, List<Page> done) {
        if (done.stream().anyMatch(page -> !page.parked().isEmpty())) {
            undecidedWith = next.number();
        }
        for (Page page : done) {
            preparedRecords += page.records().size();
            preparedBytes += page.bytes();
            preparedDeliveries.add(new Delivery(
                    page.committedAfter(),
                    page.records().stream().filter(OutboxRecord::isAcknowledged).count()));
        }
        preparedWith = next.number();
        pages.recordPrepared(next);
    }

    /**
     * While there are more pages, the row before the next commit contains this position as well. Kafka's commit alone
     * does not count: a confirmed position that passes undecided events would lose them.
     */
    @Override
    public @Nullable Position unconfirmed() {
        return pages.isIdle() && settled.number() != confirmed ? settled.position() : null;
    }

    @Override
    public boolean confirm(PositionTable.Saved next) throws SQLException {
        confirmed = settled.number();
        return tables.prepare(new PositionTable.Prepared(next.number(), next.position(), confirmed, null));
    }

    @Override
    public boolean isSettled() {
        return undecidedWith == 0 && pages.isIdle() && pages.committed().number() == confirmed;
    }

    /** Passes on nothing: records acknowledged in an uncommitted transaction do not count. */
    @Override
    public void passOn(KnownOutcomes known) {
        // Nothing, see above.
    }

    @Override
    public boolean mayBlame(Throwable reason) {
        return reason.getClass() != KafkaException.class
                && TRANSACTION_FAILURES.stream().noneMatch(type -> type.isInstance(reason));
    }

    @Override
    public void close() {
        if (producer != null) {
            producer.close(Duration.ZERO);
        }
        topic.close();
    }
}
