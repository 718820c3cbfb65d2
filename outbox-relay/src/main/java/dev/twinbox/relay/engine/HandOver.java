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
 * Hands one record after the other to the producer. One that the producer does not even take is parked, if it never will, or
 * tried again before any other: nothing after it has been handed over, so no order is broken. Only for the sending thread.
 */
final class HandOver {
    private final Publication publication;
    private final Producer<byte[], byte[]> producer;
    private final Admission admission;
    private final KnownOutcomes known;
    private final Topics topics;
    private final Lease lease;
    private final KafkaOutage outage;
    private final long stallTimeout;
    private @Nullable Exception notTaken;

    /** @param publication has begun */
    HandOver(
            Publication publication,
            Admission admission,
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

    /** Where a record with a key goes; null without one, or if its topic is not there. Waits for Kafka's answer. */
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

    /** Asked after {@link #partitionOf}, so it is known; if it has just been forgotten it counts as endless. */
    int partitions(String topic) {
        try {
            return admission.partitions(topic);
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            return Integer.MAX_VALUE;
        }
    }

    /** Returns when the producer has taken the record (it may fail later), or with the reason why it is to be parked. */
    @Nullable ParkReason place(OutboxRecord record) throws InterruptedException, SendFailedException {
        long begin = 0;
        while (true) {
            try {
                ParkReason objection = admission.objection(record);
                outage.endSessionIfAdmitted();
                if (objection != null || handOver(record)) {
                    return objection;
                }
                objection = refusal(record);
                if (objection != null) {
                    return objection;
                }
                begin = begin == 0 ? System.nanoTime() : begin;
                if (System.nanoTime() - begin > stallTimeout) { // and Kafka could be asked each time
                    return ParkReason.waitingForTopic(record
                            + " was not taken by the producer for a long time, although Kafka answers; "
                            + "look at the topic: "
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

    private boolean handOver(OutboxRecord record) throws InterruptedException, SendFailedException {
        boolean alone = known.isSuspect(record.seq());
        if (alone) {
            producer.flush();
        }
        boolean taken = send(record);
        if (alone) {
            producer.flush();
        }
        return taken;
    }

    /** Returns whether the producer has taken it. */
    @SuppressWarnings("FutureReturnValueIgnored") // the record is its own callback
    private boolean send(OutboxRecord record) throws InterruptedException, SendFailedException {
        lease.awaitHeld();
        notTaken = null;
        record.handOver(System.nanoTime());
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

    /** The producer calls back from within {@code send()} what it does not take. */
    void recordNotTaken(Exception failure) {
        notTaken = failure;
    }

    /** What the producer would not take: for good, or for now. */
    private @Nullable ParkReason refusal(OutboxRecord record) throws SendFailedException, InterruptedException {
        Exception why = notTaken;
        if (why != null) {
            failIfBroken(record, why);
        }
        if (why != null && Refusal.isForGood(why)) {
            return admission.refused(record, why);
        }
        if (!(why instanceof TimeoutException || why instanceof AuthenticationException)) {
            throw new SendFailedException(record, why == null ? new IllegalStateException("not taken") : why);
        }
        topics.forget(record.topic()); // it may be gone
        outage.recordNotTaken(record, why);
        return null;
    }

    private void failIfBroken(OutboxRecord record, Exception why) throws SendFailedException {
        if (publication.isBrokenByRefusal()) {
            topics.forget(record.topic());
            throw new SendFailedException(record, why);
        }
    }
}
