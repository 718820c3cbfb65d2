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
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;

/**
 * Finds partitions that accept nothing although Kafka answers. Their records would stop the position, and with it all
 * other events. This is no outage of all of Kafka: in that case the relay waits, since parking would not help. Nor is
 * it a slow line, on which each partition still gets an answer from time to time.
 */
final class StallWatch {
    /** An answer usually takes milliseconds. After this time it is worth a question. */
    private static final long SLOW = TimeUnit.SECONDS.toNanos(2);

    private final InFlight inFlight;
    private final Topics topics;
    private final AcceptanceCheck admission;
    private final Failures failures;
    private final Progress progress;
    private final long timeout;
    private final long sessionStart = System.nanoTime();
    /** Monotonic time since when Kafka has answered every request; 0: it did not, or was not asked. */
    private long answeringSince;

    /** @param timeout how long a partition may accept nothing */
    StallWatch(
            InFlight inFlight,
            Topics topics,
            AcceptanceCheck admission,
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
     * Must be called about once a second. It reports to the session's failures which records the next session should
     * park. These had no answer for the whole timeout, while Kafka answered during the second half of it. After an
     * outage the producer can recover during this half.
     */
    void check() {
        long now = System.nanoTime();
        if (inFlight.isUnsettledSince(now - Math.min(timeout / 2, SLOW))) {
            checkForTopicsCreatedAnew();
        }
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
            answeringSince = 0; // all of Kafka is unreachable
            progress.recordBrokerFailure(String.valueOf(e.getMessage()));
        }
    }

    /** Its records are sent by a new producer. No record is to blame, and nothing is parked. */
    private void checkForTopicsCreatedAnew() {
        SortedSet<String> createdAnew = new TreeSet<>();
        try {
            for (String topic : unanswered()) {
                topics.fresh(topic);
                if (topics.isCreatedAnewSince(topic, sessionStart)) {
                    createdAnew.add(topic);
                }
            }
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            return; // Kafka is unreachable, or has just deleted the topic.
        }
        if (!createdAnew.isEmpty()) {
            failures.report(new TopicCreatedAnewException(createdAnew));
        }
    }

    private Set<String> unanswered() {
        return inFlight.sentRecords().stream()
                .filter(StallWatch::isUnanswered)
                .map(OutboxRecord::topic)
                .collect(Collectors.toSet());
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

    /**
     * The partition of a record without a key is unknown. It stands still if any partition of its topic cannot be
     * written.
     */
    private @Nullable ParkReason reasonFor(String name, @Nullable TopicPartition partition) {
        Topic topic = topics.of(name);
        String obstacle = topic.obstacle();
        if (obstacle != null) {
            return ParkReason.waitingForTopic(obstacle);
        }
        if (partition != null) {
            return AcceptanceCheck.stalled(partition);
        }
        return topic.unwritable().isEmpty()
                ? null
                : ParkReason.waitingForTopic("partitions " + topic.unwritable() + " of topic \"" + name
                        + "\" cannot be written: check their leaders and in-sync replicas");
    }
}
