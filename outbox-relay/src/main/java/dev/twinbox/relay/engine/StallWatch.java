package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkReason;
import dev.twinbox.relay.kafka.Topic;
import dev.twinbox.relay.kafka.Topics;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Finds partitions that take nothing although Kafka answers: their records would keep the position, and with it everybody,
 * where it is. An outage of all of Kafka is none of these; it is waited out, since nobody would gain anything. Nor is a slow
 * line, which lets every partition wait and has something for each of them now and then.
 */
final class StallWatch {
    private final InFlight inFlight;
    private final Topics topics;
    private final Admission admission;
    private final Failures failures;
    private final Progress progress;
    private final long timeout;
    /** Since when Kafka has answered each time, in monotonic time; 0: it did not, or was not asked. */
    private long answeringSince;

    /** @param timeout how long a partition may take nothing */
    StallWatch(
            InFlight inFlight,
            Topics topics,
            Admission admission,
            Failures failures,
            Progress progress,
            Duration timeout) {
        this.inFlight = inFlight;
        this.topics = topics;
        this.admission = admission;
        this.failures = failures;
        this.progress = progress;
        this.timeout = timeout.toNanos();
    }

    /**
     * To be called about once a second. Reports to the session's failures what the next session should set aside: what has
     * had no answer for the whole time, while Kafka could be asked for the second half of it. Right after an outage the
     * producer gets that half to find its way back.
     */
    void check() {
        long now = System.nanoTime();
        if (!inFlight.isUnsettledSince(now - timeout / 2)) {
            answeringSince = 0;
            return;
        }
        List<OutboxRecord> records = inFlight.sentRecords();
        try {
            for (OutboxRecord record : records) {
                if (isUnanswered(record)) {
                    topics.fresh(record.topic());
                }
            }
            answeringSince = answeringSince == 0 ? now : answeringSince;
            if (now - answeringSince >= timeout / 2) {
                judge(records, now - timeout);
            }
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            answeringSince = 0; // all of Kafka is away
            progress.recordBrokerFailure(String.valueOf(e.getMessage()));
        }
    }

    private static boolean isUnanswered(OutboxRecord record) {
        return record.settledAt() == 0 && record.handedAt() != 0;
    }

    private void judge(List<OutboxRecord> records, long then) {
        Map<Long, ParkReason> reasons = new HashMap<>();
        Set<TopicPartition> stalled = new HashSet<>();
        Set<TopicPartition> moving = moving(records, then);
        for (OutboxRecord record : records) {
            if (isUnanswered(record) && record.handedAt() - then <= 0) {
                TopicPartition partition = admission.partitionOf(record);
                ParkReason reason = moving.contains(partition) ? null : reasonFor(record.topic(), partition);
                if (reason != null) {
                    reasons.put(record.seq(), reason);
                    if (partition != null) {
                        stalled.add(partition);
                    }
                }
            }
        }
        if (!reasons.isEmpty()) {
            failures.report(new StalledException(reasons, stalled));
        }
    }

    private Set<TopicPartition> moving(List<OutboxRecord> records, long then) {
        Set<TopicPartition> moving = new HashSet<>();
        for (OutboxRecord record : records) {
            if (record.settledAt() != 0 && record.settledAt() - then > 0) {
                TopicPartition partition = admission.partitionOf(record);
                if (partition != null) {
                    moving.add(partition);
                }
            }
        }
        return moving;
    }

    /** Of a record without a key nobody knows where it was to go: it stands still if any partition can not be written. */
    private @Nullable ParkReason reasonFor(String name, @Nullable TopicPartition partition) {
        Topic topic = topics.of(name);
        String obstacle = topic.obstacle();
        if (obstacle != null) {
            return ParkReason.waitingForTopic(obstacle);
        }
        if (partition != null) {
            return Admission.standsStill(partition);
        }
        return topic.unwritable().isEmpty()
                ? null
                : ParkReason.waitingForTopic("partitions " + topic.unwritable() + " of topic \"" + name
                        + "\" can not be written: look at their leaders and in-sync replicas");
    }
}
