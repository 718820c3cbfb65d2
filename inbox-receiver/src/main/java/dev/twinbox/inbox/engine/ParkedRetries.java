package dev.twinbox.inbox.engine;

import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.engine.Claims.GoneException;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.UnreadableRecordException;
import dev.twinbox.inbox.jdbc.BlockedKey;
import dev.twinbox.inbox.jdbc.DueEvent;
import dev.twinbox.inbox.jdbc.InboxTable;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Retries parked events that are due, one at a time. Only the first parked event of a key can be due. Several instances
 * share the work.
 *
 * <p>Used by one thread.
 */
final class ParkedRetries {

    private static final Logger LOG = System.getLogger(ParkedRetries.class.getName());

    private static final Duration SWEEP_INTERVAL = Duration.ofMinutes(1);
    private static final Duration COUNT_INTERVAL = Duration.ofSeconds(5);

    private final Attempts attempts;
    private final Parking parking;
    private final InboxTable inbox;
    private final Subscription subscription;
    private final List<String> handlers;
    private final ReceiverStatus status;
    private Instant from = Instant.EPOCH;
    private long sweepAt = System.nanoTime();
    private long countAt = System.nanoTime();

    /** @param handlers names of all handlers of the application */
    ParkedRetries(
            Attempts attempts,
            Parking parking,
            InboxTable inbox,
            Subscription subscription,
            List<String> handlers,
            ReceiverStatus status) {
        this.attempts = attempts;
        this.parking = parking;
        this.inbox = inbox;
        this.subscription = subscription;
        this.handlers = handlers;
        this.status = status;
    }

    /** Retries one event that is due. Returns whether there was one. */
    boolean runOnce() throws SQLException {
        count();
        boolean sweep = System.nanoTime() - sweepAt >= 0;
        Optional<DueEvent> due = parking.takeDue(sweep ? Instant.EPOCH : from, handlers);
        if (due.isPresent()) {
            handle(due.get());
            return true;
        }
        if (sweep) {
            endSweep();
        }
        return false;
    }

    /**
     * A sweep looks at all events once a minute. It finds what a long transaction committed late, or what a crash left
     * undone. Between sweeps only newly due events are looked at.
     */
    private void endSweep() throws SQLException {
        from = parking.sweep().minus(SWEEP_INTERVAL);
        sweepAt = System.nanoTime() + SWEEP_INTERVAL.toNanos();
    }

    private void count() throws SQLException {
        long now = System.nanoTime();
        if (now - countAt >= 0) {
            status.count(parking.count());
            countAt = now + COUNT_INTERVAL.toNanos();
        }
    }

    private void handle(DueEvent due) throws SQLException {
        ReceivedEvent event = ReceivedEvent.of(due.record(), subscription);
        if (event.isOfUnknownType()) {
            status.skipped(event);
        }
        List<Handler> mine = event.handlers().stream()
                .filter(handler -> due.handler() == null || handler.name().equals(due.handler()))
                .toList();
        if (!event.isReadable()) {
            failed(due, event, event.problem());
        } else if (mine.isEmpty()) {
            failed(
                    due,
                    event,
                    new UnreadableRecordException("no handler takes type " + event.typeOrNull() + " any more"));
        } else {
            attempt(due, event, mine);
        }
    }

    private void attempt(DueEvent due, ReceivedEvent event, List<Handler> mine) throws SQLException {
        Claims claims = new Claims.FromParking(inbox, parking.table(), due);
        Attempt attempt = attempts.handleAlone(event, mine, claims, (cause, isRolledBack) -> hung(due, event, cause));
        if (attempt.isAbandoned()) {
            return;
        }
        if (attempt.isCommitted()) {
            promote(due, event);
            LOG.log(Level.DEBUG, () -> event + " was handled at attempt " + due.attempt());
        } else if (attempt.cause() instanceof GoneException) {
            LOG.log(Level.DEBUG, () -> attempt.cause().getMessage());
        } else if (attempt.isDatabaseFault()) {
            parking.giveBack(due);
            throw new SQLException("parked event " + due.number() + " could not be retried", attempt.cause());
        } else if (due.handler() != null
                && Faults.isAlreadyDone(attempt.cause())) { // without a name it is not known which handler threw
            status.alreadyDone(1);
            attempt(due, event, mine.stream().map(Handler::withoutEffect).toList());
        } else {
            failed(due, event, attempt.cause());
        }
    }

    private void failed(DueEvent due, ReceivedEvent event, Throwable cause) throws SQLException {
        status.failed();
        State state = parking.failedAgain(due, cause);
        if (state == State.RETRY) {
            LOG.log(Level.DEBUG, () -> event + " failed at attempt " + due.attempt(), ErrorText.forLog(cause));
            return;
        }
        LOG.log(
                Level.ERROR,
                () -> event + " is not retried any more after " + due.attempt() + " attempts in handler "
                        + due.handler()
                        + (state == State.DEAD
                                ? ". Later events of its key wait"
                                : ". Later events of its key are handled")
                        + ". Retry or discard it: twinbox-inbox-cli.jar parked retry|discard "
                        + due.number(),
                ErrorText.forLog(cause));
        promote(due, event);
    }

    private void promote(DueEvent due, ReceivedEvent event) {
        @Nullable BlockedKey key = parking.blockedKey(event, due.handler());
        if (key != null) {
            parking.promote(List.of(key));
        }
    }
}
