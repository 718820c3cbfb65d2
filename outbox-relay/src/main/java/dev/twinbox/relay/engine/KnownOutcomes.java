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
 * What sessions have learned about records that are not yet behind the saved position, for the session that meets them again:
 * a record that Kafka refused is set aside then, in the transaction that moves the position behind it, and one that Kafka has
 * is not sent again. Lost with the process;
 * the next one learns it anew. The main thread writes between sessions, the session's threads read.
 *
 * <p>Holds no more than what was in flight when a session failed.
 */
final class KnownOutcomes {
    /** So many sessions may end with the same record, for a reason that should pass. */
    private static final int PATIENCE = 3;

    private final KafkaLogin login;
    private final Map<Long, ParkReason> reasons = new ConcurrentHashMap<>();
    private final Set<Long> suspects = ConcurrentHashMap.newKeySet();
    private final Set<Long> sent = ConcurrentHashMap.newKeySet();
    private final Map<Long, Integer> failures = new HashMap<>(); // of the main thread alone
    private final Set<TopicPartition> stalled = ConcurrentHashMap.newKeySet();

    /** @param login for a person who reads why something was refused */
    KnownOutcomes(KafkaLogin login) {
        this.login = login;
    }

    /** What became of the records that a session could not send. */
    void learn(List<SendFailedException> failed) {
        boolean several = failed.size() > 1;
        for (SendFailedException each : failed) {
            long seq = each.record().seq();
            boolean mayBeInnocent = Refusal.isOfBatch(each.reason()) && several && !suspects.contains(seq);
            if (mayBeInnocent) {
                suspects.add(seq); // sent alone it shows who was meant
            } else {
                reasons.put(seq, ParkReason.refused(Refusal.told(each.record(), each.reason(), login)));
            }
        }
    }

    /**
     * A record was the first to fail, for a reason that should pass. If that happens again and again it is set aside, too: it
     * would hold up all others.
     */
    void recordFirstFailure(OutboxRecord record, Throwable reason) {
        int times = failures.merge(record.seq(), 1, Integer::sum);
        if (times >= PATIENCE) {
            reasons.put(
                    record.seq(),
                    ParkReason.waitingForTopic(
                            record + " failed " + times + " times in a row, look at the topic: " + reason));
        }
    }

    /** Records behind the saved position that Kafka has all the same: it took them before their session ended. */
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

    /** The database or the lease failed: what was read before may not be what is there now. */
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

    /** Whether the record was refused together with others, and must be sent alone to know whether it was meant. */
    boolean isSuspect(long seq) {
        return !suspects.isEmpty() && suspects.contains(seq);
    }

    boolean hasStalled() {
        return !stalled.isEmpty();
    }

    boolean isStalled(TopicPartition partition) {
        return stalled.contains(partition);
    }

    /** An event that waited for it got through. */
    void recordMoving(String topic, int partition) {
        stalled.remove(new TopicPartition(topic, partition));
    }

    /** The saved position is behind these records. */
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
