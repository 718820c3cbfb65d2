package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.config.InboxSettings;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.ReceivedEvent;
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
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;

/**
 * Hands batches to the workers and takes their outcomes back.
 *
 * <p>All methods belong to the poll thread; only {@link #work} runs on a worker.
 */
final class BatchDispatch {

    private static final Logger LOG = System.getLogger(BatchDispatch.class.getName());

    private static final Duration COMMIT_RETRY = Duration.ofMillis(500);

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
     * @param assigned the partitions of this member, as they are at any time
     * @param whenDone is called on a worker whenever an outcome is there
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
                if (lane.isReady(now)) {
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
            return true; // not for any handler: its offset goes with the next
        }
        return commits.commitNow(Map.of(partition.partition(), new OffsetAndMetadata(last.offset() + 1)));
    }

    /** On a worker. */
    private void work(AssignedPartition partition, Lane lane, Batch batch) {
        Outcome outcome;
        try {
            outcome = processor.process(batch);
        } catch (RuntimeException | Error e) {
            // Nothing that a handler did; the lane must not wait for ever for an answer.
            outcome = Outcome.waitForDatabase(0, e);
        }
        results.add(new Result(partition, lane, outcome));
        whenDone.run();
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

    /** Waits for one outcome and applies it. Returns whether one came within the time. */
    boolean awaitOutcome(long nanos) throws InterruptedException {
        Result result = results.poll(nanos, TimeUnit.NANOSECONDS);
        if (result != null) {
            apply(result);
        }
        return result != null;
    }

    /** Ends the batches of these partitions early, and waits for the workers, within bounds. */
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
                "Left {0} unfinished: a handler took longer than {1} {2}. It counts as not handled unless it commits",
                lane.first(),
                InboxSettings.SHUTDOWN_TIMEOUT.key(),
                config.shutdownTimeout()));
    }

    private void apply(Result result) {
        AssignedPartition partition = result.partition();
        Lane lane = result.lane();
        if (assigned.get(partition.partition()) != partition) {
            return; // the partition was lost meanwhile: its new owner decides
        }
        Outcome outcome = result.outcome();
        partition.end(lane, outcome.settled());
        switch (outcome.next()) {
            case GO_ON -> {}
            case WAIT_FOR_DATABASE -> waitForDatabase(lane, outcome);
            case WAIT_FOR_EVENT -> waitForEvent(lane, outcome);
        }
    }

    private void waitForDatabase(Lane lane, Outcome outcome) {
        Duration wait = config.backoff().after(lane.databaseFailed());
        lane.waitFor(wait, System.nanoTime());
        status.databaseFailed(outcome.cause());
    }

    /** For a moment: what fails again and again is parked, and the partition goes on. */
    private void waitForEvent(Lane lane, Outcome outcome) {
        ReceivedEvent event = lane.first();
        Throwable cause = outcome.cause();
        if (event != null) {
            lane.waitFor(config.backoff().after(event.failures()), System.nanoTime());
            LOG.log(
                    Level.DEBUG,
                    () -> event + " failed in " + outcome.handler() + " and will be tried again: "
                            + (cause == null ? "" : ErrorText.of(cause)));
        }
    }
}
