package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.EventKey;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkReason;
import dev.twinbox.relay.jdbc.ParkedQueue;
import dev.twinbox.relay.kafka.Refusal;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Parked events on their way to Kafka. The events of a key are sent in order, and the first that fails stops its key.
 * One thread sends; the producer's thread reports the outcomes.
 */
final class RetryBatch implements OutboxRecord.Batch, FirstRecords.RecordPlacer {
    private static final Duration CHECK = Duration.ofSeconds(1);

    private final Producer<byte[], byte[]> producer;
    private final AcceptanceCheck admission;
    private final Lease lease;
    private final StallWatch stalls;
    private final Duration stallTimeout;
    private final Map<Long, ParkReason> refused = new ConcurrentHashMap<>();
    private final Set<Long> acknowledged = ConcurrentHashMap.newKeySet();
    /** Events that Kafka has refused without saying which one of their batch is the cause. */
    private final Set<Long> refusedTogether = ConcurrentHashMap.newKeySet();

    private final Set<EventKey> stopped = new HashSet<>();
    private final Waiter answers;
    private final Thread sending = Thread.currentThread();
    private final Map<Long, String> unanswered = new ConcurrentHashMap<>(); // topics by number
    private volatile @Nullable Exception failure;
    private volatile @Nullable OutboxRecord culprit;
    private volatile boolean failed;

    /** Why the producer has not taken an event that it will never take; null if there was none. */
    private volatile @Nullable Exception notTakenBecause;

    RetryBatch(
            Producer<byte[], byte[]> producer,
            AcceptanceCheck admission,
            Lease lease,
            StallWatch stalls,
            RelayConfig config) {
        this.producer = producer;
        this.admission = admission;
        this.lease = lease;
        this.stalls = stalls;
        this.stallTimeout = config.parking().stallTimeout();
        this.answers = new Waiter(config.idle());
    }

    /** Sends the rows on the thread that made this object, and waits for the answers. */
    void send(List<ParkedQueue.Claimed> rows, FirstRecords firstRecords) throws InterruptedException {
        try {
            firstRecords.place(rows.stream().map(ParkedQueue.Claimed::record).toList(), this);
            awaitAnswers();
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException | SendFailedException e) {
            fail(e, null);
        }
    }

    /** The first failure counts. It closes the producer, and all that follow are its consequences. */
    private synchronized void fail(Exception why, @Nullable OutboxRecord record) {
        if (failure == null) {
            culprit = record;
            failure = why;
        }
    }

    @Override
    public @Nullable TopicPartition partitionOf(OutboxRecord record) {
        return admission.partitionOf(record);
    }

    @Override
    public int partitions(String topic) {
        return admission.partitions(topic);
    }

    @Override
    public boolean place(OutboxRecord record) throws InterruptedException {
        EventKey key = record.key();
        if (failure != null || (key != null && stopped.contains(key))) {
            return false;
        }
        boolean handedOver = handOver(record);
        if (!handedOver && key != null) {
            stopped.add(key);
        }
        return handedOver;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the record is its own callback
    private boolean handOver(OutboxRecord record) throws InterruptedException {
        try {
            ParkReason objection = admission.obstacle(record);
            if (objection != null) {
                refused.put(record.seq(), objection);
                return false;
            }
            lease.awaitHeld();
            record.setBatch(this);
            unanswered.put(record.seq(), record.topic());
            producer.send(admission.routed(record.record()), record);
            return failure == null && !refused.containsKey(record.seq());
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            fail(e, null);
            return false;
        }
    }

    private void answered(OutboxRecord record) {
        unanswered.remove(record.seq());
        if (unanswered.isEmpty()) {
            answers.wake();
        }
    }

    /** A record without an answer within the stall timeout is given up for now. */
    @Override
    public void awaitAnswers() throws InterruptedException {
        long deadline = System.nanoTime() + stallTimeout.toNanos();
        while (!unanswered.isEmpty() && failure == null) {
            if (System.nanoTime() - deadline > 0) {
                fail(new TimeoutException("no answer within " + stallTimeout), null);
                return;
            }
            answers.await(CHECK);
            stalls.check();
        }
    }

    @Override
    public void acknowledged(OutboxRecord record) {
        acknowledged.add(record.seq());
        answered(record);
    }

    @Override
    public void failed(OutboxRecord record, Exception why) {
        failed = true;
        boolean notTaken = Thread.currentThread() == sending; // The producer calls back from within send().
        if (notTaken && Refusal.isForGood(why)) {
            notTakenBecause = why;
        }
        if (Refusal.isForGood(why) && (notTaken || !isConsequence(why))) {
            refused.put(record.seq(), admission.refused(record, why));
            if (Refusal.isOfBatch(why)) {
                refusedTogether.add(record.seq());
            }
        }
        if (!notTaken || !Refusal.isForGood(why)) {
            fail(why, record);
        }
        if (!notTaken) {
            producer.close(Duration.ZERO); // No later record of its key may overtake it.
        }
        answered(record);
        answers.wake();
    }

    private boolean isConsequence(Exception why) {
        Exception refusal = notTakenBecause;
        return refusal != null && Refusal.isConsequence(refusal, why);
    }

    /** The numbers of the acknowledged records. */
    List<Long> acknowledged() {
        return new ArrayList<>(acknowledged);
    }

    /** Whether the producer or Kafka failed on a record. Records that were not tried do not count. */
    boolean hasFailed() {
        return failed || failure != null;
    }

    @Nullable ParkReason refusalOf(long number) {
        return suspects().contains(number) ? null : refused.get(number);
    }

    /** Events that were refused together. Sending each one alone shows which of them is the cause. */
    Set<Long> suspects() {
        return refusedTogether.size() > 1 ? refusedTogether : Set.of();
    }

    /** A failure that makes the producer unusable; null if there was none. */
    @Nullable Exception failure() {
        return failure;
    }

    /** The event that failed first; null if the failure concerns no single event. */
    @Nullable OutboxRecord culprit() {
        return culprit;
    }

    /** The topics of the events that got no answer. */
    Set<String> unansweredTopics() {
        return Set.copyOf(unanswered.values());
    }
}
