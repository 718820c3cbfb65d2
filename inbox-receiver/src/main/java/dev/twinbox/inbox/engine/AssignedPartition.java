package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.kafka.CommitMark;
import dev.twinbox.inbox.kafka.HandoverKind;
import dev.twinbox.inbox.kafka.PartitionStart;
import dev.twinbox.inbox.kafka.TopicId;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * One assigned partition. It distributes its events over lanes and knows which offset is settled and which is
 * committed.
 *
 * <p>An object belongs to one assignment. A partition that is lost and assigned again gets a new object. Outcomes of
 * the old object are then ignored.
 *
 * <p>Used by the poll thread only.
 */
final class AssignedPartition {

    /** How many batches each lane buffers, so that the next batch is here when the current one ends. */
    private static final int READ_AHEAD = 2;

    private final TopicPartition partition;
    private final List<Lane> lanes;
    private final OffsetLedger ledger;

    /** Events of the topic that this partition belongs to, or of another one of its name. */
    private final List<ReceivedEvent> doubted = new ArrayList<>();

    private @Nullable TopicId topicId;
    private @Nullable TopicId suspected;
    private boolean inDoubt;
    private int suspects;
    private long suspectsUntil = PartitionStart.NO_OFFSET;
    private int keyless;
    private long bytes;
    private long committedTo;
    private boolean stopped;
    private boolean suspended;
    private boolean paused;

    /**
     * @param offset the committed offset; {@link PartitionStart#NO_OFFSET} if it is not known
     * @param suspects how many events, from the first on, may have killed the previous owner
     * @param lanes how many batches may be handled at the same time
     */
    AssignedPartition(TopicPartition partition, long offset, int suspects, int lanes) {
        this.partition = partition;
        this.ledger = new OffsetLedger(offset);
        this.committedTo = offset;
        this.suspects = suspects;
        this.lanes = Stream.generate(Lane::new).limit(lanes).toList();
    }

    TopicPartition partition() {
        return partition;
    }

    List<Lane> lanes() {
        return lanes;
    }

    void add(Collection<ReceivedEvent> fetched) {
        for (ReceivedEvent event : fetched) {
            ledger.open(event.offset());
            bytes += event.bytes();
            if (suspects > 0) {
                suspects--;
                suspectsUntil = event.offset() + 1;
            }
            if (inDoubt) {
                doubted.add(event);
            } else {
                laneOf(event).add(event);
            }
            ledger.fetchedTo(event.offset() + 1);
        }
    }

    /** Events that come from now on may be of another topic of the same name. They wait. */
    void doubt() {
        inDoubt = true;
    }

    boolean isInDoubt() {
        return inDoubt;
    }

    /** How many events wait because of the doubt. */
    int doubted() {
        return doubted.size();
    }

    /** The first of the events that wait belong to the topic of this id. */
    void confirm(TopicId id, int events) {
        belongTo(id);
        suspected = null;
        List<ReceivedEvent> first = doubted.subList(0, events);
        first.forEach(event -> laneOf(event).add(event));
        first.clear();
    }

    /** So do all others, and those that come. */
    void confirmAll(TopicId id) {
        confirm(id, doubted.size());
        inDoubt = false;
    }

    /** Now there seems to be another topic. Returns whether it seemed so before. */
    boolean suspect(TopicId other) {
        boolean isKnown = other.equals(suspected);
        suspected = other;
        return isKnown;
    }

    /** Forgets the events that wait. They are of another topic, or of this one and gone with it. */
    void dropDoubted() {
        inDoubt = false;
        doubted.clear();
    }

    /** Its offsets belong to the topic of this id; null: that is not known yet. */
    void belongTo(@Nullable TopicId id) {
        topicId = id;
    }

    @Nullable TopicId topicId() {
        return topicId;
    }

    /**
     * Everything before this offset was fetched. It can be greater than the last record's offset plus one where a
     * transaction ended.
     */
    void fetchedTo(long next) {
        ledger.fetchedTo(next);
    }

    /**
     * The lane is chosen by the key hash that parking uses. The producers' hash would not do: all keys of a partition
     * share its remainder. With eight partitions and four lanes all keys would get into one lane. Events without a key
     * need no order, so they are spread evenly.
     */
    private Lane laneOf(ReceivedEvent event) {
        if (lanes.size() == 1) {
            return lanes.get(0);
        }
        byte[] hash = event.keyHash();
        int number = hash == null ? keyless++ : ByteBuffer.wrap(hash).getInt();
        return lanes.get(Math.floorMod(number, lanes.size()));
    }

    /** Hands out the first events of a lane that is ready. They stay here until they are settled. */
    Batch begin(Lane lane, int most, Duration maxTime) {
        ReceivedEvent first = lane.first();
        boolean isSuspect = first != null && first.offset() < suspectsUntil;
        return lane.begin(most, maxTime, isSuspect ? HandoverKind.AFTER_CRASH : HandoverKind.CLEAN);
    }

    /** Takes back what was handed out to a lane. The first {@code settled} events are settled. */
    void end(Lane lane, int settled) {
        lane.end(settled, this::settled);
    }

    private void settled(ReceivedEvent event) {
        ledger.settle(event.offset());
        bytes -= event.bytes();
    }

    boolean isRunning() {
        return lanes.stream().anyMatch(Lane::isRunning);
    }

    boolean hasOffsetToCommit() {
        return settledTo() > committedTo;
    }

    /** Offset of the first record that is not settled. */
    long settledTo() {
        return ledger.settledTo();
    }

    /**
     * The offset at which the next owner starts. An offset that was committed before its event was handled stays
     * committed.
     */
    long offsetToGiveBack() {
        return Math.max(settledTo(), committedTo);
    }

    /** The offset as it is to be committed, while this member has the partition. */
    OffsetAndMetadata commit(long offset) {
        return new CommitMark(topicId, false).at(offset);
    }

    /** The last commit, before the next owner takes the partition. */
    OffsetAndMetadata lastCommit() {
        return new CommitMark(topicId, !isRunning()).at(offsetToGiveBack());
    }

    void committed(long offset) {
        committedTo = Math.max(committedTo, offset);
    }

    /** Fetches nothing more. What was fetched is still handled. */
    void stop() {
        stopped = true;
    }

    boolean isStopped() {
        return stopped;
    }

    /** Fetches nothing and hands nothing out: an operator has paused the topic. What was fetched stays here. */
    void suspend() {
        suspended = true;
    }

    /** Ends {@link #suspend}. */
    void proceed() {
        suspended = false;
    }

    boolean isSuspended() {
        return suspended;
    }

    boolean isPaused() {
        return paused;
    }

    void pause() {
        paused = true;
    }

    void resume() {
        paused = false;
    }

    boolean isEmpty() {
        return ledger.size() == 0;
    }

    /** Whether all events that may be handled are settled. */
    boolean isHandled() {
        return lanes.stream().allMatch(lane -> lane.first() == null && !lane.isRunning());
    }

    /** How many bytes the buffered records take. */
    long bytes() {
        return bytes;
    }

    /** Whether enough is buffered. The limit bounds the memory, and what a crash repeats. */
    boolean isFull(InboxConfig config) {
        return isAtALimit(config)
                || ledger.size() >= READ_AHEAD * config.batch().size() * lanes.size();
    }

    /** Whether nothing more may be added. A partition that is only full may still get the records of one more poll. */
    boolean isAtALimit(InboxConfig config) {
        return stopped
                || suspended
                || bytes >= config.buffer().partitionBytes()
                || (lanes.size() > 1 && ledger.ahead() >= config.lanes().ahead());
    }

    /** Whether a batch will probably end within this time. */
    boolean hasRoomWithin(Duration time, long now) {
        return lanes.stream().anyMatch(lane -> lane.endsWithin(time, now));
    }
}
