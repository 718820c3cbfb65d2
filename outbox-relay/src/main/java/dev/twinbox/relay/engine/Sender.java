package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.EventKey;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkReason;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.pause.PausedTopics;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The sending thread. It takes page after page, and hands the records of each to the producer in order, or parks them.
 * A record that fails after the producer has taken it ends the session, unless it was sent alone.
 */
final class Sender implements Runnable, Page.Listener {
    private static final Logger LOG = LoggerFactory.getLogger(Sender.class);

    private final Publication publication;
    private final Producer<byte[], byte[]> producer;
    private final ProducerCalls handOver;
    private final BlockedKeys blockedKeys;
    private final PausedTopics pausedTopics;
    private final KnownOutcomes known;
    private final Failures failures;
    private final Progress progress;
    private final Waiter main;
    private final FirstRecords firstRecords = new FirstRecords();
    private volatile @Nullable Thread sending;

    /**
     * @param publication has begun
     * @param main wakes the main thread
     */
    Sender(
            Publication publication,
            ProducerCalls handOver,
            BlockedKeys blockedKeys,
            PausedTopics pausedTopics,
            KnownOutcomes known,
            Failures failures,
            Progress progress,
            Waiter main) {
        this.publication = publication;
        this.producer = publication.producer();
        this.handOver = handOver;
        this.blockedKeys = blockedKeys;
        this.pausedTopics = pausedTopics;
        this.known = known;
        this.failures = failures;
        this.progress = progress;
        this.main = main;
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
            failures.report(e);
        }
    }

    private void send(Page page) throws InterruptedException, SendFailedException, SQLException {
        long waited = page.begin(this);
        if (page.isEmpty()) { // An empty page ends a window. No record reports that it is done.
            main.wake();
            return;
        }
        progress.recordPart(PagePart.HANDOVER, waited);
        firstRecords.place(page.records(), new PagePlacer(page, blockedKeys.blockedOf(page)));
    }

    /** Places the records of one page. */
    private final class PagePlacer implements FirstRecords.RecordPlacer {
        private final Page page;
        private final Set<EventKey> blocked;

        PagePlacer(Page page, Set<EventKey> blocked) {
            this.page = page;
            this.blocked = blocked;
        }

        @Override
        public @Nullable TopicPartition partitionOf(OutboxRecord record) throws InterruptedException {
            // Kafka is not asked for a topic whose events are parked anyway.
            return pausedTopics.contains(record.topic()) ? null : handOver.partitionOf(record);
        }

        @Override
        public int partitions(String topic) {
            return handOver.partitions(topic);
        }

        @Override
        public boolean place(OutboxRecord record) throws InterruptedException, SendFailedException {
            if (known.isSent(record.seq())) {
                record.onCompletion(null, null);
                return false;
            }
            ParkReason reason = isBlocked(record, blocked) ? ParkReason.behind() : handOver.place(record);
            if (reason != null) {
                park(page, record, reason, blocked);
            }
            if (failures.hasAny()) {
                throw new InterruptedException("the session has failed");
            }
            return reason == null;
        }

        @Override
        public void awaitAnswers() {
            producer.flush();
        }
    }

    private static boolean isBlocked(OutboxRecord record, Set<EventKey> blocked) {
        if (blocked.isEmpty()) {
            return false;
        }
        EventKey key = record.key();
        return key != null && blocked.contains(key);
    }

    private void park(Page page, OutboxRecord record, ParkReason reason, Set<EventKey> blocked) {
        blockedKeys.add(record);
        pausedTopics.recordParked(record);
        EventKey key = record.key();
        if (key != null) {
            blocked.add(key);
        }
        page.park(record, reason);
        if (reason.state() == ParkedState.REFUSED) {
            LOG.warn("Parking for the operator: {}", reason.error()); // the reason names the event
        } else if (reason.state() == ParkedState.WAITING && !reason.isPause()) {
            LOG.warn("Parking {}: {}", record, reason.error());
        }
    }

    @Override
    public void done(Page page) {
        progress.recordPart(PagePart.ANSWER, page.sinceBegin());
        main.wake();
    }

    @Override
    public void failed(OutboxRecord record, Exception failure) {
        if (Thread.currentThread() == sending) {
            handOver.recordNotTaken(failure);
        } else if (!handOver.isParkedBySender(record, failure)) {
            failures.report(new SendFailedException(record, failure));
            // This is the producer's own thread: nothing can be sent between the failure and the close. Later records
            // of this key that wait in the producer would overtake the failed one. Records that are already sent carry
            // sequence numbers that the broker refuses.
            producer.close(Duration.ZERO);
        }
    }
}
