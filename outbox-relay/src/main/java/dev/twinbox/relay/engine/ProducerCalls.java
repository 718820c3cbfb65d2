package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkReason;
import dev.twinbox.relay.kafka.Refusal;
import dev.twinbox.relay.kafka.Topics;
import java.time.Duration;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Hands records to the producer, one after the other. A record that the producer never takes is parked. A record that
 * it does not take now is retried before any other. No order is broken, since nothing after it has been handed over.
 * Only for the sending thread.
 */
final class ProducerCalls {
    private final Publication publication;
    private final Producer<byte[], byte[]> producer;
    private final AcceptanceCheck admission;
    private final KnownOutcomes known;
    private final Topics topics;
    private final Lease lease;
    private final KafkaOutage outage;
    private final long stallTimeout;
    private @Nullable Exception notTaken;
    private volatile @Nullable OutboxRecord alone;
    private volatile @Nullable Exception refusedAlone;

    /** @param publication has begun */
    ProducerCalls(
            Publication publication,
            AcceptanceCheck admission,
            KnownOutcomes known,
            Topics topics,
            Lease lease,
            KafkaOutage outage,
            Duration stallTimeout) {
        this.publication = publication;
        this.producer = publication.producer();
        this.admission = admission;
        this.known = known;
        this.topics = topics;
        this.lease = lease;
        this.outage = outage;
        this.stallTimeout = stallTimeout.toNanos();
    }

    /**
     * The partition of a record with a key; null without a key, or if its topic does not exist. Waits for Kafka's
     * answer.
     */
    @Nullable TopicPartition partitionOf(OutboxRecord record) throws InterruptedException {
        while (true) {
            try {
                return admission.partitionOf(record);
            } catch (InterruptException e) {
                throw e;
            } catch (KafkaException e) {
                outage.await(record, e);
            }
        }
    }

    /**
     * Called after {@link #partitionOf}, so the topic is known. If it was just forgotten, the number counts as
     * unlimited.
     */
    int partitions(String topic) {
        try {
            return admission.partitions(topic);
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            return Integer.MAX_VALUE;
        }
    }

    /**
     * Returns null when the producer has taken the record, which may fail later. Otherwise returns the reason to park
     * it.
     */
    @Nullable ParkReason place(OutboxRecord record) throws InterruptedException, SendFailedException {
        long begin = 0;
        while (true) {
            try {
                ParkReason objection = admission.objection(record);
                outage.endSessionIfAdmitted();
                if (objection != null) {
                    return objection;
                }
                if (handOver(record)) {
                    return refusalOfAlone(record);
                }
                objection = refusal(record);
                if (objection != null) {
                    return objection;
                }
                begin = begin == 0 ? System.nanoTime() : begin;
                if (System.nanoTime() - begin > stallTimeout) { // Kafka answered each time.
                    return ParkReason.waitingForTopic(record
                            + " was not taken by the producer for a long time, although Kafka answers; look at the topic: "
                            + notTaken);
                }
            } catch (InterruptException e) {
                throw e;
            } catch (KafkaException e) {
                begin = 0;
                outage.await(record, e);
            }
        }
    }

    /**
     * A record that may be refused after it was taken goes alone: nothing else is in flight then, so the answer breaks
     * no order.
     */
    private boolean handOver(OutboxRecord record) throws InterruptedException, SendFailedException {
        if (!mustGoAlone(record)) {
            return send(record);
        }
        producer.flush();
        refusedAlone = null;
        alone = record;
        try {
            boolean taken = send(record);
            producer.flush();
            return taken;
        } finally {
            alone = null;
        }
    }

    /** In a transaction each refusal ends the session, so that going alone helps only to find the cause. */
    private boolean mustGoAlone(OutboxRecord record) {
        return known.isSuspect(record.seq()) || (!publication.isBrokenByRefusal() && admission.mayBeTooLarge(record));
    }

    /** Returns whether the sending thread parks the record, so that the session can go on. For the producer's thread. */
    boolean isParkedBySender(OutboxRecord record, Exception failure) {
        if (!record.equals(alone) || publication.isBrokenByRefusal() || !Refusal.isForGood(failure)) {
            return false;
        }
        refusedAlone = failure;
        return true;
    }

    private @Nullable ParkReason refusalOfAlone(OutboxRecord record) {
        Exception why = refusedAlone;
        if (why == null) {
            return null;
        }
        refusedAlone = null;
        topics.forget(record.topic()); // The topic has changed since it was asked for.
        return admission.refused(record, why);
    }

    /** Returns whether the producer has taken the record. */
    @SuppressWarnings("FutureReturnValueIgnored") // the record is its own callback
    private boolean send(OutboxRecord record) throws InterruptedException, SendFailedException {
        notTaken = null;
        record.handOver(lease.awaitHeld());
        ProducerRecord<byte[], byte[]> routed = admission.routed(record.record());
        try {
            producer.send(routed, record);
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            failIfBroken(record, e);
            throw e;
        }
        return notTaken == null;
    }

    /** The producer calls back from within {@code send()} if it does not take a record. */
    void recordNotTaken(Exception failure) {
        notTaken = failure;
    }

    /** Why the producer will never take the record; null if it only does not take it now. */
    private @Nullable ParkReason refusal(OutboxRecord record) throws SendFailedException, InterruptedException {
        Exception why = notTaken;
        if (why != null) {
            failIfBroken(record, why);
        }
        if (why != null && Refusal.isForGood(why)) {
            return admission.refused(record, why);
        }
        if (!(why instanceof TimeoutException || why instanceof AuthenticationException)) {
            throw SendFailedException.notTaken(
                    record, why == null ? new IllegalStateException("the producer did not take it") : why);
        }
        topics.forget(record.topic()); // The topic may have been deleted.
        outage.recordNotTaken(record, why);
        return null;
    }

    private void failIfBroken(OutboxRecord record, Exception why) throws SendFailedException {
        if (publication.isBrokenByRefusal()) {
            topics.forget(record.topic());
            throw SendFailedException.notTaken(record, why);
        }
    }
}
