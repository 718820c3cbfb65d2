package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkReason;
import dev.twinbox.relay.kafka.KafkaLogin;
import dev.twinbox.relay.kafka.Refusal;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * What sessions have learned about records after the saved position, for the next session, which meets them again. A
 * refused record is then parked, in the transaction that moves the position past it. A record that Kafka already has is
 * not sent again. The knowledge ends with the process, and the next process learns it again. The main thread writes
 * between sessions; the session's threads read.
 *
 * <p>It holds no more than what was in flight when a session failed.
 */
final class KnownOutcomes {
    /** So many sessions may end with the same record and a reason that should pass. */
    private static final int MAX_FAILURES = 3;

    private final KafkaLogin login;
    private final Map<Long, ParkReason> reasons = new ConcurrentHashMap<>();
    private final Set<Long> suspects = ConcurrentHashMap.newKeySet();
    private final Set<Long> sent = ConcurrentHashMap.newKeySet();
    private final Map<Long, Integer> failures = new HashMap<>(); // only used by the main thread
    private final Set<TopicPartition> stalled = ConcurrentHashMap.newKeySet();
    private final ClockCheck clock = new ClockCheck();

    /** @param login named in messages about a refusal */
    KnownOutcomes(KafkaLogin login) {
        this.login = login;
    }

    /** Whether refused timestamps are the fault of this process. Only for the main thread. */
    ClockCheck clock() {
        return clock;
    }

    /** Learns from the records that a session could not send. */
    void learn(List<SendFailedException> failed) {
        boolean several = failed.size() > 1;
        for (SendFailedException each : failed) {
            long seq = each.record().seq();
            boolean mayBeInnocent = Refusal.isOfBatch(each.reason()) && several && !suspects.contains(seq);
            if (Refusal.isTimestamp(each.reason())) {
                String topic = each.record().topic();
                stalled.add(new TopicPartition(topic, ParkReason.TOPIC)); // Until a parked event is accepted.
                reasons.put(seq, ParkReason.waitingForTopic(Refusal.describe(each.record(), each.reason(), login)));
            } else if (mayBeInnocent) {
                suspects.add(seq); // Sending it alone shows whether it was the cause.
            } else {
                reasons.put(seq, ParkReason.refused(Refusal.describe(each.record(), each.reason(), login)));
            }
        }
    }

    /**
     * A record was the first to fail, for a reason that should pass. After several such failures the record is parked,
     * since it would block all others.
     */
    void recordFirstFailure(OutboxRecord record, Throwable reason) {
        int times = failures.merge(record.seq(), 1, Integer::sum);
        if (times >= MAX_FAILURES) {
            reasons.put(
                    record.seq(),
                    ParkReason.waitingForTopic(
                            record + " failed " + times + " times in a row, look at the topic: " + reason));
        }
    }

    /** Records after the saved position that Kafka has nevertheless: it acknowledged them before the session ended. */
    void recordSent(List<OutboxRecord> records) {
        for (OutboxRecord record : records) {
            if (record.isAcknowledged()) {
                sent.add(record.seq());
            }
        }
    }

    boolean isSent(long seq) {
        return !sent.isEmpty() && sent.contains(seq);
    }

    /** The database or the lease failed, so rows may differ from those read before. */
    void forgetAll() {
        reasons.clear();
        suspects.clear();
        sent.clear();
        failures.clear();
    }

    void learn(StalledException stall) {
        reasons.putAll(stall.reasons());
        stalled.addAll(stall.partitions());
    }

    @Nullable ParkReason of(long seq) {
        return reasons.isEmpty() ? null : reasons.get(seq);
    }

    /** Whether the record was refused together with others. It must be sent alone to find the cause. */
    boolean isSuspect(long seq) {
        return !suspects.isEmpty() && suspects.contains(seq);
    }

    boolean hasStalled() {
        return !stalled.isEmpty();
    }

    boolean isStalled(TopicPartition partition) {
        return stalled.contains(partition);
    }

    /** Whether the topic refuses all timestamps. */
    boolean isStalled(String topic) {
        return stalled.contains(new TopicPartition(topic, ParkReason.TOPIC));
    }

    /** An event that waited for this partition was sent. */
    void recordMoving(String topic, int partition) {
        stalled.remove(new TopicPartition(topic, partition));
    }

    /** The position was saved after these records. */
    void forget(List<OutboxRecord> records) {
        if (!reasons.isEmpty() || !suspects.isEmpty() || !sent.isEmpty() || !failures.isEmpty()) {
            for (OutboxRecord each : records) {
                reasons.remove(each.seq());
                suspects.remove(each.seq());
                sent.remove(each.seq());
                failures.remove(each.seq());
            }
        }
    }
}
