package dev.twinbox.relay;

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
 * Parked events on their way to Kafka: those of a key in order, and after the first that does not get through none of its key.
 * One thread sends; the producer's thread tells what became of it.
 */
final class RedriveBatch implements OutboxRecord.Batch, Priming.Turns {
    private static final Duration CHECK = Duration.ofSeconds(1);

    private final SessionContext session;
    private final StallWatch stalls;
    private final Producer<byte[], byte[]> producer;
    private final Map<Long, Aside> refused = new ConcurrentHashMap<>();
    private final Set<Long> acknowledged = ConcurrentHashMap.newKeySet();
    private final Set<OutboxKey> stopped = new HashSet<>();
    private final Waiter answers;
    private final Thread sending = Thread.currentThread();
    private int unanswered; // guarded by this
    private volatile @Nullable Exception failure;
    private volatile boolean failed;

    RedriveBatch(SessionContext session, Producer<byte[], byte[]> producer, StallWatch stalls) {
        this.session = session;
        this.stalls = stalls;
        this.producer = producer;
        this.answers = new Waiter(session.config().idle());
    }

    /** Sends what can be sent, on the thread that made this object, and waits for the answers. */
    void send(List<ParkedTable.Claimed> rows, Priming priming) throws InterruptedException {
        try {
            priming.place(rows.stream().map(ParkedTable.Claimed::record).toList(), this);
            awaitAnswers();
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException | SendFailedException e) {
            failure = e;
        }
    }

    @Override
    public @Nullable TopicPartition partitionOf(OutboxRecord record) {
        return session.admission().partitionOf(record);
    }

    @Override
    public int partitions(String topic) {
        return session.admission().partitions(topic);
    }

    @Override
    public boolean place(OutboxRecord record) throws InterruptedException {
        OutboxKey key = record.key();
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
            Aside objection = session.admission().obstacle(record);
            if (objection != null) {
                refused.put(record.seq(), objection);
                return false;
            }
            Sender.awaitLease(session.lease());
            record.belongsTo(this);
            count(1);
            producer.send(session.admission().routed(record.record()), record);
            return failure == null && !refused.containsKey(record.seq());
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            failure = e;
            return false;
        }
    }

    private synchronized void count(int change) {
        unanswered += change;
        if (unanswered == 0) {
            answers.wake();
        }
    }

    private synchronized boolean isAnswered() {
        return unanswered == 0;
    }

    /** What has no answer within the stall timeout is given up for now. */
    @Override
    public void awaitAnswers() throws InterruptedException {
        long deadline =
                System.nanoTime() + session.config().parking().stallTimeout().toNanos();
        while (!isAnswered() && failure == null) {
            if (System.nanoTime() - deadline > 0) {
                failure = new TimeoutException(
                        "no answer within " + session.config().parking().stallTimeout());
                return;
            }
            answers.await(CHECK);
            stalls.check();
        }
    }

    @Override
    public void acknowledged(OutboxRecord record) {
        acknowledged.add(record.seq());
        count(-1);
    }

    @Override
    public void failed(OutboxRecord record, Exception why) {
        failed = true;
        if (Refusal.isForGood(why)) {
            refused.put(record.seq(), Aside.refused(Refusal.told(record, why, session.login())));
        }
        boolean notTaken = Thread.currentThread() == sending; // the producer calls back from within send()
        if (!notTaken) {
            producer.close(Duration.ZERO); // nothing of its key may overtake it
        }
        if (!notTaken || !Refusal.isForGood(why)) {
            failure = why;
        }
        count(-1);
        answers.wake();
    }

    /** The numbers of those that Kafka has. */
    List<Long> acknowledged() {
        return new ArrayList<>(acknowledged);
    }

    /** Whether the producer or Kafka failed on any record; what was not even tried does not count. */
    boolean hasFailed() {
        return failed || failure != null;
    }

    @Nullable Aside refusalOf(long number) {
        return refused.get(number);
    }

    /** What says nothing against any record, but makes the producer useless; null if there was nothing. */
    @Nullable Exception failure() {
        return failure;
    }
}
