package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxTable;
import dev.twinbox.relay.jdbc.ParkedTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.kafka.PositionTopic;
import dev.twinbox.relay.kafka.ProducerSettings;
import dev.twinbox.relay.kafka.Refusal;
import dev.twinbox.relay.kafka.Topics;
import dev.twinbox.relay.pause.PauseGate;
import dev.twinbox.relay.pause.PausedTopics;
import dev.twinbox.relay.resend.ResendLoop;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The time in which one process holds the lease with unbroken connections. It begins at the saved position. One thread
 * reads, one sends, and the main thread saves positions and renews the lease. After any failure the whole session is
 * dropped, and another one begins at the saved position. A window must not outlive its database connection, nor a
 * producer the failure of a record.
 */
final class RelaySession implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RelaySession.class);

    private final RelayConfig config;
    private final Progress progress;
    private final Topics topics;
    private final KnownOutcomes known;
    private final Waiter main;
    private final Lease lease;
    private final LeasedTables tables;
    private final SessionConnections connections;
    private final SessionThreads threads;
    private final PauseGate gate;
    private final PausedTopics pausedTopics;
    private final Failures failures;
    private final InFlight inFlight;
    private final BlockedKeys blockedKeys;
    private final AcceptanceCheck admission;
    private final Publication publication;
    private final RetryPublication retryPublication;
    private final Housekeeper housekeeper;
    private final ResendLoop resend;
    private @Nullable RetryLoop retries;
    private PositionTable.Saved saved = PositionTable.Saved.NOTHING;
    private long savedAt = System.nanoTime();
    private boolean saveFailed;

    /**
     * Starts nothing, see {@link #begin()}.
     *
     * @param saving the connection that took the lease; ends with the session
     */
    RelaySession(RelayResources resources, Connection saving, Lease lease) throws SQLException {
        this.config = resources.config();
        this.progress = resources.progress();
        this.topics = resources.topics();
        this.known = resources.known();
        this.main = resources.main();
        this.lease = lease;
        this.tables = new LeasedTables(saving, config, lease);
        this.connections = new SessionConnections(resources.database());
        this.gate = new PauseGate(progress::recordPaused);
        this.pausedTopics = new PausedTopics(config.parking(), gate);
        this.failures = new Failures(main);
        this.threads = new SessionThreads(failures, progress.loopEnds());
        this.inFlight = new InFlight(config.page());
        this.blockedKeys = new BlockedKeys(connections, config);
        this.admission = new AcceptanceCheck(config, topics, known, pausedTopics);
        this.housekeeper = new Housekeeper(
                config, resources.database(), progress.observed(), gate, pausedTopics, blockedKeys, failures);
        this.resend = resources.resend(lease, gate, pausedTopics);
        LeaseTable leases = new LeaseTable(saving, config.tables(), config.name());
        gate.set(leases.pausedSince());
        pausedTopics.begin(saving, config.tables(), config.name());
        Function<String, Producer<byte[], byte[]>> producers = resources.producers();
        if (config.delivery().mode() == DeliveryMode.AT_LEAST_ONCE) {
            this.publication =
                    new AtLeastOnce(config, tables, producers, inFlight, pausedTopics, failures, progress, threads);
            this.retryPublication = new AtLeastOnceRetry(producers);
        } else {
            PositionTopic topic = new PositionTopic(config, leases.exactlyOnce());
            TransactionalPages pages = new TransactionalPages(inFlight, pausedTopics, lease, main, topic);
            this.publication = new ExactlyOnce(config.name(), tables, topic, producers, pages, blockedKeys, progress);
            this.retryPublication = new ExactlyOnceRetry(producers, topic);
        }
    }

    /**
     * Loads the saved position, and starts reading and sending. If it fails, all but the lease's connection is closed.
     */
    void begin() throws SQLException, LeaseLostException {
        try {
            if (!tables.parked().hasRows()) {
                blockedKeys.recordEmpty(blockedKeys.saves());
            }
            saved = publication.begin();
            housekeeper.startWith(tables.positions().slot());
            OutboxTable outbox = new OutboxTable(
                    connections.open(), config.tables().events(), config.page(), ProducerSettings.largest(config));
            LOG.info(
                    "Relaying {} as \"{}\", {}, {}",
                    config.tables().events(),
                    config.name(),
                    config.delivery().mode().text(),
                    saved.position());
            startThreads(new Window(outbox, outbox.withoutFormerFloors(saved.position())));
        } catch (SQLException | LeaseLostException | RuntimeException | Error e) {
            threads.interrupt();
            connections.abort();
            publication.close();
            throw e;
        }
    }

    private void startThreads(Window window) {
        PageReader reader = new PageReader(window, inFlight, gate, failures, progress, new Waiter(config.idle()));
        Sender sender = sender();
        RetryLoop retryLoop = retryLoop();
        retries = retryLoop;
        pausedTopics.listen(retryLoop::wake);
        threads.start("relay-reader", reader::run);
        threads.start("relay-sender", sender::run);
        threads.start("relay-retry", retryLoop::run);
        threads.startIndependent("relay-housekeeping", housekeeper::run);
        threads.startIndependent("relay-resend", resend::run);
    }

    private Sender sender() {
        KafkaOutage outage = new KafkaOutage(config, topics.login(), failures, progress);
        Duration stallTimeout = config.parking().stallTimeout();
        ProducerCalls handOver = new ProducerCalls(publication, admission, known, topics, lease, outage, stallTimeout);
        return new Sender(publication, handOver, blockedKeys, pausedTopics, known, failures, progress, main);
    }

    private RetryLoop retryLoop() {
        KafkaAccessCheck contact = new KafkaAccessCheck(topics, failures, progress);
        Duration stallTimeout = config.parking().stallTimeout();
        StallWatch stalls = new StallWatch(inFlight, topics, admission, failures, progress, stallTimeout);
        RetryTransactions transactions =
                new RetryTransactions(connections, config, lease, blockedKeys, retryPublication);
        RetryDelivery delivery = new RetryDelivery(
                config, transactions, retryPublication, admission, lease, stalls, progress, pausedTopics);
        return new RetryLoop(config, contact, stalls, gate, blockedKeys, transactions, delivery, failures);
    }

    /**
     * Renews the lease, and moves the saved position past all acknowledged pages, each when it is due.
     *
     * @return by how many records the position has moved
     * @throws SessionFailedException if one of the session's threads has failed
     */
    int runOnce() throws SQLException, LeaseLostException, SessionFailedException {
        if (failures.hasAny() || saveFailed) {
            throw new SessionFailedException();
        }
        lease.renewIfDue();
        publication.settle();
        int records = untilSave().isZero() ? saveAcknowledged() : 0;
        confirm();
        return records;
    }

    /** Zero if the position may be saved now. */
    private Duration untilSave() {
        Duration rest = publication.saveInterval().minusNanos(System.nanoTime() - savedAt);
        return rest.isNegative() ? Duration.ZERO : rest;
    }

    /**
     * Moves the position page by page, in the order in which the pages were read. After a failure it saves nothing any
     * more: a later position would skip the events that could not be parked.
     */
    private int saveAcknowledged() throws SQLException, LeaseLostException {
        if (saveFailed) {
            return 0;
        }
        List<Page> done = new ArrayList<>();
        int records = 0;
        for (Page page = inFlight.pollDone(); page != null; page = inFlight.pollDone()) {
            records += page.records().size();
            done.add(page);
        }
        if (!done.isEmpty()) {
            saveFailed = true; // Until it has succeeded.
            save(done);
            saveFailed = false;
        }
        return records;
    }

    private void save(List<Page> done) throws SQLException, LeaseLostException {
        publication.settle();
        Position position = done.get(done.size() - 1).after();
        List<ParkedTable.Entry> entries =
                done.stream().flatMap(page -> page.parked().stream()).toList();
        if (entries.isEmpty()) {
            save(position);
        } else {
            park(position, entries);
        }
        publication.recordSaved(saved, done);
        done.forEach(page -> known.forget(page.records()));
    }

    private void save(Position position) throws SQLException, LeaseLostException {
        PositionTable.Saved next = next(position);
        if (!publication.save(next)) {
            throw lost();
        }
        recordSaved(next);
    }

    private void confirm() throws SQLException, LeaseLostException {
        Position position = publication.unconfirmed();
        if (position != null) {
            PositionTable.Saved next = next(position);
            if (!publication.confirm(next)) {
                throw lost();
            }
            recordSaved(next);
        }
    }

    private PositionTable.Saved next(Position position) {
        tables.positions().writeTo(housekeeper.positionSlot());
        return new PositionTable.Saved(saved.number() + 1, position);
    }

    private LeaseLostException lost() {
        lease.end();
        return new LeaseLostException("epoch " + lease.epoch() + " had ended when a position was to be saved");
    }

    private void recordSaved(PositionTable.Saved next) {
        saved = next;
        savedAt = System.nanoTime();
        progress.recordSaved(next.position().toString());
    }

    /**
     * Saves and parks in one transaction. So an event is after the position, or parked, or sent, whatever fails in
     * between.
     */
    private void park(Position position, List<ParkedTable.Entry> entries) throws SQLException, LeaseLostException {
        synchronized (blockedKeys.rowsLock()) {
            tables.inTransaction(() -> {
                save(position);
                publication.park(entries);
            });
        }
        blockedKeys.recordSaved(entries);
        pausedTopics.recordSaved(entries);
        progress.recordParked(entries.size());
        if (retries != null) {
            retries.wake();
        }
    }

    /** How long {@link #runOnce()} need not be called, unless the main thread is woken. */
    Duration untilNextRun() {
        Duration renewal = lease.untilRenewal();
        Duration save = inFlight.hasDone() ? untilSave() : renewal;
        return save.compareTo(renewal) < 0 ? save : renewal;
    }

    /** Stops reading, and stops handing pages to the producer. */
    void seal() {
        threads.expectEnds();
        inFlight.seal();
    }

    /**
     * Whether all records that the producer had are acknowledged and the position is saved. Only after {@link #seal()}.
     */
    boolean isSettled() {
        return !saveFailed && publication.isSettled();
    }

    /** Saves what is acknowledged and releases the lease. Called after {@link #halt()}. */
    void release() throws SQLException, LeaseLostException {
        saveAcknowledged();
        lease.release();
    }

    /** Stops reading and sending, and drops what is not acknowledged. When it returns, all failures are known. */
    void halt() {
        threads.expectEnds();
        lease.end();
        inFlight.seal();
        housekeeper.close();
        resend.close();
        threads.interrupt();
        connections.abort();
        publication.close();
        threads.join();
    }

    /**
     * Calls {@link #halt()}, and ends the lease's connection. Other processes do not know then that the lease is free.
     */
    @Override
    public void close() {
        halt();
        tables.abort();
        progress.recordDropped();
        progress.recordLeaseGone();
    }

    @Nullable Throwable failure() {
        return failures.worst();
    }

    /** Passes on what the next session should know. Called after {@link #halt()}. */
    void passOn(KnownOutcomes next) {
        List<SendFailedException> refused = next.clock().ofRecords(failures.refused(), tables.connection());
        next.learn(refused);
        refused.forEach(each -> topics.forget(each.record().topic())); // The topic has changed since it was asked for.
        Throwable failure = failure();
        if (failure instanceof StalledException stall) {
            next.learn(stall);
        }
        if (failure instanceof SendFailedException sent
                && !Refusal.isForGood(sent.reason())
                && !Refusal.isTimestamp(sent.reason())
                && publication.mayBlame(sent.reason())) {
            next.recordFirstFailure(sent.record(), sent.reason());
        }
        if (failure instanceof SendFailedException
                || failure instanceof StalledException
                || failure instanceof TopicCreatedAnewException) {
            publication.passOn(next);
        }
    }
}
