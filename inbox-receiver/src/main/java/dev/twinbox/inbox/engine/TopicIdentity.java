package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.kafka.GroupMemory;
import dev.twinbox.inbox.kafka.TopicId;
import java.lang.System.Logger.Level;
import java.lang.System.Logger;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Notices that a topic was deleted and created anew. A consumer does not: it goes on at its offset. If the new topic is
 * already longer, the records before that offset would never be read.
 *
 * <p>A partition is in doubt after it was assigned, and after the consumer has heard from its brokers which topics there
 * are. Its new records wait until Kafka has said which id the topic has.
 *
 * <p>Used by the poll thread only.
 */
final class TopicIdentity {

    private static final Logger LOG = System.getLogger(TopicIdentity.class.getName());

    /** In case that the brokers do not know the same at the same time. */
    private static final Duration INTERVAL = Duration.ofMinutes(1);

    private static final Duration ASK_AGAIN = Duration.ofSeconds(1);

    private final Map<TopicPartition, AssignedPartition> assigned;
    private final Inquiries inquiries;
    private final GroupMemory memory;
    private final PartitionStarts starts;
    private final ReceiverStatus status;
    private final String group;
    private final String subject;

    /** Counts the reasons for doubt. An answer to an older question does not count. */
    private long doubts;

    private boolean isAsking;
    private long askAt = System.nanoTime();
    private long doubtAt = System.nanoTime() + INTERVAL.toNanos();

    /** @param assigned the current partitions of this member; changes as partitions come and go */
    TopicIdentity(
            Map<TopicPartition, AssignedPartition> assigned,
            Inquiries inquiries,
            GroupMemory memory,
            PartitionStarts starts,
            ReceiverStatus status,
            String group) {
        this.assigned = assigned;
        this.inquiries = inquiries;
        this.memory = memory;
        this.starts = starts;
        this.status = status;
        this.group = group;
        this.subject = "topics of group " + group;
    }

    /** From now on the consumer may read other topics of the same names. */
    void doubt() {
        doubts++;
        doubtAt = System.nanoTime() + INTERVAL.toNanos();
        assigned.values().forEach(AssignedPartition::doubt);
    }

    /** Asks for the ids of topics whose partitions are in doubt. */
    void runOnce() {
        if (System.nanoTime() - doubtAt >= 0) {
            doubt();
        }
        if (isAsking || System.nanoTime() - askAt < 0) {
            return;
        }
        Map<TopicPartition, AssignedPartition> asked = new HashMap<>();
        Set<String> topics = new HashSet<>();
        assigned.forEach((partition, mine) -> {
            if (mine.isInDoubt()) {
                asked.put(partition, mine);
                topics.add(partition.topic());
            }
        });
        if (!asked.isEmpty()) {
            isAsking = true;
            long asOf = doubts;
            inquiries.ask(() -> memory.topicIds(topics), ids -> answered(asked, ids, asOf), this::failed);
        }
    }

    private void answered(Map<TopicPartition, AssignedPartition> asked, Map<String, TopicId> ids, long asOf) {
        isAsking = false;
        if (status.recovered(subject)) {
            LOG.log(Level.INFO, "Group {0}: it is known which topics its offsets belong to", group);
        }
        if (asOf != doubts) {
            return; // asked again at once
        }
        asked.forEach((partition, mine) -> {
            if (assigned.get(partition) == mine) {
                decide(mine, ids.get(partition.topic()));
            }
        });
    }

    private void decide(AssignedPartition mine, @Nullable TopicId current) {
        TopicId former = mine.topicId();
        if (current == null) {
            askAt = System.nanoTime() + ASK_AGAIN.toNanos(); // there is no such topic at the moment
        } else if (former != null && current.isOtherTopicThan(former)) {
            mine.dropDoubted();
            starts.restart(mine);
        } else {
            mine.confirm(current);
        }
    }

    /**
     * <b>Remedy.</b> Make Kafka answer the application's admin client: it has the settings of the consumer. The
     * partitions go on by themselves.
     */
    private void failed(Throwable cause) {
        isAsking = false;
        askAt = System.nanoTime() + ASK_AGAIN.toNanos();
        String text = "it is not known yet whether topics were created anew, so new records wait; the receiver asks"
                + " again: " + ErrorText.of(cause);
        if (status.trouble(subject, text)) {
            LOG.log(Level.WARNING, "Group {0}: {1}", group, text);
        }
    }
}
