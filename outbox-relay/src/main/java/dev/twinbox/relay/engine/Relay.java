package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.ClusterCheck;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.StartCheck;
import dev.twinbox.relay.kafka.KafkaLogin;
import dev.twinbox.relay.kafka.ProducerSettings;
import dev.twinbox.relay.kafka.Topics;
import dev.twinbox.relay.kafka.Tracing;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Moves committed rows of the outbox to Kafka until it is stopped. One object is one run in one process.
 *
 * <p>Nothing starts before {@link #run()}. The thread that calls it is the relay's main thread. It owns the lease and
 * the saved position. All that it holds is in one {@link RelaySession}, which is dropped as a whole when anything
 * fails.
 */
public final class Relay implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(Relay.class);

    private final RelayConfig config;
    private final Progress progress;
    private final OutboxDatabase database;
    private final RelayResources resources;
    private final FailureReport failures;
    private final UUID owner = UUID.randomUUID();
    private final Waiter main;
    private final CountDownLatch ended = new CountDownLatch(1);
    private volatile boolean stopping;
    private volatile @Nullable Thread running;
    private @Nullable LeaseCandidate candidate;
    private @Nullable RelaySession session;
    /** Whether this process has found the outbox as it needs it. From then on it waits for faults to pass. */
    private boolean everChecked;

    /**
     * Starts nothing, see {@link #run()}.
     *
     * @param progress written by the relay's threads
     * @param tracing opens the producers
     */
    public Relay(RelayConfig config, Progress progress, Tracing tracing) {
        this(
                config,
                progress,
                new OutboxDatabase(config),
                purpose -> tracing.producer(ProducerSettings.of(config, purpose)));
    }

    public Relay(
            RelayConfig config,
            Progress progress,
            OutboxDatabase database,
            Function<String, Producer<byte[], byte[]>> producers) {
        this.config = config;
        this.progress = progress;
        this.database = database;
        this.main = new Waiter(config.idle());
        this.failures = new FailureReport(config, progress);
        this.resources = new RelayResources(
                config,
                database,
                producers,
                new Topics(config.kafka()),
                new KnownOutcomes(KafkaLogin.of(config.kafka())),
                progress,
                main);
    }

    /**
     * Sends until {@link #stop()}, and waits for databases and brokers that are unavailable.
     *
     * @return {@link ExitCode#OK}, or {@link ExitCode#UNFINISHED} if records were still in flight when the shutdown
     *     timeout ended
     * @throws RelayException if only an operator can help
     */
    public ExitCode run() {
        running = Thread.currentThread();
        String end = "an unexpected error";
        try {
            while (!stopping) {
                runOnceOrRecover();
            }
            ExitCode exitCode = finish();
            end = "stopped";
            return exitCode;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            end = "interrupted";
            return ExitCode.UNFINISHED;
        } catch (RelayException e) {
            end = String.valueOf(e.getMessage());
            throw e;
        } finally {
            releaseAndDrop();
            resources.topics().close();
            progress.recordEnd(end);
            ended.countDown();
        }
    }

    private void runOnceOrRecover() throws InterruptedException {
        try {
            if (runOnce() == 0) {
                main.await(untilNextRun());
            }
        } catch (RelayException | InterruptedException e) {
            throw e;
            // An Error, too: dropped rows are read again, while a dead loop would stop the relay.
        } catch (Exception | Error e) {
            recover(e);
        }
    }

    /**
     * One step of the main thread. It tries to take the lease, or saves what was acknowledged since the last step.
     *
     * @return by how many records the saved position has moved
     */
    int runOnce() throws SQLException, LeaseLostException, SessionFailedException {
        if (session == null) {
            session = takeOver();
        }
        return session == null ? 0 : session.runOnce();
    }

    private @Nullable RelaySession takeOver() throws SQLException, LeaseLostException {
        LeaseCandidate present = candidate;
        if (present == null) {
            present = stand();
            candidate = present;
        }
        Lease lease = present.tryTake();
        if (lease == null) {
            return null;
        }
        RelaySession next = begin(present, lease);
        candidate = null; // The session owns the candidate's connection now.
        return next;
    }

    private RelaySession begin(LeaseCandidate present, Lease lease) throws SQLException, LeaseLostException {
        try {
            RelaySession next = new RelaySession(resources, present.connection(), lease);
            next.begin();
            return next;
        } catch (RelayException e) {
            lease.release(); // The relay is stopping, so a successor need not wait.
            throw e;
        }
    }

    private LeaseCandidate stand() throws SQLException {
        Connection connection = database.connect();
        try {
            LeaseCandidate next = new LeaseCandidate(connection, config, owner, progress);
            if (next.server().role() == OutboxDatabase.Role.STANDBY) {
                throw hotStandby();
            }
            if (!everChecked) {
                check(connection, next.server());
            }
            return next;
        } catch (SQLException | RuntimeException | Error e) {
            OutboxDatabase.abort(connection);
            throw e;
        }
    }

    /** Only at the start: later each of these passes, or shows itself again. */
    private void check(Connection connection, OutboxDatabase.Server server) throws SQLException {
        StartCheck.verify(connection, config);
        StartCheck.refuseTransactionPooling(connection, database, config);
        ClusterCheck.verify(connection, config, server);
        everChecked = true;
    }

    /** A mistake at the start. Later it is a fail-over in progress, which ends with a primary. */
    private SQLException hotStandby() {
        String message =
                config.database().url() + " is a hot standby (pg_is_in_recovery): a relay needs the primary, since it "
                        + "writes positions. Set targetServerType=primary in the URL, or the primary's address.";
        if (everChecked) {
            return new SQLTransientConnectionException(message);
        }
        throw new RelayException(ExitCode.DATABASE, message);
    }

    private Duration untilNextRun() {
        if (session != null) {
            return session.untilNextRun();
        }
        return candidate == null ? Duration.ZERO : candidate.untilNextTry();
    }

    /** Drops the session, reports why, and waits before the next try. Gives up if only an operator can help. */
    private void recover(Throwable failure) throws InterruptedException {
        Throwable cause = trueCause(failure);
        giveUpIfHopeless(cause);
        if (!(cause instanceof SendFailedException
                || cause instanceof StalledException
                || cause instanceof TopicCreatedAnewException)) {
            resources.known().forgetAll();
        }
        drop();
        failures.report(cause);
        if (!FailureReport.isSettledByNextSession(cause)) {
            main.await(config.retry());
        }
    }

    /** The true cause is known after all threads of the session have ended. */
    private Throwable trueCause(Throwable failure) {
        if (session == null) {
            return failure;
        }
        session.halt();
        session.passOn(resources.known());
        Throwable within = session.failure();
        return failure instanceof SessionFailedException && within != null ? within : failure;
    }

    private void drop() {
        if (session != null) {
            session.close();
            session = null;
        }
        if (candidate != null) {
            OutboxDatabase.abort(candidate.connection());
            candidate = null;
        }
    }

    private void giveUpIfHopeless(Throwable cause) {
        if (cause instanceof RelayException hopeless) { // thrown in another thread
            throw hopeless;
        }
        if (!everChecked && cause instanceof SQLException sql) {
            failures.throwIfRefused(sql);
        }
    }

    /** Waits until records that the producer has are acknowledged, up to the shutdown timeout. */
    private ExitCode finish() throws InterruptedException {
        RelaySession last = session;
        if (last == null) {
            return ExitCode.OK;
        }
        last.seal();
        long deadline = System.nanoTime() + config.shutdownTimeout().toNanos();
        try {
            while (!last.isSettled() && System.nanoTime() - deadline < 0) {
                if (last.runOnce() == 0) {
                    main.await(earlier(last.untilNextRun(), Duration.ofNanos(deadline - System.nanoTime())));
                }
            }
        } catch (SQLException | LeaseLostException | SessionFailedException e) {
            LOG.warn(
                    "Could not settle what is in flight, the next relay sends it again: {}",
                    trueCause(e).getMessage());
        }
        return last.isSettled() ? ExitCode.OK : ExitCode.UNFINISHED;
    }

    private static Duration earlier(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    private void releaseAndDrop() {
        if (session != null) {
            session.halt();
            release(session);
        }
        drop();
    }

    private void release(RelaySession last) {
        try {
            last.release();
        } catch (SQLException e) {
            LOG.warn("Could not release the lease, it ends within {}: {}", config.lease(), e.getMessage());
        } catch (LeaseLostException e) {
            LOG.info("Another process has the lease already: {}", e.getMessage());
        }
    }

    /**
     * Makes {@link #run()} settle what is in flight and return. May be called from any thread and repeatedly; returns
     * at once.
     */
    public void stop() {
        stopping = true;
        main.wake();
    }

    /** Calls {@link #stop()}, and waits until {@link #run()} has returned and all threads have ended. */
    @Override
    public void close() {
        stop();
        Thread runner = running;
        if (runner == null || runner == Thread.currentThread()) {
            return; // run() was never called, or this is its own thread.
        }
        try {
            ended.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
