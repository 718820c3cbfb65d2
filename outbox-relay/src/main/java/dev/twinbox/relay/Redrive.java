package dev.twinbox.relay;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InterruptException;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread for events that were set aside: sends, in the order of their keys, what a person gave back or what it waited for
 * has come, with a producer of its own, so that nothing of it holds up the others. A key is free again when its last row is
 * gone, which is after that row's acknowledgement; until then its later events join the rows. It also makes the
 * first contact with Kafka, and watches for partitions that stand still.
 *
 * <p>While nothing is parked it asks the database nothing.
 */
final class Redrive implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Redrive.class);
    private static final Duration POLL = Duration.ofSeconds(1);
    private static final Duration LONGEST_PAUSE = Duration.ofMinutes(1);

    /** What a pause is about, if not about a group of waiting events. */
    private static final ParkedTable.WaitedFor NOTHING = new ParkedTable.WaitedFor("", Aside.TOPIC);

    /** @param until monotonic time */
    private record Pause(Duration length, long until) {}

    private interface Work<T> {
        T with(ParkedTable table) throws SQLException;
    }

    private final SessionContext session;
    private final FirstContact contact;
    private final Redelivery redelivery;
    private final StallWatch stalls;
    private final Waiter waiter;
    private final Map<ParkedTable.WaitedFor, Pause> pauses = new HashMap<>();
    private @Nullable Connection connection;
    private @Nullable ParkedTable rows;
    private @Nullable Producer<byte[], byte[]> primed; // the producer of the priming
    private Priming priming = new Priming();

    Redrive(SessionContext session, Redelivery redelivery) {
        this.session = session;
        this.contact = new FirstContact(session);
        this.redelivery = redelivery;
        this.stalls = new StallWatch(session);
        this.waiter = new Waiter(session.config().idle());
    }

    /** Events have been set aside. Any thread. */
    void wake() {
        waiter.wake();
    }

    @Override
    public void run() {
        try {
            while (!Thread.interrupted()) {
                contact.makeOnce();
                stalls.check();
                session.gate().awaitOpen();
                if (!session.parking().any() || !runOnce()) {
                    waiter.await(POLL);
                }
            }
        } catch (InterruptedException | InterruptException e) {
            Thread.currentThread().interrupt();
        } catch (Exception | Error e) {
            session.failures().report(e);
        } finally {
            uninterrupted(redelivery::closeProducer);
        }
    }

    /** Returns whether there may be more to do at once. */
    private boolean runOnce() throws SQLException, LeaseLostException, InterruptedException {
        long saves = session.parking().saves();
        boolean worked = bury();
        worked |= sendReady();
        worked |= sendWaiting();
        if (!worked && !table().any()) {
            session.parking().empty(saves);
        }
        return worked;
    }

    private boolean bury() throws SQLException, LeaseLostException {
        if (!table().hasDiscarded()) {
            return false;
        }
        List<ParkedTable.Buried> buried = underLease(table -> {
            List<ParkedTable.Buried> gone = table.bury();
            Set<OutboxKey> keys = new HashSet<>();
            for (ParkedTable.Buried each : gone) {
                if (each.key() != null) {
                    keys.add(each.key());
                }
            }
            table.promote(keys);
            return gone;
        });
        buried.forEach(each -> LOG.info("Discarded as told: {}", each.description()));
        return !buried.isEmpty();
    }

    private boolean sendReady() throws SQLException, LeaseLostException, InterruptedException {
        if (isPaused(NOTHING)) {
            return false;
        }
        return deliver(table().ready(session.config().page().rows()), NOTHING);
    }

    private boolean sendWaiting() throws SQLException, LeaseLostException, InterruptedException {
        boolean worked = false;
        for (ParkedTable.WaitedFor group : table().waitedFor()) {
            if (isPaused(group)) {
                continue;
            }
            if (hasCome(group)) {
                worked |= deliver(table().waiting(group, session.config().page().rows()), group);
            } else {
                giveUpOld(group);
            }
        }
        return worked;
    }

    private boolean hasCome(ParkedTable.WaitedFor group) {
        try {
            Topic topic = session.topics().fresh(group.topic());
            return topic.status() != Topic.Status.MISSING && !topic.unwritable().contains(group.partition());
        } catch (InterruptException e) {
            throw e;
        } catch (KafkaException e) {
            pause(group);
            return false;
        }
    }

    private void giveUpOld(ParkedTable.WaitedFor group) throws SQLException, LeaseLostException {
        Duration limit = session.config().parking().waitingLimit();
        int givenUp = table().giveUp(group, limit);
        if (givenUp > 0) {
            LOG.error(
                    "{} events for topic \"{}\" have waited for more than {}: when the cause is mended, "
                            + "\"outbox-relay parked retry\" sends them, \"discard\" drops them",
                    givenUp,
                    group.topic(),
                    limit);
        }
    }

    /** Returns whether anything was sent or found to be refused. */
    private boolean deliver(List<ParkedTable.Candidate> candidates, ParkedTable.WaitedFor group)
            throws SQLException, LeaseLostException, InterruptedException {
        List<ParkedTable.Candidate> chosen = choose(candidates);
        if (chosen.isEmpty()) {
            return false;
        }
        Producer<byte[], byte[]> producer = producer();
        List<ParkedTable.Claimed> claimed = underLease(table -> redelivery.claim(table, chosen));
        RedriveBatch batch = new RedriveBatch(session, producer, stalls);
        redelivery.begin();
        batch.send(claimed, priming);
        if (batch.failure() == null) {
            pauses.remove(group);
        } else {
            LOG.warn("Parked events are tried again later: {}", String.valueOf(batch.failure()));
            uninterrupted(redelivery::abandon);
            pause(group);
        }
        return settle(claimed, chosen, batch, group);
    }

    /** Within the bytes of a page, and of each key no row behind one that is not to be sent. */
    private List<ParkedTable.Candidate> choose(List<ParkedTable.Candidate> candidates) {
        List<ParkedTable.Candidate> chosen = new ArrayList<>();
        Set<OutboxKey> begun = new HashSet<>();
        Set<OutboxKey> stopped = new HashSet<>();
        long bytes = 0;
        for (ParkedTable.Candidate candidate : candidates) {
            OutboxKey key = candidate.key();
            if (candidate.state() == ParkedState.DISCARDED || (key != null && stopped.contains(key))) {
                continue;
            }
            boolean first = key == null || begun.add(key);
            if (!first && candidate.state() != ParkedState.BEHIND && candidate.state() != ParkedState.READY) {
                stopped.add(key);
                continue;
            }
            bytes += candidate.bytes();
            if (bytes > session.config().page().bytes() && !chosen.isEmpty()) {
                break;
            }
            chosen.add(candidate);
        }
        return chosen;
    }

    private boolean settle(
            List<ParkedTable.Claimed> claimed,
            List<ParkedTable.Candidate> chosen,
            RedriveBatch batch,
            ParkedTable.WaitedFor group)
            throws SQLException, LeaseLostException {
        List<Long> sent = redelivery.sent(batch);
        Set<Long> waited = new HashSet<>();
        for (ParkedTable.Candidate candidate : chosen) {
            if (candidate.state() == ParkedState.WAITING) {
                waited.add(candidate.number());
            }
        }
        List<ParkedTable.Entry> back = new ArrayList<>();
        Set<OutboxKey> keys = new HashSet<>();
        boolean refused = false;
        Set<Long> gone = new HashSet<>(sent);
        for (ParkedTable.Claimed row : claimed) {
            OutboxRecord record = row.record();
            OutboxKey key = record.key();
            if (key != null) {
                keys.add(key);
            }
            if (!gone.contains(record.seq())) {
                Aside refusal = batch.refusalOf(record.seq());
                refused |= refusal != null && refusal.state() == ParkedState.REFUSED;
                back.add(new ParkedTable.Entry(record, refusal != null ? refusal : asBefore(record, waited, group)));
            }
        }
        redelivery.commit(
                sent,
                () -> underLease(table -> {
                    table.putBack(back);
                    return back.size();
                }));
        underLease(table -> {
            table.delete(sent);
            table.putBack(back);
            table.promote(keys);
            return sent.size();
        });
        tell(sent.size(), back, group);
        return !sent.isEmpty() || refused;
    }

    /** What was not tried is tried again; the first of a key is found by promoting. */
    private static Aside asBefore(OutboxRecord record, Set<Long> waited, ParkedTable.WaitedFor group) {
        if (waited.contains(record.seq())) {
            return new Aside(ParkedState.WAITING, group.partition(), null);
        }
        return record.key() == null ? new Aside(ParkedState.READY, Aside.TOPIC, null) : Aside.behind();
    }

    private void tell(int sent, List<ParkedTable.Entry> back, ParkedTable.WaitedFor group) {
        session.progress().redriven(sent);
        if (sent > 0) {
            LOG.debug("Sent {} parked events", sent);
            session.verdicts().moves(group.topic(), group.partition());
        }
        for (ParkedTable.Entry entry : back) {
            String error = entry.aside().error();
            if (error != null) {
                LOG.warn("Parked again: {}", error);
            }
        }
    }

    private boolean isPaused(ParkedTable.WaitedFor group) {
        Pause pause = pauses.get(group);
        return pause != null && System.nanoTime() - pause.until() < 0;
    }

    private void pause(ParkedTable.WaitedFor group) {
        Pause last = pauses.get(group);
        Duration length = last == null ? POLL : last.length().multipliedBy(2);
        if (length.compareTo(LONGEST_PAUSE) > 0) {
            length = LONGEST_PAUSE;
        }
        pauses.put(group, new Pause(length, System.nanoTime() + length.toNanos()));
    }

    /**
     * One transaction in which the lease is surely ours. Never at the same time as the main thread sets events aside: one
     * that joins a key and one that leaves it would not see each other.
     */
    private <T> T underLease(Work<T> work) throws SQLException, LeaseLostException {
        ParkedTable table = table();
        Connection mine = Objects.requireNonNull(connection);
        synchronized (session.parkedRows()) {
            mine.setAutoCommit(false);
            if (!table.holdLease(session.lease())) {
                mine.rollback();
                throw new LeaseLostException("a change to parked events found epoch "
                        + session.lease().epoch() + " over");
            }
            T result = work.with(table);
            mine.commit();
            mine.setAutoCommit(true);
            return result;
        }
    }

    private ParkedTable table() throws SQLException, LeaseLostException {
        ParkedTable present = rows;
        if (present == null) {
            Connection opened = session.open();
            connection = opened;
            present = new ParkedTable(
                    opened, session.config().tables(), session.config().name());
            rows = present;
            redelivery.open();
            underLease(table -> {
                redelivery.takeUp(table);
                return true;
            });
        }
        return present;
    }

    private Producer<byte[], byte[]> producer() {
        Producer<byte[], byte[]> present = redelivery.producer();
        if (present != primed) {
            primed = present;
            priming = new Priming();
        }
        return present;
    }

    private static void uninterrupted(Runnable closing) {
        boolean interrupted = Thread.interrupted(); // the client would not wait for the end of its thread
        try {
            closing.run();
        } catch (InterruptException e) {
            interrupted = true; // just now; the client's thread ends by itself
        }
        if (interrupted) {
            Thread.currentThread().interrupt();
        }
    }
}
