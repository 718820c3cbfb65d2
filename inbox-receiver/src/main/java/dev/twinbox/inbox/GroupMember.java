package dev.twinbox.inbox;

import dev.twinbox.inbox.Batch.Care;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.TimeoutException;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * One consumer in its group. Polls, hands batches to workers, pauses partitions that have enough, commits offsets of what is
 * settled. It never runs a handler itself, so a slow handler can not cost the membership.
 *
 * <p>All methods but {@link #wakeUp} belong to the poll thread, Kafka's callbacks included.
 */
final class GroupMember implements ConsumerRebalanceListener {

    private static final Logger LOG = System.getLogger(GroupMember.class.getName());

    /**
     * Goes with the offset when a partition is given back in order, and off it before the next owner hands out the first batch:
     * without it, the one before may have died of an event.
     */
    private static final String GIVEN_BACK = "given back";

    private static final Duration LONGEST_POLL = Duration.ofSeconds(1);

    /** More than most batches take; so long may records of other partitions have to wait. */
    private static final Duration ROOM_SOON = Duration.ofMillis(50);

    private static final Duration COMMIT_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);
    private static final Duration COMMIT_RETRY = Duration.ofMillis(500);
    /** Each commit is a request to the broker, and a group whose events come one by one settles hundreds of batches a second. */
    private static final Duration COMMIT_INTERVAL = Duration.ofMillis(20);

    /** When offsets are committed. */
    enum OffsetPolicy {
        /** After the events are handled. */
        AFTER_HANDLING,
        /** Before, one event at a time. */
        BEFORE_HANDLING
    }

    /** What a worker brings back. */
    private record Result(Lane lane, Outcome outcome) {}

    private final Consumer<byte[], byte[]> consumer;
    private final Subscription subscription;
    private final Processor processor;
    private final OffsetPolicy policy;
    private final InboxConfig config;
    private final InboxStatus status;
    private final Executor workers;
    private final BrokerWatch brokerWatch;

    private final Map<TopicPartition, AssignedPartition> assigned = new HashMap<>();

    /** Written by workers, read by the poll thread. */
    private final BlockingQueue<Result> results = new LinkedBlockingQueue<>();

    /** Written by the poll thread; workers read it to know whether it has to be woken. */
    private volatile boolean polling;

    private boolean commitInFlight;
    private long noCommitBefore = System.nanoTime();

    GroupMember(
            Consumer<byte[], byte[]> consumer,
            Subscription subscription,
            Processor processor,
            OffsetPolicy policy,
            InboxConfig config,
            InboxStatus status,
            Executor workers) {
        this.consumer = consumer;
        this.subscription = subscription;
        this.processor = processor;
        this.policy = policy;
        this.config = config;
        this.status = status;
        this.workers = workers;
        this.brokerWatch = new BrokerWatch(consumer, subscription, ConsumerSettings.sessionTimeout(config), status);
    }

    void join() {
        consumer.subscribe(subscription.topics(), this);
    }

    /** One turn: what workers brought back, what they get next, what is to be committed, what Kafka has. */
    void runOnce() {
        applyResults();
        handOut();
        commit();
        awaitRoom();
        pauseAndResume();
        ConsumerRecords<byte[], byte[]> records = poll();
        for (TopicPartition partition : records.partitions()) {
            receive(partition, records.records(partition), records.nextOffsets().get(partition));
        }
        brokerWatch.look();
    }

    /** From any thread: ends a poll that is under way. */
    void wakeUp() {
        if (polling) {
            consumer.wakeup();
        }
    }

    /** Waits, within bounds, for what is being handled, commits its offsets and leaves the group. */
    void leave() {
        boolean interrupted = Thread.interrupted(); // or Kafka would give up at once
        try {
            settle(List.copyOf(assigned.values()));
            assigned.clear();
        } finally {
            consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private ConsumerRecords<byte[], byte[]> poll() {
        polling = true;
        try {
            // Looked at after the flag is up: a result that comes later wakes us.
            return consumer.poll(results.isEmpty() ? timeToWait() : Duration.ZERO);
        } catch (WakeupException e) {
            return ConsumerRecords.empty();
        } catch (NoOffsetForPartitionException e) {
            startAtTheEarliest(e.partitions());
            return ConsumerRecords.empty();
        } catch (OffsetOutOfRangeException e) {
            reportOutOfRange(e.offsetOutOfRangePartitions());
            return ConsumerRecords.empty();
        } finally {
            polling = false;
        }
    }

    private Duration timeToWait() {
        long now = System.nanoTime();
        long nanos = lanesOf(assigned.values())
                .mapToLong(lane -> lane.nanosToWait(now))
                .min()
                .orElse(Long.MAX_VALUE);
        if (!commitInFlight && assigned.values().stream().anyMatch(AssignedPartition::hasOffsetToCommit)) {
            nanos = Math.min(nanos, Math.max(0, noCommitBefore - now));
        }
        return Duration.ofNanos(Math.min(nanos, LONGEST_POLL.toNanos()));
    }

    private static Stream<Lane> lanesOf(Collection<AssignedPartition> partitions) {
        return partitions.stream().flatMap(partition -> partition.lanes().stream());
    }

    /** The group has never committed here: a new group, or a new partition. Anything but the start would lose events. */
    private void startAtTheEarliest(Set<TopicPartition> partitions) {
        List<TopicPartition> mine =
                partitions.stream().filter(consumer.assignment()::contains).toList();
        LOG.log(Level.INFO, "Group {0} has no offsets for {1}; it starts at the earliest", subscription.group(), mine);
        consumer.seekToBeginning(mine);
    }

    /** The records between are gone, or the log was cut back; going on anywhere would hide that. */
    private void reportOutOfRange(Map<TopicPartition, Long> offsets) {
        offsets.forEach((partition, offset) -> {
            AssignedPartition mine = assigned.get(partition);
            if (mine == null) {
                return;
            }
            mine.outOfRange();
            String text = "offset " + offset + " of group " + subscription.group() + " is not on " + partition
                    + " any more (deleted by retention, or lost with a broker); the partition is not read until the application "
                    + "is stopped, the offset set on purpose (kafka-consumer-groups.sh --group " + subscription.group()
                    + " --topic " + partition.topic() + ":" + partition.partition()
                    + " --reset-offsets --to-earliest --execute) and the application started again";
            status.trouble(partition.toString(), text);
            LOG.log(Level.ERROR, () -> "Events may be lost: " + text);
        });
    }

    private void receive(
            TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> records, @Nullable OffsetAndMetadata next) {
        AssignedPartition mine = assigned.get(partition);
        if (mine == null) {
            return;
        }
        List<ReceivedEvent> events = new ArrayList<>(records.size());
        for (ConsumerRecord<byte[], byte[]> record : records) {
            events.add(ReceivedEvent.of(record, subscription, status));
        }
        long behind = records.isEmpty() ? 0 : records.get(records.size() - 1).offset() + 1;
        mine.add(events, next == null ? behind : next.offset());
    }

    private void handOut() {
        long now = System.nanoTime();
        for (AssignedPartition partition : assigned.values()) {
            for (Lane lane : partition.lanes()) {
                if (lane.isReady(now)) {
                    handOut(lane);
                }
            }
        }
    }

    private void handOut(Lane lane) {
        int most = policy == OffsetPolicy.BEFORE_HANDLING ? 1 : config.batch().size();
        Batch batch = lane.begin(most, config.batch().maxTime());
        if (policy == OffsetPolicy.BEFORE_HANDLING && !commitBefore(lane, batch)) {
            lane.end(0);
            lane.waitFor(COMMIT_RETRY, System.nanoTime());
            return;
        }
        workers.execute(() -> work(lane, batch));
    }

    /** On a worker. */
    private void work(Lane lane, Batch batch) {
        Outcome outcome;
        try {
            outcome = processor.process(batch);
        } catch (RuntimeException | Error e) {
            // Nothing that a handler did; the lane must not wait for ever for an answer.
            outcome = Outcome.waitForDatabase(0, e);
        }
        results.add(new Result(lane, outcome));
        wakeUp();
    }

    private void applyResults() {
        for (Result result = results.poll(); result != null; result = results.poll()) {
            apply(result);
        }
    }

    private void apply(Result result) {
        Lane lane = result.lane();
        if (assigned.get(lane.partition()) != lane.owner()) {
            return; // the partition was lost meanwhile: its new owner decides
        }
        Outcome outcome = result.outcome();
        lane.end(outcome.settled());
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

    /**
     * While a partition is paused, Kafka's consumer asks a broker for its other partitions. If they have nothing, the broker takes
     * {@code fetch.max.wait.ms} to say so, and until then it is not asked for the paused one either, although that may long be
     * going on: a backlog in one partition out of several would come by one fetch in half a second. So one that will have room in a
     * moment is waited for instead.
     */
    private void awaitRoom() {
        long now = System.nanoTime();
        if (assigned.values().stream()
                .noneMatch(partition ->
                        partition.isFull(config) && !partition.isPaused() && partition.hasRoomWithin(ROOM_SOON, now))) {
            return;
        }
        try {
            Result result = results.poll(ROOM_SOON.toNanos(), TimeUnit.NANOSECONDS);
            if (result != null) {
                apply(result);
                handOut();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the poll tells
        }
    }

    private void pauseAndResume() {
        List<TopicPartition> toPause = new ArrayList<>();
        List<TopicPartition> toResume = new ArrayList<>();
        long bytes =
                assigned.values().stream().mapToLong(AssignedPartition::bytes).sum();
        boolean muchInAll = bytes >= config.buffer().totalBytes();
        long now = System.nanoTime();
        for (AssignedPartition partition : assigned.values()) {
            // One that has nothing is never held up by what others have.
            boolean atALimit = partition.isAtALimit(config) || (muchInAll && !partition.isEmpty());
            boolean full = atALimit || (partition.isFull(config) && !partition.hasRoomWithin(ROOM_SOON, now));
            if (full && !partition.isPaused()) {
                partition.pause();
                toPause.add(partition.partition());
            } else if (!full && partition.isPaused()) {
                partition.resume();
                toResume.add(partition.partition());
            }
        }
        if (!toPause.isEmpty()) {
            consumer.pause(toPause);
        }
        if (!toResume.isEmpty()) {
            consumer.resume(toResume);
        }
    }

    /** One request at a time, and not too many: what is settled meanwhile goes with the next. */
    private void commit() {
        long now = System.nanoTime();
        if (commitInFlight || now - noCommitBefore < 0) {
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> offsets = offsetsToCommit(assigned.values());
        if (!offsets.isEmpty()) {
            commitInFlight = true;
            noCommitBefore = now + COMMIT_INTERVAL.toNanos();
            consumer.commitAsync(offsets, this::committed);
        }
    }

    private void committed(Map<TopicPartition, OffsetAndMetadata> offsets, @Nullable Exception failure) {
        commitInFlight = false;
        if (failure == null) {
            noteCommitted(offsets);
        } else {
            noCommitBefore = System.nanoTime() + COMMIT_RETRY.toNanos();
            LOG.log(Level.DEBUG, "Offsets were not committed, will try again", failure);
        }
    }

    private void noteCommitted(Map<TopicPartition, OffsetAndMetadata> offsets) {
        offsets.forEach((partition, offset) -> {
            AssignedPartition mine = assigned.get(partition);
            if (mine != null) {
                mine.committed(offset.offset());
            }
        });
    }

    private static Map<TopicPartition, OffsetAndMetadata> offsetsToCommit(Collection<AssignedPartition> partitions) {
        return partitions.stream()
                .filter(AssignedPartition::hasOffsetToCommit)
                .collect(Collectors.toMap(
                        AssignedPartition::partition, partition -> new OffsetAndMetadata(partition.settledTo())));
    }

    /** Of those that nobody works on any more. */
    private static Map<TopicPartition, OffsetAndMetadata> offsetsToGiveBack(Collection<AssignedPartition> partitions) {
        return partitions.stream()
                .filter(partition -> partition.offsetToGiveBack() >= 0)
                .collect(Collectors.toMap(
                        AssignedPartition::partition,
                        partition -> new OffsetAndMetadata(
                                partition.offsetToGiveBack(), partition.isRunning() ? "" : GIVEN_BACK)));
    }

    private boolean commitBefore(Lane lane, Batch batch) {
        ReceivedEvent last = batch.events().get(batch.events().size() - 1);
        if (last.handlers().isEmpty() && last.isReadable()) {
            return true; // nobody's: its offset goes with the next
        }
        return commitAndWait(Map.of(lane.partition(), new OffsetAndMetadata(last.offset() + 1)));
    }

    /** Returns whether they are committed. */
    private boolean commitAndWait(Map<TopicPartition, OffsetAndMetadata> offsets) {
        while (true) {
            try {
                consumer.commitSync(offsets, COMMIT_TIMEOUT);
                noteCommitted(offsets);
                return true;
            } catch (WakeupException e) {
                // Meant for a poll that had ended; it is used up now.
            } catch (KafkaException e) {
                LOG.log(Level.WARNING, "Offsets {0} were not committed: {1}", offsets, e.toString());
                return false;
            }
        }
    }

    /** Waits, within bounds, until nobody works on these partitions, and commits how far they got. */
    private void settle(List<AssignedPartition> leaving) {
        lanesOf(leaving).forEach(Lane::cutShort);
        awaitWorkers(leaving);
        Map<TopicPartition, OffsetAndMetadata> offsets = offsetsToGiveBack(leaving);
        if (!offsets.isEmpty()) {
            commitAndWait(offsets);
        }
    }

    private void awaitWorkers(List<AssignedPartition> leaving) {
        long deadline = System.nanoTime() + config.stopTimeout().toNanos();
        try {
            while (leaving.stream().anyMatch(AssignedPartition::isRunning)) {
                Result result = results.poll(deadline - System.nanoTime(), TimeUnit.NANOSECONDS);
                if (result == null) {
                    warnOfUnfinished(leaving);
                    return;
                }
                apply(result);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private void warnOfUnfinished(List<AssignedPartition> leaving) {
        lanesOf(leaving)
                .filter(Lane::isRunning)
                .forEach(lane -> LOG.log(
                        Level.WARNING,
                        "Left {0} behind in the middle: a handler took longer than {1} {2}. It counts as not handled unless "
                                + "it commits",
                        lane.first(),
                        Setting.STOP_TIMEOUT.key(),
                        config.stopTimeout()));
    }

    @Override
    public void onPartitionsAssigned(Collection<TopicPartition> partitions) {
        brokerWatch.joined();
        if (!partitions.isEmpty()) {
            LOG.log(Level.INFO, "Group {0}: got {1}", subscription.group(), partitions);
        }
        Map<TopicPartition, Start> starts = starts(partitions);
        partitions.forEach(partition -> {
            Start start = starts.getOrDefault(partition, Start.UNKNOWN);
            int toCareFor = start.care() == Care.NORMAL ? 0 : eventsToCareFor();
            assigned.put(partition, new AssignedPartition(partition, start.offset(), toCareFor, lanes()));
        });
    }

    /** Those that are committed before they are handled are handled one by one. */
    private int lanes() {
        return policy == OffsetPolicy.BEFORE_HANDLING ? 1 : config.lanes().number();
    }

    /** No more than these can have been in progress. */
    private int eventsToCareFor() {
        return lanes() == 1
                ? config.batch().size()
                : config.lanes().ahead() + ConsumerSettings.mostRecordsOfAPoll(config);
    }

    /**
     * How a partition begins here.
     *
     * @param offset what is committed
     * @param care what is known of whoever had it before
     */
    private record Start(long offset, Care care) {
        /** With all care. */
        static final Start UNKNOWN = new Start(AssignedPartition.UNKNOWN, Care.AFTER_A_CRASH);
    }

    /**
     * No care need those that were given back in order, or never read by the group. What is committed for them now does not say so
     * any more: if this instance dies of the first batch, the next one knows.
     */
    private Map<TopicPartition, Start> starts(Collection<TopicPartition> partitions) {
        if (policy == OffsetPolicy.BEFORE_HANDLING || partitions.isEmpty()) {
            return Map.of();
        }
        try {
            Map<TopicPartition, Start> starts = new HashMap<>();
            List<TopicPartition> neverRead = new ArrayList<>();
            consumer.committed(Set.copyOf(partitions), COMMIT_TIMEOUT).forEach((partition, offset) -> {
                if (offset == null) {
                    neverRead.add(partition);
                } else {
                    Care care = offset.metadata().equals(GIVEN_BACK) ? Care.NORMAL : Care.AFTER_A_CRASH;
                    starts.put(partition, new Start(offset.offset(), care));
                }
            });
            consumer.beginningOffsets(neverRead, COMMIT_TIMEOUT)
                    .forEach((partition, offset) -> starts.put(partition, new Start(offset, Care.NORMAL)));
            return unmark(starts) ? starts : Map.of();
        } catch (WakeupException | TimeoutException e) {
            return Map.of();
        }
    }

    private boolean unmark(Map<TopicPartition, Start> starts) {
        Map<TopicPartition, OffsetAndMetadata> unmarked = new HashMap<>();
        starts.forEach((partition, start) -> {
            if (start.care() == Care.NORMAL) {
                unmarked.put(partition, new OffsetAndMetadata(start.offset()));
            }
        });
        return unmarked.isEmpty() || commitAndWait(unmarked);
    }

    @Override
    public void onPartitionsRevoked(Collection<TopicPartition> partitions) {
        List<AssignedPartition> leaving = remaining(partitions);
        settle(leaving);
        forget(partitions);
        if (!leaving.isEmpty()) {
            LOG.log(Level.INFO, "Group {0}: gave away {1}", subscription.group(), partitions);
        }
    }

    /** Somebody else has them already: committing offsets would overwrite theirs. */
    @Override
    public void onPartitionsLost(Collection<TopicPartition> partitions) {
        List<AssignedPartition> lost = remaining(partitions);
        lanesOf(lost).forEach(Lane::cutShort);
        forget(partitions);
        if (!lost.isEmpty()) {
            LOG.log(
                    Level.WARNING,
                    "Group {0}: lost {1}; what was in progress is handled again by the new owner, as duplicates where it was "
                            + "committed",
                    subscription.group(),
                    partitions);
        }
    }

    private List<AssignedPartition> remaining(Collection<TopicPartition> partitions) {
        return partitions.stream()
                .map(assigned::get)
                .filter(partition -> partition != null)
                .toList();
    }

    private void forget(Collection<TopicPartition> partitions) {
        partitions.forEach(partition -> {
            assigned.remove(partition);
            status.recovered(partition.toString());
        });
    }
}
