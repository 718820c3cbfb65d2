package dev.twinbox.relay;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Producer;
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
    private final Connection reading;
    private final PositionTable positions;
    private final Lease lease;
    private final Progress progress;
    private final InFlight inFlight;
    private final Failures failures;
    private final Producer<byte[], byte[]> producer;
    private final Housekeeper housekeeper;
    private final Thread reader;
    private final Thread sender;
    private final Thread housekeeping;
    private PositionTable.Saved saved;

    /**
     * Starts reading and sending.
     *
     * @param saving the connection on which the lease was taken; ends with the session
     * @param main woken when {@link #step()} has something to do
     */
    RelaySession(
            RelayConfig config,
            OutboxDatabase database,
            Supplier<Producer<byte[], byte[]>> producers,
            Connection saving,
            Lease lease,
            Progress progress,
            Waiter main)
            throws SQLException {
        this.saving = saving;
        this.lease = lease;
        this.progress = progress;
        this.positions = new PositionTable(saving, config.tables(), config.name());
        this.saved = positions.load();
        this.inFlight = new InFlight(config.page());
        this.failures = new Failures(main);
        Gate gate = new Gate(progress);
        gate.set(new LeaseTable(saving, config.tables(), config.name()).pausedSince());
        this.housekeeper = new Housekeeper(config, database, progress.observed(), gate, positions.slot());
        this.housekeeping = thread("relay-housekeeping", housekeeper);
        this.reading = database.connect();
        try {
            Window window =
                    new Window(new OutboxTable(reading, config.tables().events(), config.page()), saved.position());
            this.producer = producers.get();
            PageReader pageReader =
                    new PageReader(window, inFlight, failures, progress, new Waiter(config.idle()), gate);
            this.reader = thread("relay-reader", pageReader);
            this.sender = thread("relay-sender", new Sender(producer, inFlight, lease, failures, progress, main, gate));
        } catch (SQLException | RuntimeException | Error e) {
            reading.close();
            throw e;
        }
        LOG.info("Relaying {} as \"{}\", {}", config.tables().events(), config.name(), saved.position());
        reader.start();
        sender.start();
        housekeeping.start();
    }

    private static Thread thread(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true); // a hanging client must not keep a process alive that wants to end
        return thread;
    }

    /**
     * Renews the lease if it is time, and moves the saved position behind all that is acknowledged.
     *
     * @return how many records that was
     * @throws SessionFailedException if one of the session's threads has failed
     */
    int step() throws SQLException, LeaseLostException, SessionFailedException {
        if (failures.any()) {
            throw new SessionFailedException();
        }
        lease.renewIfDue();
        return saveAcknowledged();
    }

    /** The position moves page by page, in the order in which they were read. */
    private int saveAcknowledged() throws SQLException, LeaseLostException {
        Page last = null;
        int records = 0;
        for (Page page = inFlight.pollDone(); page != null; page = inFlight.pollDone()) {
            progress.acknowledged(page.records().size(), page.bytes());
            records += page.records().size();
            last = page;
        }
        if (last != null) {
            save(last.after());
        }
        return records;
    }

    private void save(Position position) throws SQLException, LeaseLostException {
        positions.writeTo(housekeeper.positionSlot());
        PositionTable.Saved next = new PositionTable.Saved(saved.number() + 1, position);
        if (!positions.save(next, lease.owner(), lease.epoch())) {
            lease.end();
            throw new LeaseLostException("saving a position found epoch " + lease.epoch() + " over");
        }
        saved = next;
        progress.saved(position.toString());
    }

    /** How long {@link #step()} need not be called unless the main thread is woken. */
    Duration untilNextStep() {
        return lease.untilRenewal();
    }

    /** No further page is read or handed to the producer. */
    void seal() {
        inFlight.seal();
    }

    /** Whether what the producer was given is acknowledged and the position saved; only after {@link #seal()}. */
    boolean isSettled() {
        return inFlight.isSettled();
    }

    /** Saves what is acknowledged and gives the lease back, after {@link #halt()}. */
    void release() throws SQLException, LeaseLostException {
        saveAcknowledged();
        lease.release();
    }

    /** Ends reading and sending, and drops what is not acknowledged. When it returns, what failed is known. */
    void halt() {
        lease.end();
        inFlight.seal();
        reader.interrupt();
        sender.interrupt();
        housekeeper.close();
        housekeeping.interrupt();
        abort(reading);
        producer.close(Duration.ZERO);
        join(reader);
        join(sender);
        join(housekeeping);
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
        return failures.worst();
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
