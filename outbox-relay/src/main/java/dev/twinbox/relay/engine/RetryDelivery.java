package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.EventKey;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkReason;
import dev.twinbox.relay.jdbc.ParkedQueue;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.ParkedTable;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Claims parked events, sends them as one batch, and settles each outcome. Only for the retry thread. */
final class RetryDelivery {
    private static final Logger LOG = LoggerFactory.getLogger(RetryDelivery.class);

    private static final Duration FIRST_PAUSE = Duration.ofSeconds(1);

    private final RelayConfig config;
    private final RetryTransactions transactions;
    private final RetryPublication publication;
    private final AcceptanceCheck admission;
    private final Lease lease;
    private final StallWatch stalls;
    private final Progress progress;
    private final RetryPauses pauses = new RetryPauses(FIRST_PAUSE);
    private @Nullable Producer<byte[], byte[]> firstRecordsOf;
    private FirstRecords firstRecords = new FirstRecords();

    RetryDelivery(
            RelayConfig config,
            RetryTransactions transactions,
            RetryPublication publication,
            AcceptanceCheck admission,
            Lease lease,
            StallWatch stalls,
            Progress progress) {
        this.config = config;
        this.transactions = transactions;
        this.publication = publication;
        this.admission = admission;
        this.lease = lease;
        this.stalls = stalls;
        this.progress = progress;
    }

    /** Whether a group is paused because sending to it has failed. */
    boolean isPaused(ParkedQueue.WaitedFor group) {
        return pauses.isPaused(group);
    }

    /**
     * Whether the topic or partition that a group waits for is available now. Pauses the group if Kafka does not
     * answer.
     */
    boolean isThere(ParkedQueue.WaitedFor group) {
        try {
            return admission.isThere(group);
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            pauses.pause(group);
            return false;
        }
    }

    /** Returns whether an event was sent or refused. */
    boolean deliver(List<ParkedQueue.Candidate> candidates, ParkedQueue.WaitedFor group)
            throws SQLException, LeaseLostException, InterruptedException {
        List<ParkedQueue.Candidate> chosen = choose(candidates);
        if (chosen.isEmpty()) {
            return false;
        }
        Producer<byte[], byte[]> producer = producer();
        List<ParkedQueue.Claimed> claimed = transactions.underLease(table -> publication.claim(table, chosen));
        RetryBatch batch = new RetryBatch(producer, admission, lease, stalls, config);
        publication.begin();
        batch.send(claimed, firstRecords);
        if (batch.failure() == null) {
            pauses.end(group);
        } else {
            LOG.warn("Sending parked events failed, trying again later: {}", String.valueOf(batch.failure()));
            uninterrupted(publication::abandon);
            pauses.pause(group);
        }
        return settle(claimed, chosen, batch, group);
    }

    void closeProducer() {
        uninterrupted(publication::closeProducer);
    }

    /** Chooses rows within the size limit of a page. After a row that must not be sent, no row of its key is chosen. */
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
            if (bytes > config.page().bytes() && !chosen.isEmpty()) {
                break;
            }
            chosen.add(candidate);
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
        report(sent.size(), back, group);
        return !sent.isEmpty() || back.stream().anyMatch(RetryDelivery::isRefused);
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
            if (error != null) {
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
