package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.config.InboxSettings;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.kafka.OffsetPolicy;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.common.TopicPartition;

/**
 * Hands batches to the workers and takes their outcomes back.
 *
 * <p>The poll thread calls all methods. Only {@link #work} runs on a worker.
 */
final class BatchDispatch {

    private static final Logger LOG = System.getLogger(BatchDispatch.class.getName());

    private static final Duration COMMIT_RETRY = Duration.ofMillis(500);

    /** How long a held lane waits before its first event is tried again. */
    private static final Duration HOLD = Duration.ofSeconds(1);

    /** How long an event waits that another instance is handling. */
    private static final Duration OTHER_INSTANCE = Duration.ofMillis(200);

    /** What a worker brings back. */
    private record Result(AssignedPartition partition, Lane lane, Outcome outcome) {}

    private final Map<TopicPartition, AssignedPartition> assigned;
    private final OffsetCommits commits;
    private final Processor processor;
    private final OffsetPolicy policy;
    private final InboxConfig config;
    private final ReceiverStatus status;
    private final Executor workers;
    private final Runnable whenDone;

    /** Written by workers, read by the poll thread. */
    private final BlockingQueue<Result> results = new LinkedBlockingQueue<>();

    /**
     * @param assigned the current partitions of this member; changes as partitions come and go
     * @param whenDone called on a worker as soon as an outcome is there
     */
    BatchDispatch(
            Map<TopicPartition, AssignedPartition> assigned,
            OffsetCommits commits,
            Processor processor,
            OffsetPolicy policy,
            InboxConfig config,
            ReceiverStatus status,
            Executor workers,
            Runnable whenDone) {
        this.assigned = assigned;
        this.commits = commits;
        this.processor = processor;
        this.policy = policy;
        this.config = config;
        this.status = status;
        this.workers = workers;
        this.whenDone = whenDone;
    }

    /** Gives each lane that is ready its next batch. */
    void handOut() {
        long now = System.nanoTime();
        for (AssignedPartition partition : assigned.values()) {
            for (Lane lane : partition.lanes()) {
                if (lane.isReady(now) && !partition.isSuspended()) {
                    handOut(partition, lane);
                }
            }
        }
    }

    private void handOut(AssignedPartition partition, Lane lane) {
        int most = policy == OffsetPolicy.BEFORE_HANDLING ? 1 : config.batch().size();
        Batch batch = partition.begin(lane, most, config.batch().maxTime());
        if (policy == OffsetPolicy.BEFORE_HANDLING && !commitBefore(partition, batch)) {
            partition.end(lane, 0);
            lane.waitFor(COMMIT_RETRY, System.nanoTime());
            return;
        }
        workers.execute(() -> work(partition, lane, batch));
    }

    private boolean commitBefore(AssignedPartition partition, Batch batch) {
        ReceivedEvent last = batch.events().get(batch.events().size() - 1);
        if (last.handlers().isEmpty() && last.isReadable()) {
            return true; // no handler takes it: its offset is committed with a later one
        }
        return commits.commitNow(Map.of(partition.partition(), partition.commit(last.offset() + 1)));
    }

    /** Runs on a worker. If the worker hangs, the thread that finds it brings the outcome. */
    private void work(AssignedPartition partition, Lane lane, Batch batch) {
        batch.onAbandonment(
                (cause, isRolledBack) -> bring(partition, lane, outcome(() -> processor.settleHung(batch, cause))));
        bring(partition, lane, outcome(() -> processor.process(batch)));
    }

    /** The lane needs an outcome, or it would wait for ever. */
    private static Outcome outcome(Supplier<Outcome> processing) {
        try {
            return processing.get();
        } catch (RuntimeException | Error e) { // a defect, not a failure of a handler
            return Outcome.waitForDatabase(0, e);
        }
    }

    private void bring(AssignedPartition partition, Lane lane, Outcome outcome) {
        if (outcome.next() != Outcome.Next.TAKEN_OVER) {
            results.add(new Result(partition, lane, outcome));
            whenDone.run();
        }
    }

    boolean hasOutcomes() {
        return !results.isEmpty();
    }

    /** Applies all outcomes that are there. */
    void applyOutcomes() {
        for (Result result = results.poll(); result != null; result = results.poll()) {
            apply(result);
        }
    }

    /** Waits for one outcome and applies it. Returns whether one came in time. */
    boolean awaitOutcome(long nanos) throws InterruptedException {
        Result result = results.poll(nanos, TimeUnit.NANOSECONDS);
        if (result != null) {
            apply(result);
        }
        return result != null;
    }

    /** Ends the batches of these partitions early. Waits for their workers, at most for the configured time. */
    void settle(Collection<AssignedPartition> leaving) {
        cutShort(leaving);
        long deadline = System.nanoTime() + config.shutdownTimeout().toNanos();
        try {
            while (leaving.stream().anyMatch(AssignedPartition::isRunning)) {
                if (!awaitOutcome(deadline - System.nanoTime())) {
                    warnOfUnfinished(leaving);
                    return;
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Asks the workers to end the batches of these partitions early. */
    void cutShort(Collection<AssignedPartition> leaving) {
        leaving.forEach(partition -> partition.lanes().forEach(Lane::cutShort));
    }

    private void warnOfUnfinished(Collection<AssignedPartition> leaving) {
        List<Lane> running = leaving.stream()
                .flatMap(partition -> partition.lanes().stream())
                .filter(Lane::isRunning)
                .toList();
        running.forEach(lane -> LOG.log(
                Level.WARNING,
                "{0} is left unfinished: its handler took longer than {1} {2}. It is redelivered "
                        + "unless it still commits",
                lane.first(),
                InboxSettings.SHUTDOWN_TIMEOUT.key(),
                config.shutdownTimeout()));
    }

    private void apply(Result result) {
        AssignedPartition partition = result.partition();
        Lane lane = result.lane();
        if (assigned.get(partition.partition()) != partition) {
            return; // the partition was lost in the meantime, and its new owner handles the events
        }
        Outcome outcome = result.outcome();
        partition.end(lane, outcome.settled());
        if (lane.isHeld() && (outcome.settled() > 0 || outcome.next() == Outcome.Next.GO_ON)) {
            lane.release();
            status.recovered(partition.partition().toString());
        }
        switch (outcome.next()) {
            case GO_ON, TAKEN_OVER -> {}
            case WAIT_FOR_DATABASE -> waitForDatabase(lane, outcome);
            case WAIT_FOR_EVENT -> waitForEvent(lane, outcome);
            case WAIT_FOR_INSTANCE -> lane.waitFor(OTHER_INSTANCE, System.nanoTime());
            case HOLD -> hold(partition, lane, outcome);
        }
    }

    /**
     * An operator has to act, so the receiver is not ready. Another partition may go on.
     *
     * <p><b>Remedy.</b> Start an instance that has the handler, or end its row by {@code handlers retire}.
     */
    private void hold(AssignedPartition partition, Lane lane, Outcome outcome) {
        lane.hold(HOLD, System.nanoTime());
        Throwable cause = outcome.cause();
        String text = cause == null ? "too many events wait for a handler" : String.valueOf(cause.getMessage());
        if (status.trouble(partition.partition().toString(), text)) {
            LOG.log(Level.ERROR, () -> partition.partition() + " is held: " + text);
        }
    }

    private void waitForDatabase(Lane lane, Outcome outcome) {
        Duration wait = config.databaseBackoff().after(lane.databaseFailed());
        lane.waitFor(wait, System.nanoTime());
        status.databaseFailed(outcome.cause());
    }

    /** The wait is short: an event that keeps failing is parked, and the partition goes on. */
    private void waitForEvent(Lane lane, Outcome outcome) {
        ReceivedEvent event = lane.first();
        Throwable cause = outcome.cause();
        if (event != null) {
            lane.waitFor(config.backoff().after(event.tries()), System.nanoTime());
            LOG.log(
                    Level.DEBUG,
                    () -> event + " failed in " + (outcome.handler() == null ? "its batch" : outcome.handler())
                            + " and is retried: "
                            + (cause == null ? "" : ErrorText.of(cause)));
        }
    }
}
