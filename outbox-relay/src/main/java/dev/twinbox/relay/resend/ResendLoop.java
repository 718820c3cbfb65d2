package dev.twinbox.relay.resend;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.Transactions;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.SentEvents;
import dev.twinbox.relay.kafka.ProducerSettings;
import dev.twinbox.relay.kafka.Topics;
import dev.twinbox.relay.pause.PauseGate;
import dev.twinbox.relay.pause.PausedTopics;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Function;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread that carries out the job, if there is one: it reads a page of events that were sent, sends it, waits for the
 * answers, and goes on. It has a connection and a producer of its own, so other events go on meanwhile. Faults of the
 * database and of Kafka are waited out. What was sent after the last save is sent again after a crash.
 */
public final class ResendLoop implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(ResendLoop.class);

    private static final Duration POLL = Duration.ofMillis(500);
    private static final Duration SOON = Duration.ofMillis(100);
    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final Duration LIMIT = Duration.ofSeconds(5);

    /** An updated row gets slower with each update while something holds back vacuum. */
    private static final long SAVE_NANOS = Duration.ofSeconds(1).toNanos();

    /** Rows that one statement looks at. */
    private static final int LOOK = 5_000;

    private final RelayConfig config;
    private final OutboxDatabase database;
    private final HeldLease lease;
    private final PauseGate gate;
    private final PausedTopics pausedTopics;
    private final ResendFigures figures;
    private final ResendSender sender;
    private volatile @Nullable Connection connection;
    private volatile boolean closed;
    private @Nullable ResendWork work;
    private @Nullable String lastError;

    /** @param producers open a producer for a purpose */
    public ResendLoop(
            RelayConfig config,
            OutboxDatabase database,
            Function<String, Producer<byte[], byte[]>> producers,
            Topics topics,
            HeldLease lease,
            PauseGate gate,
            PausedTopics pausedTopics,
            ResendFigures figures) {
        this.config = config;
        this.database = database;
        this.lease = lease;
        this.gate = gate;
        this.pausedTopics = pausedTopics;
        this.figures = figures;
        this.sender = new ResendSender(
                () -> producers.apply(ProducerSettings.RESEND),
                topics,
                lease,
                config.parking().stallTimeout());
    }

    @Override
    public void run() {
        try {
            while (!closed) {
                runOnOneConnection();
                pause(RETRY);
            }
        } catch (InterruptedException | InterruptException e) {
            Thread.currentThread().interrupt();
        } finally {
            figures.show(null);
            sender.close();
        }
    }

    /** Runs until the database fails or the session ends. */
    private void runOnOneConnection() throws InterruptedException {
        try (Connection own = database.connect()) {
            connection = own;
            ResendTables tables = new ResendTables(own, config);
            while (!closed) {
                pause(runOnce(tables));
            }
        } catch (InterruptException e) {
            throw e;
        } catch (SQLException e) {
            if (!closed) {
                LOG.warn("Sending events again failed, trying again: {}", OutboxDatabase.explain(e));
            }
        } catch (RuntimeException | Error e) {
            if (!e.toString().equals(lastError)) { // The same one comes again with each try.
                LOG.error("Unexpected error while sending events again, trying again; report it", e);
            }
            lastError = e.toString();
            sender.close();
        }
    }

    private static void pause(Duration time) throws InterruptedException {
        if (!time.isZero()) {
            LockSupport.parkNanos(time.toNanos());
        }
        if (Thread.interrupted()) {
            throw new InterruptedException("the session has ended");
        }
    }

    /** Does one step; returns the time until the next one. */
    private Duration runOnce(ResendTables tables) throws SQLException, InterruptedException {
        ResendJob job = tables.jobs().active();
        figures.show(job);
        if (job == null || (work != null && work.job() != job.number())) {
            work = null;
            sender.endJob();
            return job == null ? POLL : Duration.ZERO;
        }
        if (!gate.awaitOpen(POLL)) {
            return Duration.ZERO;
        }
        try {
            if (config.delivery().mode() == DeliveryMode.EXACTLY_ONCE) {
                throw new JobFailedException("the relay publishes exactly once: a second copy would break that");
            }
            return job.state() == ResendJob.State.REQUESTED ? begin(tables, job) : goOn(tables, job);
        } catch (JobFailedException e) {
            end(tables, job, ResendJob.State.FAILED, e.getMessage());
            return Duration.ZERO;
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            LOG.warn("Job {} cannot send events again now, trying again: {}", job.number(), e.getMessage());
            sender.close();
            return RETRY;
        }
    }

    private Duration begin(ResendTables tables, ResendJob job) throws SQLException, JobFailedException {
        ResendWork begun = work == null ? new ResendWork(job.number(), 0) : work;
        work = begun;
        Position position = tables.positions().load().position();
        if (!job.held().isEmpty() && !isSettled(tables, job.held(), begun, position)) {
            String full = pausedTopics.limitReached();
            if (full != null && begun.isOlderThan(LIMIT)) { // Neither the position nor the job could move.
                throw new JobFailedException("it waits for the events before it, and they cannot be sent: " + full);
            }
            return SOON;
        }
        SentEvents.First first = tables.events().first();
        String obstacle = ResendRules.obstacle(job, first);
        if (obstacle != null || first == null) {
            throw new JobFailedException(String.valueOf(obstacle));
        }
        Long from = job.range().from();
        long after = Math.max(first.seq(), from == null ? first.seq() : from) - 1;
        work = new ResendWork(job.number(), after);
        if (underLease(tables, () -> tables.jobs().begin(job.number(), position, after, lease.epoch()))) {
            LOG.info("Sending events again, job {}, up to {}", job.number(), position);
        }
        return Duration.ZERO;
    }

    /**
     * Whether nothing of these topics is on its way to Kafka, and whether all that was sent to them is before the position.
     * From the moment at which they are set aside, nothing more is sent to them.
     */
    private boolean isSettled(ResendTables tables, Set<String> held, ResendWork begun, Position position)
            throws SQLException {
        if (!pausedTopics.topics().keySet().containsAll(held)) {
            return false;
        }
        String mark = begun.mark();
        if (mark == null) {
            begun.setMark(tables.jobs().mark());
            return false; // The position was loaded before.
        }
        if (tables.jobs().isRetrying(held)) {
            return false;
        }
        SqlIdentifier events = config.tables().events();
        return tables.jobs().isPast(mark, position)
                || Backlog.behind(position, tables.connection(), events).events() == 0;
    }

    private Duration goOn(ResendTables tables, ResendJob job)
            throws SQLException, JobFailedException, InterruptedException {
        ResendWork mine = work;
        if (job.epoch() != lease.epoch() || mine == null) {
            return takeUp(tables, job);
        }
        if (!pausedTopics.topics().keySet().containsAll(job.held())) {
            return SOON;
        }
        Position position = job.position();
        if (position == null) {
            throw new IllegalStateException("job " + job.number() + " runs without a position");
        }
        SentEvents.Page page = tables.events()
                .page(
                        job.range(),
                        position,
                        mine.after(),
                        LOOK,
                        config.page().rows(),
                        config.page().bytes());
        Set<String> paused = tables.paused().topics().keySet();
        if (page.records().stream().map(OutboxRecord::topic).anyMatch(paused::contains)) {
            return POLL; // An operator has paused the topic: the job waits.
        }
        Exception failure = sender.send(page.records(), job);
        if (failure != null) {
            LOG.warn("Job {} sends a page of events again: {}", job.number(), String.valueOf(failure));
            return RETRY;
        }
        return settle(tables, job, mine, page);
    }

    /** Each event of a page is acknowledged or refused. */
    private Duration settle(ResendTables tables, ResendJob job, ResendWork mine, SentEvents.Page page)
            throws SQLException, JobFailedException {
        Map<Long, String> refused = sender.takeRefused();
        refused.values().forEach(why -> LOG.warn("Not sent again: {}", why));
        int sent = page.records().size() - refused.size();
        figures.recordSent(sent);
        mine.recordDone(page, sent, refused);
        String gap = page.isLast() ? ResendRules.gap(job, mine.unsaved(), mine.refusal()) : null;
        if (gap != null) {
            throw new JobFailedException(gap);
        }
        boolean isDue = page.isLast() || !mine.isSavedSince(System.nanoTime() - SAVE_NANOS);
        if (isDue && !save(tables, mine)) {
            return SOON;
        }
        if (page.isLast()) {
            end(tables, job, ResendJob.State.FINISHED, null);
        }
        return Duration.ZERO;
    }

    /**
     * Goes on where the job was saved. If another process that knows no jobs may have had the lease in between, its topics
     * were not set aside. Then the job begins anew.
     */
    private Duration takeUp(ResendTables tables, ResendJob job) throws SQLException, JobFailedException {
        boolean isUnbroken = job.epoch() == lease.epoch() || job.epoch() == lease.epoch() - 1;
        if (!isUnbroken && !job.held().isEmpty()) {
            LOG.warn("Job {} begins anew: the lease was elsewhere in between", job.number());
            work = null;
            underLease(tables, () -> {
                tables.jobs().restart(job.number());
                return true;
            });
            return Duration.ZERO;
        }
        String lost = ResendRules.lost(job, tables.events().first());
        if (lost != null) {
            throw new JobFailedException(lost);
        }
        work = new ResendWork(job.number(), job.after());
        underLease(tables, () -> {
            tables.jobs().adopt(job.number(), lease.epoch());
            return true;
        });
        LOG.info("Going on with job {} after number {}", job.number(), job.after());
        return Duration.ZERO;
    }

    /** Returns false if the job is canceled, or the lease is lost. */
    private boolean save(ResendTables tables, ResendWork mine) throws SQLException {
        boolean saved =
                underLease(tables, () -> tables.jobs().save(mine.job(), mine.after(), mine.unsaved(), mine.refusal()));
        if (saved) {
            mine.recordSaved();
        }
        return saved;
    }

    private void end(ResendTables tables, ResendJob job, ResendJob.State state, @Nullable String error)
            throws SQLException {
        ResendWork mine = work;
        if (mine != null && job.state() == ResendJob.State.RUNNING) {
            save(tables, mine);
        }
        boolean ended = underLease(tables, () -> {
            tables.jobs().end(job.number(), state, error);
            return true;
        });
        if (ended && state == ResendJob.State.FAILED) {
            LOG.error("Job {} of \"resend\" has failed: {}. Remedy: start it again", job.number(), error);
        } else if (ended) {
            LOG.info("Job {} of \"resend\" is done", job.number());
        }
        work = null;
        sender.endJob();
    }

    private interface Change {
        boolean run() throws SQLException;
    }

    /** Returns false if nothing was changed, or if another process has the lease. The main thread ends the session then. */
    private boolean underLease(ResendTables tables, Change change) throws SQLException {
        return Transactions.inTransaction(
                tables.connection(), () -> tables.parked().holdLease(lease.owner(), lease.epoch()) && change.run());
    }

    /** Ends {@link #run()}, from any thread. The caller must also interrupt the thread. */
    public void close() {
        closed = true;
        Connection present = connection;
        if (present != null) {
            OutboxDatabase.abort(present);
        }
    }
}
