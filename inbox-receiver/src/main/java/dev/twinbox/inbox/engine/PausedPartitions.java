package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.jdbc.Paused;
import dev.twinbox.inbox.pause.Pauses;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.common.TopicPartition;

/**
 * Holds the partitions of topics that an operator has paused. Nothing is fetched for them, and nothing that was fetched is
 * handed out. The member stays in its group. A batch that is with a worker ends after its current event.
 *
 * <p>After a change, the batches of other partitions end early, too, if a handler was paused: what they have claimed for it
 * is given back, and parked the next time.
 *
 * <p>Used by the poll thread only, but for {@link Pauses}.
 */
final class PausedPartitions {

    private final Pauses pauses;
    private final Map<TopicPartition, AssignedPartition> assigned;
    private final BatchDispatch dispatch;
    private final ReceiverStatus status;
    private Paused seen = Paused.NOTHING;

    /** @param assigned the current partitions of the member */
    PausedPartitions(
            Pauses pauses,
            Map<TopicPartition, AssignedPartition> assigned,
            BatchDispatch dispatch,
            ReceiverStatus status) {
        this.pauses = pauses;
        this.assigned = assigned;
        this.dispatch = dispatch;
        this.status = status;
    }

    /** Whether {@link #runOnce} has something to do, for partitions that were there before. */
    boolean hasChange() {
        return !seen.equals(pauses.current());
    }

    /** Partitions come and go, so each is looked at. */
    void runOnce() {
        Paused now = pauses.current();
        boolean isHandlerNew =
                !seen.handlers().keySet().containsAll(now.handlers().keySet());
        List<AssignedPartition> toCut = new ArrayList<>();
        for (AssignedPartition partition : assigned.values()) {
            boolean wasSuspended = partition.isSuspended();
            if (now.topics().containsKey(partition.partition().topic())) {
                partition.suspend();
                endTrouble(partition);
            } else {
                partition.proceed();
            }
            if (isHandlerNew || (partition.isSuspended() && !wasSuspended)) {
                toCut.add(partition);
            }
        }
        dispatch.cutShort(toCut);
        seen = now;
    }

    /** A lane that waits for room is no trouble while its topic is paused. After that it says so again. */
    private void endTrouble(AssignedPartition partition) {
        List<Lane> held = partition.lanes().stream().filter(Lane::isHeld).toList();
        if (!held.isEmpty()) {
            held.forEach(Lane::release);
            status.recovered(partition.partition().toString());
        }
    }
}
