package dev.twinbox.relay.resend;

import dev.twinbox.relay.jdbc.EventKey;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.kafka.Refusal;
import dev.twinbox.relay.kafka.Topic;
import dev.twinbox.relay.kafka.Topics;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;

/**
 * Sends pages of events in order, with a producer of its own, and waits for the answers. The first record of each
 * partition is waited for: a broker that does not know the producer takes any sequence number, so a later record could
 * overtake a refused one. After a failure the page is to be sent again. One thread sends; the producer's thread reports.
 */
final class ResendSender {
    private final Supplier<Producer<byte[], byte[]>> producers;
    private final Topics topics;
    private final HeldLease lease;
    private final long answerNanos;
    private final Set<TopicPartition> known = new HashSet<>();
    private final Set<String> asked = new HashSet<>();
    private final Map<Long, String> refused = new HashMap<>(); // by number
    /** Acknowledged events of a page that is sent again: a partition may fail for hours, and the others are not to blame. */
    private final Set<Long> done = new HashSet<>();

    private @Nullable Producer<byte[], byte[]> producer;
    /** Kafka has refused some events together. Sent one by one, they show which of them is the cause. */
    private boolean isOneByOne;

    /** @param answer a record without an answer for this long makes the page fail */
    ResendSender(Supplier<Producer<byte[], byte[]>> producers, Topics topics, HeldLease lease, Duration answer) {
        this.producers = producers;
        this.topics = topics;
        this.lease = lease;
        this.answerNanos = answer.toNanos();
    }

    /**
     * Sends a page; returns null if each event is acknowledged or refused, and otherwise why the page must be sent again.
     *
     * @throws JobFailedException if a topic takes nothing of the job; then nothing of the page is sent
     * @throws org.apache.kafka.common.KafkaException if Kafka must be asked and does not answer
     */
    @Nullable Exception send(List<OutboxRecord> records, ResendJob job) throws InterruptedException, JobFailedException {
        if (records.isEmpty()) {
            return null;
        }
        Map<String, Topic> ofPage = new HashMap<>();
        for (OutboxRecord record : records) {
            if (!ofPage.containsKey(record.topic()) && record.fault() == null) {
                ofPage.put(record.topic(), checked(record.topic(), job));
            }
        }
        Answers answers = new Answers(producer());
        try {
            hand(records, ofPage, answers);
            answers.await();
        } catch (IllegalStateException e) {
            if (answers.failure() == null) {
                throw e;
            } // Otherwise the producer's thread has closed the producer in between.
        } finally {
            done.addAll(answers.acknowledged());
            refused.putAll(answers.refused());
        }
        Exception why = answers.failure();
        isOneByOne = why != null && (isOneByOne || answers.areSuspects());
        if (why == null) {
            done.clear();
        } else {
            close();
        }
        return why;
    }

    private void hand(List<OutboxRecord> records, Map<String, Topic> ofPage, Answers answers)
            throws InterruptedException {
        Set<EventKey> repeated = new HashSet<>(); // Their later events follow, acknowledged or not.
        for (OutboxRecord record : records) {
            Topic topic = ofPage.get(record.topic());
            String fault = fault(record, topic);
            EventKey key = record.key();
            boolean isDone = done.contains(record.seq()) && (key == null || !repeated.contains(key));
            if (fault != null) {
                refused.putIfAbsent(record.seq(), fault);
            } else if (topic != null && !isDone && !refused.containsKey(record.seq())) {
                if (key != null) {
                    repeated.add(key);
                }
                hand(record, topic, answers);
            }
            if (answers.failure() != null) {
                return;
            }
        }
    }

    private Topic checked(String name, ResendJob job) throws JobFailedException {
        if (asked.add(name)) {
            topics.forget(name); // The answer of a moment ago may be too old for a job that has just begun.
        }
        Topic topic = topics.fresh(name);
        String refusal = ResendRules.refusal(job.range(), name, topic);
        if (refusal == null
                && topic.needsKey() == Topic.Key.REQUIRED
                && !job.held().contains(name)) {
            refusal = "topic \"" + name + "\" is compacted now: request the job again";
        }
        if (refusal != null) {
            throw new JobFailedException(refusal);
        }
        return topic;
    }

    private static @Nullable String fault(OutboxRecord record, @Nullable Topic topic) {
        boolean lacksKey = topic != null && topic.needsKey() == Topic.Key.REQUIRED && record.key() == null;
        return lacksKey ? record + " has no key, but its topic is compacted" : record.fault();
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the record is its own callback
    private void hand(OutboxRecord record, Topic topic, Answers answers) throws InterruptedException {
        lease.awaitHeld();
        answers.expect(record);
        producer().send(record.record(), record);
        byte[] key = record.record().key();
        TopicPartition partition = key == null ? null : new TopicPartition(record.topic(), topic.partitionOf(key));
        boolean isFirst = partition != null && !known.contains(partition);
        if (isFirst || isOneByOne) {
            answers.await();
        }
        if (isFirst && partition != null && record.isAcknowledged()) {
            known.add(partition);
        }
    }

    private Producer<byte[], byte[]> producer() {
        Producer<byte[], byte[]> present = producer;
        if (present == null) {
            present = producers.get();
            producer = present;
        }
        return present;
    }

    /** The refusals since the last call, by number. */
    Map<Long, String> takeRefused() {
        Map<Long, String> taken = Map.copyOf(refused);
        refused.clear();
        return taken;
    }

    /** The next page is one of another job. */
    void endJob() {
        done.clear();
        refused.clear();
        isOneByOne = false;
        close();
    }

    /** Closes the producer. What was sent without an answer may have arrived. */
    void close() {
        Producer<byte[], byte[]> present = producer;
        producer = null;
        known.clear();
        asked.clear();
        if (present != null) {
            boolean isInterrupted =
                    Thread.interrupted(); // Otherwise the client would not wait for the end of its thread.
            try {
                present.close(Duration.ZERO);
            } catch (InterruptException e) {
                isInterrupted = true;
            }
            if (isInterrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** The answers to one page. Answers that come after the end of a page concern nobody. */
    private final class Answers implements OutboxRecord.Batch {
        private final Producer<byte[], byte[]> asked;
        private final Thread sending = Thread.currentThread();
        private final boolean isAlone = isOneByOne;
        private final Map<Long, String> refusals = new HashMap<>(); // guarded by this
        private final Set<Long> acknowledged = new HashSet<>(); // guarded by this
        private int unanswered; // guarded by this
        private @Nullable Exception failure; // guarded by this
        private boolean areSuspects; // guarded by this

        private Answers(Producer<byte[], byte[]> asked) {
            this.asked = asked;
        }

        private synchronized void expect(OutboxRecord record) {
            record.setBatch(this);
            unanswered++;
        }

        private synchronized void await() throws InterruptedException {
            long begin = System.nanoTime();
            while (unanswered > 0 && failure == null) {
                long left = answerNanos - (System.nanoTime() - begin);
                if (left <= 0) {
                    failure = new TimeoutException("no answer within " + Duration.ofNanos(answerNanos));
                } else {
                    wait(Math.max(1, TimeUnit.NANOSECONDS.toMillis(left)));
                }
            }
        }

        @Override
        public synchronized void acknowledged(OutboxRecord record) {
            unanswered--;
            acknowledged.add(record.seq());
            notifyAll();
        }

        @Override
        public void failed(OutboxRecord record, Exception why) {
            boolean isNotTaken = Thread.currentThread() == sending; // The producer calls back from within send().
            boolean isForGood = Refusal.isForGood(why);
            synchronized (this) {
                unanswered--;
                if (isForGood && Refusal.isOfBatch(why) && !isAlone) {
                    areSuspects = true;
                } else if (isForGood) {
                    refusals.put(record.seq(), Refusal.describe(record, why, topics.login()));
                }
                if (failure == null && !(isNotTaken && isForGood)) {
                    failure = why;
                }
                notifyAll();
            }
            if (!isNotTaken) {
                asked.close(Duration.ZERO); // No later record of its key may overtake it.
            }
        }

        private synchronized @Nullable Exception failure() {
            return failure;
        }

        private synchronized Set<Long> acknowledged() {
            return Set.copyOf(acknowledged);
        }

        private synchronized Map<Long, String> refused() {
            return Map.copyOf(refusals);
        }

        private synchronized boolean areSuspects() {
            return areSuspects;
        }
    }
}
