package dev.twinbox.relay;

import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sending thread: hands records to the producer in order, or sets them aside. One that the producer does not even take is
 * set aside, if it never will, or tried again before any other: nothing behind it has been handed over, so no order is broken.
 * Any other failure ends the session.
 */
final class Sender implements Runnable, Page.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(Sender.class);
    private static final long LEASE_CHECK = TimeUnit.MILLISECONDS.toNanos(10);

    private final SessionContext session;
    private final Publication publication;
    private final Producer<byte[], byte[]> producer;
    private final Waiter retry;
    private final long stallTimeout;
    private final Priming priming;
    private volatile @Nullable Thread sending;
    private @Nullable Exception notTaken; // written and read by the sending thread
    private @Nullable ParkedTable lookup; // the same
    private boolean refused; // the same: Kafka does not let the relay in

    Sender(SessionContext session, Publication publication) {
        this.session = session;
        this.publication = publication;
        this.producer = publication.producer();
        this.retry = new Waiter(session.config().idle());
        this.stallTimeout = session.config().parking().stallTimeout().toNanos();
        this.priming = new Priming();
    }

    @Override
    public void run() {
        sending = Thread.currentThread();
        try {
            for (Page page = publication.next(); page != null; page = publication.next()) {
                send(page);
            }
        } catch (InterruptedException | InterruptException e) {
            Thread.currentThread().interrupt();
        } catch (Exception | Error e) {
            session.failures().report(e);
        }
    }

    private void send(Page page) throws InterruptedException, SendFailedException, SQLException {
        page.report(this);
        Set<OutboxKey> blocked = blockedOf(page);
        priming.place(page.records(), new Turns(page, blocked));
        if (page.isEmpty()) { // the end of a window; no record will say that it is done
            session.main().wake();
        }
    }

    /** The records of one page, one after the other. */
    private final class Turns implements Priming.Turns {
        private final Page page;
        private final Set<OutboxKey> blocked;

        Turns(Page page, Set<OutboxKey> blocked) {
            this.page = page;
            this.blocked = blocked;
        }

        @Override
        public @Nullable TopicPartition partitionOf(OutboxRecord record) throws InterruptedException {
            while (true) {
                try {
                    return session.admission().partitionOf(record);
                } catch (InterruptException e) {
                    throw e;
                } catch (KafkaException e) {
                    awaitKafka(record, e);
                }
            }
        }

        /** Asked after {@link #partitionOf}, so it is known; if it has just been forgotten it counts as endless. */
        @Override
        public int partitions(String topic) {
            try {
                return session.admission().partitions(topic);
            } catch (InterruptException e) {
                throw e;
            } catch (KafkaException e) {
                return Integer.MAX_VALUE;
            }
        }

        @Override
        public boolean place(OutboxRecord record) throws InterruptedException, SendFailedException {
            if (session.verdicts().isSent(record.seq())) {
                record.onCompletion(null, null);
                return false;
            }
            Aside aside = isBlocked(record, blocked) ? Aside.behind() : Sender.this.place(record);
            if (aside != null) {
                setAside(page, record, aside, blocked);
            }
            if (session.failures().any()) {
                throw new InterruptedException("the session has failed");
            }
            return aside == null;
        }

        @Override
        public void awaitAnswers() {
            producer.flush();
        }
    }

    private Set<OutboxKey> blockedOf(Page page) throws SQLException {
        if (!session.parking().any()) {
            return new HashSet<>();
        }
        ParkedTable table = lookup;
        if (table == null) {
            table = session.openParked();
            lookup = table;
        }
        return session.parking().blockedOf(page, table);
    }

    private static boolean isBlocked(OutboxRecord record, Set<OutboxKey> blocked) {
        if (blocked.isEmpty()) {
            return false;
        }
        OutboxKey key = record.key();
        return key != null && blocked.contains(key);
    }

    private void setAside(Page page, OutboxRecord record, Aside aside, Set<OutboxKey> blocked) {
        session.parking().add(record);
        OutboxKey key = record.key();
        if (key != null) {
            blocked.add(key);
        }
        page.setAside(record, aside);
        if (aside.state() == ParkedState.REFUSED) {
            LOG.warn("Setting aside for a person: {}", aside.error()); // it names the event
        } else if (aside.state() == ParkedState.WAITING) {
            LOG.warn("Setting aside {}: {}", record, aside.error());
        }
    }

    /** Returns when the producer has taken the record (it may fail later), or with the reason why it is set aside. */
    private @Nullable Aside place(OutboxRecord record) throws InterruptedException, SendFailedException {
        long begin = 0;
        while (true) {
            try {
                Aside objection = objection(record);
                if (refused) { // and now it is not
                    session.failures().report(session.login().admitted());
                    throw new InterruptedException("the session needs a new producer");
                }
                if (objection != null || handOver(record)) {
                    return objection;
                }
                objection = refusal(record);
                if (objection != null) {
                    return objection;
                }
                begin = begin == 0 ? System.nanoTime() : begin;
                if (System.nanoTime() - begin > stallTimeout) { // and Kafka could be asked each time
                    return Aside.waitingForTopic(
                            record + " was not taken by the producer for a long time, although Kafka " + "answers: "
                                    + notTaken);
                }
            } catch (InterruptException e) {
                throw e;
            } catch (KafkaException e) {
                begin = 0;
                awaitKafka(record, e);
            }
        }
    }

    private @Nullable Aside objection(OutboxRecord record) {
        Aside learned = session.verdicts().of(record.seq());
        return learned != null ? learned : session.admission().objection(record);
    }

    private boolean handOver(OutboxRecord record) throws InterruptedException, SendFailedException {
        boolean alone = session.verdicts().isSuspect(record.seq());
        if (alone) {
            producer.flush();
        }
        boolean taken = taken(record);
        if (alone) {
            producer.flush();
        }
        return taken;
    }

    @SuppressWarnings("FutureReturnValueIgnored") // the record is its own callback
    private boolean taken(OutboxRecord record) throws InterruptedException, SendFailedException {
        awaitLease(session.lease());
        notTaken = null;
        record.handOver(System.nanoTime());
        ProducerRecord<byte[], byte[]> routed = session.admission().routed(record.record());
        try {
            producer.send(routed, record);
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            publication.notTaken(record, e);
            throw e;
        }
        return notTaken == null;
    }

    /** While it is not sure the main thread is renewing it, or finds that it is lost and interrupts us. */
    static void awaitLease(Lease lease) throws InterruptedException {
        while (!lease.isHeld()) {
            LockSupport.parkNanos(LEASE_CHECK);
            if (Thread.interrupted()) {
                throw new InterruptedException("the lease is lost");
            }
        }
    }

    /** What the producer would not take: for good, or for now. It has already waited its {@code max.block.ms}. */
    private @Nullable Aside refusal(OutboxRecord record) throws SendFailedException, InterruptedException {
        Exception why = notTaken;
        if (why != null) {
            publication.notTaken(record, why);
        }
        if (why != null && Refusal.isForGood(why)) {
            return Aside.refused(Refusal.told(record, why, session.login()));
        }
        if (!(why instanceof TimeoutException || why instanceof AuthenticationException)) {
            throw new SendFailedException(record, why == null ? new IllegalStateException("not taken") : why);
        }
        refused |= why instanceof AuthenticationException;
        session.topics().forget(record.topic()); // it may be gone
        tellWaiting(record, String.valueOf(why.getMessage()));
        return null;
    }

    private void awaitKafka(OutboxRecord record, KafkaException reason) throws InterruptedException {
        refused |= reason.getCause() instanceof AuthenticationException;
        tellWaiting(record, String.valueOf(reason.getMessage()));
        retry.await(session.config().retry());
    }

    private void tellWaiting(OutboxRecord record, String reason) throws InterruptedException {
        if (session.failures().any() || Thread.interrupted()) {
            throw new InterruptedException("the session has failed");
        }
        session.progress().brokerFailed(reason);
        LOG.warn("Waiting to send {}: {}", record, reason);
    }

    @Override
    public void done(Page page) {
        session.main().wake();
    }

    @Override
    public void failed(OutboxRecord record, Exception failure) {
        if (Thread.currentThread() == sending) {
            notTaken = failure; // the producer calls back from within send() what it does not take
        } else {
            session.failures().report(new SendFailedException(record, failure));
            // Here, on the producer's own thread, nothing can be sent between the failure and the end: a later record
            // of this key that is still waiting in the producer would overtake it. Those already under way carry
            // sequence numbers that the broker refuses.
            producer.close(Duration.ZERO);
        }
    }
}
