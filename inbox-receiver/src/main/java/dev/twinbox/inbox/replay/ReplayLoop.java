package dev.twinbox.inbox.replay;

import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayTable;
import dev.twinbox.inbox.jdbc.ReplayTable.Taken;
import dev.twinbox.inbox.jdbc.ReplayedTable;
import dev.twinbox.inbox.jdbc.RetriedWrites;
import dev.twinbox.inbox.kafka.TopicLookup;
import dev.twinbox.inbox.pause.Pauses;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;

/**
 * The thread that carries out jobs of this application: one job at a time, and each job in one instance. Faults of the
 * database and of Kafka are waited out. A job that fails does not make the receiver fail.
 */
public final class ReplayLoop implements Supervisor.Loop {

    private static final Logger LOG = System.getLogger(ReplayLoop.class.getName());

    private static final Duration POLL = Duration.ofSeconds(1);
    private static final long DELETE_NANOS = Duration.ofMinutes(1).toNanos();
    private static final int MOST_DELETED = 5_000;

    private final InboxConfig config;
    private final Subscription subscription;
    private final Map<String, String> topics;
    private final RetriedWrites writes;
    private final TopicLookup lookup;
    private final Supplier<Consumer<byte[], byte[]>> consumers;
    private final EventHandling handling;
    private final Pauses pauses;
    private final StopRequest stop;
    private final ReplayTable table;
    private final ReplayedTable replayed;

    /** Another start of the application is another owner. */
    private final UUID owner = UUID.randomUUID();

    private long deleteAt = System.nanoTime() + DELETE_NANOS;
    private String lastFailure = "";

    /**
     * Carries out nothing yet.
     *
     * @param subscription all handlers of the application
     * @param topics of those whose jobs it can do, by handler
     * @param consumers makes consumers that are in no group
     */
    public ReplayLoop(
            InboxConfig config,
            Subscription subscription,
            Map<String, String> topics,
            RetriedWrites writes,
            TopicLookup lookup,
            Supplier<Consumer<byte[], byte[]>> consumers,
            EventHandling handling,
            Pauses pauses,
            StopRequest stop) {
        this.config = config;
        this.subscription = subscription;
        this.topics = Map.copyOf(topics);
        this.writes = writes;
        this.lookup = lookup;
        this.consumers = consumers;
        this.handling = handling;
        this.pauses = pauses;
        this.stop = stop;
        this.table = ReplayTable.of(config.table());
        this.replayed = ReplayedTable.of(config.table());
    }

    @Override
    public void run() throws InterruptedException {
        while (!stop.await(POLL)) {
            try {
                runOnce();
                lastFailure = "";
            } catch (InterruptException e) {
                throw new InterruptedException("the receiver stops");
            } catch (SQLException | RuntimeException e) {
                failed(e);
            }
        }
    }

    /** Carries out a job, if there is one. Returns whether there was one. */
    boolean runOnce() throws SQLException, InterruptedException {
        pauses.begin();
        List<String> handlers = new ArrayList<>(topics.keySet());
        List<String> theirs = handlers.stream().map(topics::get).toList();
        Optional<Taken> taken = writes.run(connection -> table.exists(connection)
                ? table.take(connection, config.group(), theirs, handlers, owner, ReplayLease.LEASE)
                : Optional.empty());
        if (taken.isEmpty()) {
            deleteOld();
            return false;
        }
        carryOut(taken.get());
        return true;
    }

    private void carryOut(Taken taken) throws SQLException, InterruptedException {
        ReplayJob job = taken.job();
        LOG.log(
                Level.INFO,
                "Job {0} handles events of {1} again in handler {2}: {3} offsets are left{4}",
                job.number(),
                job.topic(),
                job.handler(),
                job.left(),
                taken.isLeft() ? "; its owner before has gone" : "");
        ReplayLease lease = new ReplayLease(table, writes, job, owner);
        try {
            carryOut(lease, taken.isLeft() ? EventHandling.Start.AFTER_CRASH : EventHandling.Start.CLEAN);
        } catch (JobLostException e) {
            LOG.log(Level.INFO, "Stopped: {0}", e.getMessage());
        }
    }

    /** The job fails if nobody could go on with it. */
    private void carryOut(ReplayLease lease, EventHandling.Start start)
            throws SQLException, InterruptedException, JobLostException {
        ReplayJob job = lease.job();
        try (ReplaySource source =
                new ReplaySource(job, consumers.get(), lookup, subscription.only(job.topic(), job.handler()))) {
            if (new ReplayRun(config, lease, source, handling.begin(job, owner), start, pauses, stop).run()) {
                lease.end(ReplayJob.State.FINISHED, null);
                LOG.log(Level.INFO, "Job {0} is done: {1}", job.number(), lease.counts());
            } else {
                lease.giveBack();
            }
        } catch (JobFailedException e) {
            fail(lease, String.valueOf(e.getMessage()));
        } catch (InterruptException | RetriableException e) {
            throw e;
        } catch (KafkaException e) {
            if (e.getCause() instanceof RetriableException) {
                throw e;
            }
            fail(lease, ErrorText.of(e));
        }
    }

    /** <b>Remedy.</b> Correct what the message names, then request the job again. */
    private void fail(ReplayLease lease, String error) throws SQLException, JobLostException {
        long job = lease.job().number();
        lease.end(ReplayJob.State.FAILED, error);
        LOG.log(
                Level.ERROR,
                "Job {0} of \"replay\" has failed: {1}. Request it again when that is corrected",
                job,
                error);
    }

    private void deleteOld() throws SQLException {
        if (System.nanoTime() - deleteAt < 0) {
            return;
        }
        boolean isMore =
                writes.run(connection -> table.exists(connection) && replayed.deleteOld(connection, MOST_DELETED));
        if (!isMore) {
            deleteAt = System.nanoTime() + DELETE_NANOS;
        }
    }

    /** The job stays with this instance: it takes it again. */
    private void failed(Exception failure) {
        String text = ErrorText.of(failure);
        if (!text.equals(lastFailure) && !stop.isAsked()) { // the same one comes again with each try
            LOG.log(Level.WARNING, "Jobs of \"replay\" cannot go on now; the receiver tries again: {0}", text);
        }
        lastFailure = text;
    }
}
