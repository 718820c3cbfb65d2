package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.EventKey;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkReason;
import dev.twinbox.relay.jdbc.ParkedQueue;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.ParkedTable;
import dev.twinbox.relay.kafka.Refusal;
import dev.twinbox.relay.pause.PausedTopics;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.AuthenticationException;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.TimeoutException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims parked events, sends them as one batch, and settles each outcome. Only for the retry thread. */
final class RetryDelivery {
    private static final Logger LOG = LoggerFactory.getLogger(RetryDelivery.class);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

    /** Then a moment passes before the next producer is opened: perhaps no event is to blame. */
    private static final int MOST_BLAMED_IN_A_ROW = 3;

    private final RelayConfig config;
    private final RetryTransactions transactions;
    private final RetryPublication publication;
    private final AcceptanceCheck admission;
    private final Lease lease;
    private final StallWatch stalls;
    private final Progress progress;
    private final PausedTopics pausedTopics;
    private final RetryPauses pauses = new RetryPauses(FIRST_PAUSE);
    private final Set<Long> suspects = new HashSet<>();
    private int blamedInARow; // events that failed since the last one was sent
    private @Nullable Producer<byte[], byte[]> firstRecordsOf;
    private FirstRecords firstRecords = new FirstRecords();

    RetryDelivery(
            RelayConfig config,
            RetryTransactions transactions,
            RetryPublication publication,
            AcceptanceCheck admission,
            Lease lease,
            StallWatch stalls,
            Progress progress,
            PausedTopics pausedTopics) {
        this.config = config;
        this.transactions = transactions;
        this.publication = publication;
        this.admission = admission;
        this.lease = lease;
        this.stalls = stalls;
        this.progress = progress;
        this.pausedTopics = pausedTopics;
    }

    /** Whether nothing is retried, because Kafka itself has failed. */
    boolean isPaused() {
        return pauses.isEverythingPaused();
    }

    /** Whether a group is not retried now. */
    boolean isPaused(ParkedQueue.WaitedFor group) {
        return pauses.isEverythingPaused()
                || pauses.isTopicPaused(group.topic())
                || pausedTopics.contains(group.topic());
    }

    /** The events and topics that are not retried now. */
    ParkedQueue.Paused paused() {
        ParkedQueue.Paused failed = pauses.paused();
        List<String> topics = new ArrayList<>(failed.topics());
        topics.addAll(pausedTopics.topics().keySet());
        return new ParkedQueue.Paused(failed.events(), topics);
    }

    /** Events of topics that an operator has paused wait. Returns whether there may be more to do at once. */
    boolean setAsideReady() throws SQLException, LeaseLostException {
        Set<String> topics = pausedTopics.topics().keySet();
        return !topics.isEmpty() && transactions.setAside(topics) > 0;
    }

    /**
     * Whether the topic or partition that a group waits for is available now. Pauses everything if Kafka does not
     * answer.
     */
    boolean isThere(ParkedQueue.WaitedFor group) {
        try {
            return admission.isThere(group);
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            pauses.pauseEverything();
            return false;
        }
    }

    /** Returns whether there may be more to do at once: an event was sent, refused, or is to blame and paused. */
    boolean deliver(List<ParkedQueue.Candidate> candidates, ParkedQueue.WaitedFor group)
            throws SQLException, LeaseLostException, InterruptedException {
        List<ParkedQueue.Candidate> chosen = choose(candidates);
        if (chosen.isEmpty()) {
            return false;
        }
        Producer<byte[], byte[]> producer = producer(); // Opening it takes a while. A topic may be paused by now.
        chosen.removeIf(each -> isOfPausedTopic(each.key()));
        if (chosen.isEmpty()) {
            return false;
        }
        List<ParkedQueue.Claimed> claimed = transactions.underLease(table -> publication.claim(table, chosen));
        RetryBatch batch = new RetryBatch(producer, admission, lease, stalls, config);
        publication.begin();
        batch.send(claimed, firstRecords);
        Exception failure = batch.failure();
        boolean blamed = false;
        if (failure != null) {
            LOG.warn("Sending parked events failed, trying again later: {}", String.valueOf(failure));
            blamed = pause(failure, batch);
            uninterrupted(publication::abandon);
        }
        chosen.forEach(each -> suspects.remove(each.number()));
        suspects.addAll(batch.suspects());
        return settle(claimed, chosen, batch, group)
                || blamed
                || !batch.suspects().isEmpty();
    }

    private boolean isOfPausedTopic(@Nullable EventKey key) {
        return key != null && pausedTopics.contains(key.topic());
    }

    /**
     * Pauses what has failed; returns whether the others may be sent at once. An event that was refused is parked and
     * needs no pause.
     */
    private boolean pause(Exception failure, RetryBatch batch) {
        OutboxRecord culprit = batch.culprit();
        Set<String> silent = new HashSet<>(batch.unansweredTopics());
        if (Refusal.isForGood(failure)) {
            return false;
        }
        if (failure instanceof TimeoutException && culprit != null) {
            silent.add(culprit.topic());
        }
        if (failure instanceof TimeoutException && !silent.isEmpty()) {
            silent.forEach(pauses::pauseTopic);
            return false;
        }
        if (culprit == null || failure instanceof AuthenticationException) {
            pauses.pauseEverything();
            return false;
        }
        pauses.pauseEvent(culprit.seq());
        blamedInARow++;
        return blamedInARow <= MOST_BLAMED_IN_A_ROW;
    }

    void closeProducer() {
        uninterrupted(publication::closeProducer);
    }

    /**
     * Chooses rows within the size limit of a page. After a row that must not be sent, no row of its key is chosen. A
     * row that was refused together with others is chosen alone.
     */
    private List<ParkedQueue.Candidate> choose(List<ParkedQueue.Candidate> candidates) {
        List<ParkedQueue.Candidate> chosen = new ArrayList<>();
        Set<EventKey> started = new HashSet<>();
        Set<EventKey> stopped = new HashSet<>();
        long bytes = 0;
        for (ParkedQueue.Candidate candidate : candidates) {
            EventKey key = candidate.key();
            if (candidate.state() == ParkedState.DISCARDED || (key != null && stopped.contains(key))) {
                continue;
            }
            boolean first = key == null || started.add(key);
            if (!first && candidate.state() != ParkedState.BEHIND && candidate.state() != ParkedState.READY) {
                stopped.add(key);
                continue;
            }
            bytes += candidate.bytes();
            boolean alone = suspects.contains(candidate.number());
            if ((alone || bytes > config.page().bytes()) && !chosen.isEmpty()) {
                break;
            }
            chosen.add(candidate);
            if (alone) {
                break;
            }
        }
        return chosen;
    }

    private boolean settle(
            List<ParkedQueue.Claimed> claimed,
            List<ParkedQueue.Candidate> chosen,
            RetryBatch batch,
            ParkedQueue.WaitedFor group)
            throws SQLException, LeaseLostException {
        List<Long> sent = publication.sent(batch);
        List<ParkedTable.Entry> back = unsent(claimed, new HashSet<>(sent), waiting(chosen), batch, group);
        publication.commit(
                sent,
                () -> transactions.underLease(table -> {
                    table.putBack(back);
                    return back.size();
                }));
        transactions.underLease(table -> {
            table.delete(sent);
            table.putBack(back);
            table.promote(keys(claimed));
            return sent.size();
        });
        endPauses(claimed, new HashSet<>(sent));
        report(sent.size(), back, group);
        return !sent.isEmpty() || back.stream().anyMatch(RetryDelivery::isRefused);
    }

    private void endPauses(List<ParkedQueue.Claimed> claimed, Set<Long> sent) {
        for (ParkedQueue.Claimed row : claimed) {
            if (sent.contains(row.record().seq())) {
                blamedInARow = 0;
                pauses.end(row.record().seq(), row.record().topic());
            }
        }
    }

    /** The numbers of the rows that were waiting. */
    private static Set<Long> waiting(List<ParkedQueue.Candidate> chosen) {
        Set<Long> waiting = new HashSet<>();
        for (ParkedQueue.Candidate candidate : chosen) {
            if (candidate.state() == ParkedState.WAITING) {
                waiting.add(candidate.number());
            }
        }
        return waiting;
    }

    private static Set<EventKey> keys(List<ParkedQueue.Claimed> claimed) {
        Set<EventKey> keys = new HashSet<>();
        for (ParkedQueue.Claimed row : claimed) {
            EventKey key = row.record().key();
            if (key != null) {
                keys.add(key);
            }
        }
        return keys;
    }

    /** The rows that Kafka does not have, each with the reason to park it again. */
    private static List<ParkedTable.Entry> unsent(
            List<ParkedQueue.Claimed> claimed,
            Set<Long> sent,
            Set<Long> waiting,
            RetryBatch batch,
            ParkedQueue.WaitedFor group) {
        List<ParkedTable.Entry> unsent = new ArrayList<>();
        for (ParkedQueue.Claimed row : claimed) {
            OutboxRecord record = row.record();
            if (!sent.contains(record.seq())) {
                ParkReason refusal = batch.refusalOf(record.seq());
                unsent.add(new ParkedTable.Entry(
                        record, refusal != null ? refusal : previousState(record, waiting, group)));
            }
        }
        return unsent;
    }

    /** Rows that were not tried keep their state. Promoting finds the first row of each key. */
    private static ParkReason previousState(OutboxRecord record, Set<Long> waiting, ParkedQueue.WaitedFor group) {
        if (waiting.contains(record.seq())) {
            return new ParkReason(ParkedState.WAITING, group.partition(), null);
        }
        return record.key() == null ? new ParkReason(ParkedState.READY, ParkReason.TOPIC, null) : ParkReason.behind();
    }

    private static boolean isRefused(ParkedTable.Entry entry) {
        return entry.reason().state() == ParkedState.REFUSED;
    }

    private void report(int sent, List<ParkedTable.Entry> back, ParkedQueue.WaitedFor group) {
        progress.recordRetried(sent);
        if (sent > 0) {
            LOG.debug("Sent {} parked events", sent);
            admission.recordMoving(group);
        }
        for (ParkedTable.Entry entry : back) {
            String error = entry.reason().error();
            if (error != null && !entry.reason().isPause()) {
                LOG.warn("Parked again: {}", error);
            }
        }
    }

    private Producer<byte[], byte[]> producer() {
        Producer<byte[], byte[]> present = publication.producer();
        if (present != firstRecordsOf) {
            firstRecordsOf = present;
            firstRecords = new FirstRecords();
        }
        return present;
    }

    private static void uninterrupted(Runnable closing) {
        boolean interrupted = Thread.interrupted(); // Otherwise the client would not wait for the end of its thread.
        try {
            closing.run();
        } catch (InterruptException e) {
            interrupted = true; // Interrupted during close; the client's thread ends by itself.
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
