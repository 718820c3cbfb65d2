package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.jdbc.ClaimResult;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayJob.Counts;
import dev.twinbox.inbox.jdbc.ReplayedTable;
import dev.twinbox.inbox.kafka.HandoverKind;
import dev.twinbox.inbox.replay.EventHandling;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Handles what jobs read again, on the workers, with the claims of the jobs. It has the share of a retry. */
final class ReplayWorker implements EventHandling {

    private final InboxConfig config;
    private final RetryShare share;
    private final WorkerWaits waits;
    private final Breakers breakers;
    private final Function<Claims.OfReplay, Processor> processors;

    /** @param processors makes a processor for the claims of a job */
    ReplayWorker(
            InboxConfig config,
            RetryShare share,
            WorkerWaits waits,
            Breakers breakers,
            Function<Claims.OfReplay, Processor> processors) {
        this.config = config;
        this.share = share;
        this.waits = waits;
        this.breakers = breakers;
        this.processors = processors;
    }

    @Override
    public EventHandling.OfJob begin(ReplayJob job, UUID owner) {
        Map<ReceivedEvent, ClaimResult> answers = new ConcurrentHashMap<>();
        Claims.OfReplay claims = new Claims.OfReplay(
                new InboxTable(config.table(), config.parking().table()),
                ReplayedTable.of(config.table()),
                new ParkedTable(config.parking().table()),
                job,
                owner,
                answers,
                null);
        return new OfJob(job, answers, new WatchedProcessor(processors.apply(claims), waits));
    }

    private final class OfJob implements EventHandling.OfJob {
        private final ReplayJob job;
        private final Map<ReceivedEvent, ClaimResult> answers;
        private final Processor processor;

        OfJob(ReplayJob job, Map<ReceivedEvent, ClaimResult> answers, Processor processor) {
            this.job = job;
            this.answers = answers;
            this.processor = processor;
        }

        @Override
        public boolean mayCall() {
            return !breakers.open().contains(job.handler());
        }

        @Override
        public @Nullable Part handle(List<ReceivedEvent> events, Start how) {
            RetryShare.Place place = share.take();
            if (place == null) {
                return null;
            }
            Batch batch = new Batch(
                    List.copyOf(events),
                    config.batch().maxTime(),
                    how == Start.AFTER_CRASH ? HandoverKind.AFTER_CRASH : HandoverKind.CLEAN);
            BlockingQueue<Result> result = new ArrayBlockingQueue<>(1);
            batch.onAbandonment((cause, isRolledBack) -> {
                place.giveBack();
                bring(result, events, () -> processor.settleHung(batch, cause));
            });
            place.execute(() -> {
                try {
                    bring(result, events, () -> processor.process(batch));
                } finally {
                    place.giveBack();
                }
            });
            return new RunningPart(batch, result);
        }

        private void bring(BlockingQueue<Result> result, List<ReceivedEvent> events, Supplier<Outcome> processing) {
            Outcome outcome;
            try {
                outcome = processing.get();
            } catch (RuntimeException | Error e) { // a defect, not a failure of a handler
                outcome = Outcome.waitForDatabase(0, e);
            }
            if (outcome.next() != Outcome.Next.TAKEN_OVER) {
                result.add(new Result(
                        outcome.settled(),
                        next(outcome.next()),
                        outcome.cause(),
                        count(events.subList(0, outcome.settled()))));
            }
        }

        private static Next next(Outcome.Next next) {
            return switch (next) {
                case GO_ON, TAKEN_OVER -> Next.GO_ON;
                case WAIT_FOR_DATABASE -> Next.WAIT_FOR_DATABASE;
                case WAIT_FOR_EVENT, WAIT_FOR_INSTANCE -> Next.WAIT;
                case HOLD -> Next.LOOK_AT_JOB;
            };
        }

        private Counts count(List<ReceivedEvent> settled) {
            long handled = 0;
            long skipped = 0;
            long parked = 0;
            for (ReceivedEvent event : settled) {
                ClaimResult answer = answers.remove(event);
                switch (answer == null ? ClaimResult.DONE : answer) {
                    case TO_HANDLE -> handled++;
                    case DONE -> skipped++;
                    case TO_FOLLOW -> parked++;
                }
            }
            return new Counts(handled, skipped, parked, 0, 0);
        }
    }

    private record RunningPart(Batch batch, BlockingQueue<Result> result) implements Part {
        @Override
        public @Nullable Result await(Duration atMost) throws InterruptedException {
            return result.poll(atMost.toMillis(), TimeUnit.MILLISECONDS);
        }

        @Override
        public void cutShort() {
            batch.cutShort();
        }
    }
}
