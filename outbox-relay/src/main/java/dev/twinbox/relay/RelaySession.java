package dev.twinbox.relay;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * One span of owning the lease with unbroken connections: from the saved position on, with a thread that reads, a thread that
 * sends, and the main thread that saves positions and renews the lease. Whatever fails, the whole session is dropped and
 * another one begins at the saved position: a window must not outlive its database connection, nor a producer the failure of
 * a record.
 */
final class RelaySession implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(RelaySession.class);
    private static final Duration THREAD_END = Duration.ofSeconds(10);

    private final Connection saving;
    private final PositionTable positions;
    private final ParkedTable parked;
    private final Lease lease;
    private final Progress progress;
    private final SessionContext context;
    private final Publication publication;
    private final Housekeeper housekeeper;
    private final Redrive redrive;
    private final List<Thread> threads;
    private PositionTable.Saved saved;
    private long savedAt = System.nanoTime();

    /**
     * Starts reading and sending.
     *
     * @param saving the connection on which the lease was taken; ends with the session
     */
    RelaySession(Relay.Surroundings surroundings, Connection saving, Lease lease)
            throws SQLException, LeaseLostException {
        RelayConfig config = surroundings.config();
        this.saving = saving;
        this.lease = lease;
        this.progress = surroundings.progress();
        this.positions = new PositionTable(saving, config.tables(), config.name());
        this.parked = new ParkedTable(saving, config.tables(), config.name());
        LeaseTable leases = new LeaseTable(saving, config.tables(), config.name());
        Gate gate = new Gate(progress);
        gate.set(leases.pausedSince());
        this.context = new SessionContext(surroundings, lease, new Parking(parked.any()), gate);
        this.publication = publication(leases);
        try {
            this.saved = publication.begin();
            this.housekeeper =
                    new Housekeeper(config, surroundings.database(), progress.observed(), gate, positions.slot());
            OutboxTable outbox = new OutboxTable(context.open(), config.tables().events(), config.page());
            Window window = new Window(outbox, saved.position());
            this.redrive = new Redrive(context, publication.redelivery());
            this.threads = List.of(
                    thread("relay-reader", new PageReader(window, context, new Waiter(config.idle()))),
                    thread("relay-sender", new Sender(context, publication)),
                    thread("relay-redrive", redrive),
                    thread("relay-housekeeping", housekeeper));
        } catch (SQLException | LeaseLostException | RuntimeException | Error e) {
            context.abortConnections();
            publication.close();
            throw e;
        }
        LOG.info(
                "Relaying {} as \"{}\", {}, {}",
                config.tables().events(),
                config.name(),
                config.delivery().mode().text(),
                saved.position());
        threads.forEach(Thread::start);
    }

    private Publication publication(LeaseTable leases) throws SQLException {
        if (context.config().delivery().mode() == DeliveryMode.AT_LEAST_ONCE) {
            return new AtLeastOnce(context, positions, parked);
        }
        LeaseTable.Seen seen = Objects.requireNonNull(leases.look(), "the lease is ours");
        return new ExactlyOnce(
                context,
                saving,
                positions,
                parked,
                Objects.requireNonNull(seen.exactlyOnce(), "the candidate has checked the mode"));
    }

    /** Not started. */
    static Thread thread(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true); // a hanging client must not keep a process alive that wants to end
        return thread;
    }

    /**
     * Renews the lease, and moves the saved position behind all that is acknowledged, each if it is time.
     *
     * @return how many records the position has moved
     * @throws SessionFailedException if one of the session's threads has failed
     */
    int step() throws SQLException, LeaseLostException, SessionFailedException {
        if (context.failures().any()) {
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

    /** The position moves page by page, in the order in which they were read. */
    private int saveAcknowledged() throws SQLException, LeaseLostException {
        List<Page> done = new ArrayList<>();
        int records = 0;
        for (Page page = context.inFlight().pollDone();
                page != null;
                page = context.inFlight().pollDone()) {
            records += page.records().size();
            done.add(page);
        }
        if (!done.isEmpty()) {
            save(done);
        }
        return records;
    }

    private void save(List<Page> done) throws SQLException, LeaseLostException {
        publication.settle();
        Position position = done.get(done.size() - 1).after();
        List<ParkedTable.Entry> asides =
                done.stream().flatMap(page -> page.asides().stream()).toList();
        if (asides.isEmpty()) {
            save(position);
        } else {
            park(position, asides);
        }
        publication.saved(saved, done);
        done.forEach(page -> context.verdicts().forget(page.records()));
    }

    private void save(Position position) throws SQLException, LeaseLostException {
        PositionTable.Saved next = next(position);
        saved(next, publication.save(next));
    }

    private void confirm() throws SQLException, LeaseLostException {
        Position position = publication.unconfirmed();
        if (position != null) {
            PositionTable.Saved next = next(position);
            saved(next, publication.confirm(next));
        }
    }

    private PositionTable.Saved next(Position position) {
        positions.writeTo(housekeeper.positionSlot());
        return new PositionTable.Saved(saved.number() + 1, position);
    }

    private void saved(PositionTable.Saved next, boolean isOurs) throws LeaseLostException {
        if (!isOurs) {
            lease.end();
            throw new LeaseLostException("saving a position found epoch " + lease.epoch() + " over");
        }
        saved = next;
        savedAt = System.nanoTime();
        progress.saved(next.position().toString());
    }

    /** In one transaction: an event is before the position, or parked, or sent, whatever happens in between. */
    private void park(Position position, List<ParkedTable.Entry> asides) throws SQLException, LeaseLostException {
        synchronized (context.parkedRows()) {
            saving.setAutoCommit(false); // after a failure the connection ends with the session, and this with it
            save(position);
            publication.park(asides);
            saving.commit();
            saving.setAutoCommit(true);
        }
        context.parking().saved(asides);
        progress.parked(asides.size());
        redrive.wake();
    }

    /** How long {@link #step()} need not be called unless the main thread is woken. */
    Duration untilNextStep() {
        Duration renewal = lease.untilRenewal();
        Duration save = context.inFlight().hasDone() ? untilSave() : renewal;
        return save.compareTo(renewal) < 0 ? save : renewal;
    }

    /** No further page is read or handed to the producer. */
    void seal() {
        context.inFlight().seal();
    }

    /** Whether what the producer was given is acknowledged and the position saved; only after {@link #seal()}. */
    boolean isSettled() {
        return publication.isSettled();
    }

    /** Saves what is acknowledged and gives the lease back, after {@link #halt()}. */
    void release() throws SQLException, LeaseLostException {
        saveAcknowledged();
        lease.release();
    }

    /** Ends reading and sending, and drops what is not acknowledged. When it returns, what failed is known. */
    void halt() {
        lease.end();
        context.inFlight().seal();
        housekeeper.close();
        threads.forEach(Thread::interrupt);
        context.abortConnections();
        publication.close();
        threads.forEach(RelaySession::join);
    }

    /** {@link #halt()}, and ends the lease's connection. Nobody but us knows then that the lease is free. */
    @Override
    public void close() {
        halt();
        abort(saving);
        progress.dropped();
        progress.leaseGone();
    }

    @Nullable Throwable failure() {
        return context.failures().worst();
    }

    /** What the next session should know; after {@link #halt()}. */
    void teach(Verdicts verdicts) {
        List<SendFailedException> refused = context.failures().refused();
        verdicts.learn(refused);
        refused.forEach(each -> context.topics().forget(each.record().topic())); // it is not as it was thought to be
        Throwable failure = failure();
        if (failure instanceof StalledException stall) {
            verdicts.learn(stall);
        }
        if (failure instanceof SendFailedException sent
                && !Refusal.isForGood(sent.reason())
                && publication.mayBlame(sent.reason())) {
            verdicts.failedFirst(sent.record(), sent.reason());
        }
        if (failure instanceof SendFailedException || failure instanceof StalledException) {
            publication.teach(verdicts);
        }
    }

    private static void join(Thread thread) {
        try {
            thread.join(THREAD_END.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            LOG.warn("Thread {} has not ended within {}", thread.getName(), THREAD_END);
        }
    }

    /** Closes the socket without a word to the server, which might not answer; also ends a statement of another thread. */
    static void abort(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            LOG.debug("Could not close a database connection", e);
        }
    }
}
