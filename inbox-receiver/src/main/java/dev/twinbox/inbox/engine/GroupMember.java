package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.ConsumerSettings;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.kafka.GroupOffsets;
import dev.twinbox.inbox.kafka.OffsetPolicy;
import dev.twinbox.inbox.pause.Pauses;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executor;
import java.util.function.BooleanSupplier;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;

/**
 * One consumer in its group. It polls, and pauses partitions that have enough records.
 *
 * <p>{@link BatchDispatch} hands out batches. {@link OffsetCommits} commits what is settled. {@link PartitionHandover}
 * takes partitions over and gives them back. {@link PartitionStarts} finds where a partition without an offset starts.
 * {@link TopicIdentity} notices topics that were created anew.
 * {@link ReadFaults} stops a partition that cannot be read. {@link PausedPartitions} holds those of topics that an
 * operator has paused. Handlers never run on this thread, so a slow handler does
 * not cost the membership.
 *
 * <p>All methods except {@link #wakeUp} are called on the poll thread. So are Kafka's callbacks.
 */
final class GroupMember {

    private static final Duration LONGEST_POLL = Duration.ofSeconds(1);

    /**
     * How long the poll thread waits for a partition to get room. Most batches take less. Records of other partitions
     * are delayed by this time at most.
     */
    private static final Duration ROOM_SOON = Duration.ofMillis(50);

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final Consumer<byte[], byte[]> consumer;
    private final Subscription subscription;
    private final InboxConfig config;
    private final BrokerWatch brokerWatch;
    private final OffsetCommits commits;
    private final BatchDispatch dispatch;
    private final BackgroundQueries inquiries;
    private final PartitionStarts starts;
    private final OffsetSaves saves;
    private final TopicIdentity identity;
    private final MissingTopics missing;
    private final BooleanSupplier topicsMayBeNew;
    private final PartitionHandover handover;
    private final TopicAccess access;
    private final ReadFaults faults;
    private final PausedPartitions paused;

    private final Map<TopicPartition, AssignedPartition> assigned = new HashMap<>();

    /** Written by the poll thread. Workers read it to know whether the poll thread has to be woken. */
    private volatile boolean polling;

    /**
     * Creates a member that has not joined.
     *
     * @param topicsMayBeNew whether the consumer has heard since the last call which topics there are
     * @param pauses what an operator has paused; the caller wakes this member after a change
     * @param background runs what asks Kafka or the database
     */
    GroupMember(
            Consumer<byte[], byte[]> consumer,
            BooleanSupplier topicsMayBeNew,
            Subscription subscription,
            Processor processor,
            OffsetPolicy policy,
            InboxConfig config,
            ReceiverStatus status,
            GroupOffsets memory,
            Pauses pauses,
            Executor workers,
            Executor background) {
        this.consumer = consumer;
        this.topicsMayBeNew = topicsMayBeNew;
        this.subscription = subscription;
        this.config = config;
        String group = subscription.group();
        brokerWatch = new BrokerWatch(consumer, subscription, ConsumerSettings.sessionTimeout(config), status);
        commits = new OffsetCommits(consumer, assigned);
        dispatch = new BatchDispatch(assigned, commits, processor, policy, config, status, workers, this::wakeUp);
        inquiries = new BackgroundQueries(background, this::wakeUp);
        starts = new PartitionStarts(consumer, assigned, commits, inquiries, memory, policy, config, group, status);
        saves = new OffsetSaves(assigned, inquiries, memory, group);
        identity = new TopicIdentity(assigned, inquiries, memory, starts, status, group);
        missing = new MissingTopics(subscription.topics(), inquiries, memory);
        handover =
                new PartitionHandover(consumer, assigned, commits, dispatch, starts, saves, group, brokerWatch, status);
        access = new TopicAccess(consumer, subscription, handover, inquiries, memory, status);
        faults = new ReadFaults(consumer, assigned, inquiries, memory, starts, access, config, group, status);
        paused = new PausedPartitions(pauses, assigned, dispatch, status);
    }

    void join() {
        access.subscribe();
    }

    /** The listener that Kafka calls when partitions come or go. */
    ConsumerRebalanceListener handover() {
        return handover;
    }

    /** Applies outcomes, hands out the next batches, commits offsets and polls. Does each of them once. */
    void runOnce() {
        dispatch.applyOutcomes();
        inquiries.applyAnswers();
        missing.runOnce();
        starts.runOnce();
        identity.runOnce();
        access.runOnce();
        saves.runOnce();
        faults.runOnce();
        paused.runOnce();
        dispatch.handOut();
        commits.commitSettled();
        awaitRoom();
        pauseAndResume();
        receive(poll());
        brokerWatch.look();
    }

    private void receive(ConsumerRecords<byte[], byte[]> records) {
        if (topicsMayBeNew.getAsBoolean()) {
            identity.doubt();
        }
        for (TopicPartition partition : records.partitions()) {
            receive(partition, records.records(partition));
        }
        // A poll also moves past records that are no events: those of aborted transactions, and marks of Kafka.
        records.nextOffsets().forEach((partition, next) -> {
            AssignedPartition mine = assigned.get(partition);
            if (mine != null) {
                mine.fetchedTo(next.offset());
            }
        });
    }

    /** Ends a poll that is in progress. May be called from any thread. */
    void wakeUp() {
        if (polling) {
            consumer.wakeup();
        }
    }

    /** Waits, at most for the configured time, for running batches. Then commits their offsets and leaves the group. */
    void leave() {
        boolean interrupted = Thread.interrupted(); // an interrupted thread would make Kafka give up at once
        try {
            handover.giveBackAll();
        } finally {
            consumer.close(CloseOptions.timeout(CLOSE_TIMEOUT));
            saves.saveNoted();
            brokerWatch.end();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private ConsumerRecords<byte[], byte[]> poll() {
        if (!access.isSubscribed()) {
            awaitOutcome(LONGEST_POLL);
            return ConsumerRecords.empty();
        }
        polling = true;
        try {
            // The flag is set before the outcomes are checked, so a later outcome wakes the poll.
            boolean hasWork = dispatch.hasOutcomes() || inquiries.hasAnswers() || paused.hasChange();
            return consumer.poll(hasWork ? Duration.ZERO : timeToWait());
        } catch (WakeupException e) {
            return ConsumerRecords.empty();
        } catch (KafkaException e) {
            if (faults.take(e)) {
                return ConsumerRecords.empty();
            }
            throw e;
        } finally {
            polling = false;
        }
    }

    private Duration timeToWait() {
        long now = System.nanoTime();
        long nanos = assigned.values().stream()
                .filter(partition -> !partition.isSuspended()) // nothing is handed out when its waits are over
                .flatMap(partition -> partition.lanes().stream())
                .mapToLong(lane -> lane.nanosToWait(now))
                .min()
                .orElse(Long.MAX_VALUE);
        nanos = Math.min(nanos, commits.nanosToWait(now));
        return Duration.ofNanos(Math.min(nanos, LONGEST_POLL.toNanos()));
    }

    private void receive(TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> records) {
        AssignedPartition mine = assigned.get(partition);
        if (mine == null) {
            return;
        }
        List<ReceivedEvent> events = new ArrayList<>(records.size());
        for (ConsumerRecord<byte[], byte[]> record : records) {
            events.add(ReceivedEvent.of(record, subscription));
        }
        mine.add(events);
    }

    /**
     * Waits for a partition that will have room in a moment, instead of pausing it.
     *
     * <p>While a partition is paused, Kafka's consumer fetches from the broker for its other partitions. If those are
     * empty, the broker answers after {@code fetch.max.wait.ms}. Until then the consumer cannot fetch for the paused
     * partition, even if it was resumed. A backlog in one of several partitions would then get one fetch per half
     * second.
     */
    private void awaitRoom() {
        long now = System.nanoTime();
        if (assigned.values().stream()
                .noneMatch(partition ->
                        partition.isFull(config) && !partition.isPaused() && partition.hasRoomWithin(ROOM_SOON, now))) {
            return;
        }
        awaitOutcome(ROOM_SOON);
    }

    private void awaitOutcome(Duration time) {
        try {
            if (dispatch.awaitOutcome(time.toNanos())) {
                dispatch.handOut();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the next poll reports the interrupt
        }
    }

    private void pauseAndResume() {
        List<TopicPartition> toPause = new ArrayList<>();
        List<TopicPartition> toResume = new ArrayList<>();
        long bytes =
                assigned.values().stream().mapToLong(AssignedPartition::bytes).sum();
        boolean isTotalFull = bytes >= config.buffer().totalBytes();
        long now = System.nanoTime();
        for (AssignedPartition partition : assigned.values()) {
            // An empty partition is never held up by what other partitions have buffered.
            boolean atALimit = partition.isAtALimit(config) || (isTotalFull && !partition.isEmpty());
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
}
