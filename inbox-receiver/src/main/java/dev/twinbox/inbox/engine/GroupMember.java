package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.ConsumerSettings;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import org.apache.kafka.clients.consumer.CloseOptions;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRebalanceListener;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.NoOffsetForPartitionException;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.consumer.OffsetOutOfRangeException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.WakeupException;
import org.jspecify.annotations.Nullable;

/**
 * One consumer in its group: polls, and pauses partitions that have enough. {@link BatchDispatch} hands out batches,
 * {@link OffsetCommits} commits what is settled, {@link PartitionHandover} takes partitions over and gives them away. A handler
 * never runs on this thread, so a slow handler does not cost the membership.
 *
 * <p>All methods but {@link #wakeUp} belong to the poll thread, Kafka's callbacks included.
 */
final class GroupMember {

    private static final Logger LOG = System.getLogger(GroupMember.class.getName());

    private static final Duration LONGEST_POLL = Duration.ofSeconds(1);

    /** More than most batches take; so long may records of other partitions have to wait. */
    private static final Duration ROOM_SOON = Duration.ofMillis(50);

    private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

    private final Consumer<byte[], byte[]> consumer;
    private final Subscription subscription;
    private final InboxConfig config;
    private final ReceiverStatus status;
    private final BrokerWatch brokerWatch;
    private final OffsetCommits commits;
    private final BatchDispatch dispatch;
    private final PartitionHandover handover;

    private final Map<TopicPartition, AssignedPartition> assigned = new HashMap<>();

    /** Written by the poll thread; workers read it to know whether it has to be woken. */
    private volatile boolean polling;

    GroupMember(
            Consumer<byte[], byte[]> consumer,
            Subscription subscription,
            Processor processor,
            OffsetPolicy policy,
            InboxConfig config,
            ReceiverStatus status,
            Executor workers) {
        this.consumer = consumer;
        this.subscription = subscription;
        this.config = config;
        this.status = status;
        brokerWatch = new BrokerWatch(consumer, subscription, ConsumerSettings.sessionTimeout(config), status);
        commits = new OffsetCommits(consumer, assigned);
        dispatch = new BatchDispatch(assigned, commits, processor, policy, config, status, workers, this::wakeUp);
        handover = new PartitionHandover(
                consumer, assigned, commits, dispatch, policy, config, subscription.group(), brokerWatch, status);
    }

    void join() {
        consumer.subscribe(subscription.topics(), handover);
    }

    /** What Kafka calls when partitions come or go. */
    ConsumerRebalanceListener handover() {
        return handover;
    }

    /** Applies outcomes, hands out the next batches, commits offsets and polls, each once. */
    void runOnce() {
        dispatch.applyOutcomes();
        dispatch.handOut();
        commits.commitSettled();
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
            handover.giveBackAll();
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
            // Looked at after the flag is up: an outcome that comes later wakes us.
            return consumer.poll(dispatch.hasOutcomes() ? Duration.ZERO : timeToWait());
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
        long nanos = assigned.values().stream()
                .flatMap(partition -> partition.lanes().stream())
                .mapToLong(lane -> lane.nanosToWait(now))
                .min()
                .orElse(Long.MAX_VALUE);
        nanos = Math.min(nanos, commits.nanosToWait(now));
        return Duration.ofNanos(Math.min(nanos, LONGEST_POLL.toNanos()));
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
                    + " any more (deleted by retention, or lost with a broker); the partition is not read. "
                    + "Stop the application, set the offset (kafka-consumer-groups.sh --group " + subscription.group()
                    + " --topic " + partition.topic() + ":" + partition.partition()
                    + " --reset-offsets --to-earliest --execute) and start the application again";
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
            ReceivedEvent event = ReceivedEvent.of(record, subscription);
            if (event.isOfUnknownType()) {
                status.skipped(event);
            }
            events.add(event);
        }
        long behind = records.isEmpty() ? 0 : records.get(records.size() - 1).offset() + 1;
        mine.add(events, next == null ? behind : next.offset());
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
            if (dispatch.awaitOutcome(ROOM_SOON.toNanos())) {
                dispatch.handOut();
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt(); // the poll reports it
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
}
