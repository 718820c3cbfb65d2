package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.kafka.GroupOffsets;
import dev.twinbox.inbox.kafka.TopicId;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
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
    private final BackgroundQueries inquiries;
    private final GroupOffsets memory;
    private final PartitionStarts starts;
    private final ReceiverStatus status;
    private final String group;
    private final String subject;

    /** A partition in question, and how many of its events waited then. */
    private record Asked(AssignedPartition partition, int events) {}

    /** Counts the reasons for doubt. */
    private long doubts;

    private boolean isAsking;
    private long askAt = System.nanoTime();
    private long doubtAt = System.nanoTime() + INTERVAL.toNanos();

    /** @param assigned the current partitions of this member; changes as partitions come and go */
    TopicIdentity(
            Map<TopicPartition, AssignedPartition> assigned,
            BackgroundQueries inquiries,
            GroupOffsets memory,
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
        List<Asked> asked = new ArrayList<>();
        Set<String> topics = new HashSet<>();
        assigned.forEach((partition, mine) -> {
            if (mine.isInDoubt()) {
                asked.add(new Asked(mine, mine.doubted()));
                topics.add(partition.topic());
            }
        });
        if (!asked.isEmpty()) {
            isAsking = true;
            long asOf = doubts;
            inquiries.ask(() -> memory.topicIds(topics), ids -> answered(asked, ids, asOf), this::failed);
        }
    }

    private void answered(List<Asked> asked, Map<String, TopicId> ids, long asOf) {
        isAsking = false;
        if (status.recovered(subject)) {
            LOG.log(Level.INFO, "Group {0}: it is known which topics its offsets belong to", group);
        }
        for (Asked each : asked) {
            TopicPartition partition = each.partition().partition();
            if (assigned.get(partition) == each.partition()) {
                decide(each, ids.get(partition.topic()), asOf == doubts);
            }
        }
    }

    /**
     * A topic never gets back the id of a former one. So the answer also holds for all that was fetched before it was
     * asked for.
     *
     * @param isLatest whether there was no reason for doubt since
     */
    private void decide(Asked asked, @Nullable TopicId current, boolean isLatest) {
        AssignedPartition mine = asked.partition();
        TopicId former = mine.topicId();
        if (current == null) {
            askAt = System.nanoTime() + ASK_AGAIN.toNanos(); // there is no such topic at the moment
        } else if (former != null && current.isOtherTopicThan(former)) {
            if (mine.suspect(current)) {
                mine.dropDoubted();
                starts.restart(mine);
            } else {
                askAt = System.nanoTime() + ASK_AGAIN.toNanos(); // a broker may be behind the others
            }
        } else if (isLatest) {
            mine.confirmAll(current);
        } else {
            mine.confirm(current, asked.events());
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
