package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.ReceivedEvent;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.stream.Stream;
import org.apache.kafka.common.TopicPartition;

/**
 * One assigned partition: distributes its events over lanes and knows how far they are settled and committed. Belongs to one assignment;
 * when the partition is lost and comes back there is a new one, so that outcomes of the old one do not count.
 *
 * <p>Used by the poll thread only.
 */
final class AssignedPartition {

    /** Stands for an offset before anything is known. */
    static final long UNKNOWN = -1;

    /** In batches of each lane: the next one is here when the one before ends. */
    private static final int READ_AHEAD = 2;

    private final TopicPartition partition;
    private final List<Lane> lanes;
    private final OffsetLedger ledger;
    private int suspects;
    private long suspectsUntil = UNKNOWN;
    private int keyless;
    private long bytes;
    private long committedTo;
    private boolean outOfRange;
    private boolean paused;

    /**
     * @param offset what is committed; {@link #UNKNOWN} if that is not known
     * @param suspects how many events, from the first on, the previous owner may have died of
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

    /** @param next offset of the record after these; beyond the last one's successor where a transaction ended */
    void add(Collection<ReceivedEvent> fetched, long next) {
        for (ReceivedEvent event : fetched) {
            ledger.open(event.offset());
            bytes += event.bytes();
            if (suspects > 0) {
                suspects--;
                suspectsUntil = event.offset() + 1;
            }
            laneOf(event).add(event);
        }
        ledger.fetchedTo(next);
    }

    /**
     * By the hash by which parking knows a key. Not by the producers' hash: what all keys of a partition have in common is its
     * remainder, so with eight partitions and four lanes all would get into one. Without a key there is no order to keep.
     */
    private Lane laneOf(ReceivedEvent event) {
        if (lanes.size() == 1) {
            return lanes.get(0);
        }
        byte[] hash = event.keyHash();
        int number = hash == null ? keyless++ : ByteBuffer.wrap(hash).getInt();
        return lanes.get(Math.floorMod(number, lanes.size()));
    }

    /** Hands out the first events of a lane that is ready; they stay here until they are settled. */
    Batch begin(Lane lane, int most, Duration maxTime) {
        ReceivedEvent first = lane.first();
        boolean isSuspect = first != null && first.offset() < suspectsUntil;
        return lane.begin(most, maxTime, isSuspect ? Handover.AFTER_CRASH : Handover.CLEAN);
    }

    /** Takes back what was handed out to a lane; the first events are settled. */
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

    /** Where the next owner is to begin. What is committed before it is handled stays committed. */
    long offsetToGiveBack() {
        return Math.max(settledTo(), committedTo);
    }

    void committed(long offset) {
        committedTo = Math.max(committedTo, offset);
    }

    /** Nothing more can be fetched. */
    void outOfRange() {
        outOfRange = true;
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

    /** Of the records that are here. */
    long bytes() {
        return bytes;
    }

    /** Whether enough is here, so that memory, and what a crash repeats, stay bounded. */
    boolean isFull(InboxConfig config) {
        return isAtALimit(config)
                || ledger.size() >= READ_AHEAD * config.batch().size() * lanes.size();
    }

    /** Nothing more may be added; a partition that is only full may get another poll's records. */
    boolean isAtALimit(InboxConfig config) {
        return outOfRange
                || bytes >= config.buffer().partitionBytes()
                || (lanes.size() > 1 && ledger.ahead() >= config.lanes().ahead());
    }

    /** Whether a batch will probably end within this time. */
    boolean hasRoomWithin(Duration time, long now) {
        return lanes.stream().anyMatch(lane -> lane.endsWithin(time, now));
    }
}
