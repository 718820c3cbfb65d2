package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.EventKey;
import dev.twinbox.relay.jdbc.ParkReason;
import dev.twinbox.relay.jdbc.ParkedQueue;
import dev.twinbox.relay.pause.PauseGate;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.apache.kafka.common.errors.InterruptException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The thread for parked events. It sends events that an operator gave back, and events whose topic or partition is
 * available again, in the order of their keys. It has a producer of its own, so that parked events do not delay the
 * others. A key is free again when its last row is removed, after that row's acknowledgement. Until then, later events
 * of the key join the rows. The thread also makes the first contact with Kafka, and watches for partitions that stand
 * still.
 *
 * <p>While nothing is parked, it does not ask the database. With exactly-once delivery it connects once in each session,
 * to tell Kafka what Kafka must not forget.
 */
final class RetryLoop implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(RetryLoop.class);
    private static final Duration POLL = Duration.ofSeconds(1);

    /** The group of events that wait for nothing. */
    private static final ParkedQueue.WaitedFor NOTHING = new ParkedQueue.WaitedFor("", ParkReason.TOPIC);

    private final RelayConfig config;
    private final KafkaAccessCheck contact;
    private final StallWatch stalls;
    private final PauseGate gate;
    private final BlockedKeys blockedKeys;
    private final RetryTransactions transactions;
    private final RetryDelivery delivery;
    private final Failures failures;
    private final Waiter waiter;
    private ParkedQueue.WaitedFor lastGroup = NOTHING;

    RetryLoop(
            RelayConfig config,
            KafkaAccessCheck contact,
            StallWatch stalls,
            PauseGate gate,
            BlockedKeys blockedKeys,
            RetryTransactions transactions,
            RetryDelivery delivery,
            Failures failures) {
        this.config = config;
        this.contact = contact;
        this.stalls = stalls;
        this.gate = gate;
        this.blockedKeys = blockedKeys;
        this.transactions = transactions;
        this.delivery = delivery;
        this.failures = failures;
        this.waiter = new Waiter(config.idle());
    }

    /** Events have been parked. Any thread. */
    void wake() {
        waiter.wake();
    }

    @Override
    public void run() {
        try {
            while (!Thread.interrupted()) {
                contact.makeOnce();
                stalls.check();
                transactions.refreshIfDue();
                while (!gate.awaitOpen(POLL)) {
                    transactions.refreshIfDue();
                }
                if (!blockedKeys.hasAny() || !runOnce()) {
                    waiter.await(POLL);
                }
            }
        } catch (InterruptedException | InterruptException e) {
            Thread.currentThread().interrupt();
        } catch (Exception | Error e) {
            failures.report(e);
        } finally {
            delivery.closeProducer();
        }
    }

    /** Returns whether there may be more to do at once. */
    private boolean runOnce() throws SQLException, LeaseLostException, InterruptedException {
        long saves = blockedKeys.saves();
        boolean worked = deleteDiscarded();
        worked |= delivery.setAsideReady();
        worked |= sendReady();
        worked |= sendWaiting();
        if (!worked && !transactions.table().hasRows()) {
            blockedKeys.recordEmpty(saves);
        }
        return worked;
    }

    private boolean deleteDiscarded() throws SQLException, LeaseLostException {
        if (!transactions.table().hasDiscarded()) {
            return false;
        }
        List<ParkedQueue.Discarded> discarded = transactions.underLease(table -> {
            List<ParkedQueue.Discarded> gone = table.deleteDiscarded();
            Set<EventKey> keys = new HashSet<>();
            for (ParkedQueue.Discarded each : gone) {
                if (each.key() != null) {
                    keys.add(each.key());
                }
            }
            table.promote(keys);
            return gone;
        });
        discarded.forEach(each -> LOG.info("Discarded by an operator: {}", each.description()));
        return !discarded.isEmpty();
    }

    private boolean sendReady() throws SQLException, LeaseLostException, InterruptedException {
        if (delivery.isPaused()) {
            return false;
        }
        return delivery.deliver(transactions.table().ready(config.page().rows(), delivery.paused()), NOTHING);
    }

    /** Looks at a batch of groups. The next call continues after it, so that missing topics hold up no other one. */
    private boolean sendWaiting() throws SQLException, LeaseLostException, InterruptedException {
        boolean worked = false;
        List<ParkedQueue.WaitedFor> groups = transactions.table().waitedFor(lastGroup);
        boolean areMore = groups.size() == ParkedQueue.BATCH;
        lastGroup = areMore ? groups.get(groups.size() - 1) : NOTHING;
        for (ParkedQueue.WaitedFor group : groups) {
            if (delivery.isPaused(group)) {
                continue;
            }
            if (delivery.isThere(group)) {
                worked |= delivery.deliver(
                        transactions.table().waiting(group, config.page().rows(), delivery.paused()), group);
            } else if (!delivery.isPaused(group)) { // Kafka has answered. An outage is no reason to give up.
                giveUpOld(group);
            }
        }
        return worked || areMore;
    }

    private void giveUpOld(ParkedQueue.WaitedFor group) throws SQLException, LeaseLostException {
        Duration limit = config.parking().waitingLimit();
        int givenUp = transactions.table().giveUp(group, limit);
        if (givenUp > 0) {
            LOG.error(
                    "{} events for topic \"{}\" have waited for more than {}: when the cause is fixed, "
                            + "\"twinbox-relay parked retry\" sends them, \"discard\" drops them",
                    givenUp,
                    group.topic(),
                    limit);
        }
    }
}
