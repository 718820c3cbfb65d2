package dev.twinbox.inbox.engine;

import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.engine.Claims.GoneException;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RetryRule;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.jdbc.AnnouncedHandler;
import dev.twinbox.inbox.jdbc.BlockedKey;
import dev.twinbox.inbox.jdbc.DueEvent;
import dev.twinbox.inbox.jdbc.Faults;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.pause.Pauses;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Retries parked events that are due. Only the first parked event of a key can be due. Several workers and several
 * instances share the work.
 *
 * <p>A handler may have become {@code AT_MOST_ONCE} since. What was parked for it before is still retried.
 *
 * <p>{@link #lookAfterThem} is called by one thread, {@link #runOnce} by all workers.
 */
final class ParkedRetries {

    private static final Logger LOG = System.getLogger(ParkedRetries.class.getName());

    private static final Duration SWEEP_INTERVAL = Duration.ofMinutes(1);
    private static final Duration COUNT_INTERVAL = Duration.ofSeconds(5);

    private final Attempts attempts;
    private final Parking parking;
    private final InboxTable inbox;
    private final Subscription subscription;
    private final UnknownTypes unknownTypes;
    private final Announcements announcements;
    private final HeldHandlers held;
    private final Breakers breakers;
    private final Pauses pauses;
    private final ReceiverStatus status;

    /** Events that were due before are settled. Written by all threads. */
    private volatile Instant from = Instant.EPOCH;

    /** Where {@link #from} is when all that a sweep can find is retried. */
    private volatile Instant fromAfterSweep = Instant.EPOCH;

    private long sweepAt = System.nanoTime();
    private long countAt = System.nanoTime();

    ParkedRetries(
            Attempts attempts,
            Parking parking,
            InboxTable inbox,
            Subscription subscription,
            UnknownTypes unknownTypes,
            Announcements announcements,
            HeldHandlers held,
            ReceiverStatus status) {
        this.attempts = attempts;
        this.parking = parking;
        this.inbox = inbox;
        this.subscription = subscription;
        this.unknownTypes = unknownTypes;
        this.announcements = announcements;
        this.held = held;
        this.breakers = held.breakers();
        this.pauses = held.pauses();
        this.status = status;
    }

    /**
     * Retries one event that is due.
     *
     * @param whenFound called before it is retried: there may be more
     * @param whenHung called if its handler does not return
     * @return whether there was one
     */
    boolean runOnce(Runnable whenFound, Runnable whenHung) throws SQLException {
        Instant notBefore = from;
        Set<String> handlers = held.names();
        Set<String> topics = pauses.current().topics().keySet();
        boolean isAnyHeld = !handlers.isEmpty() || !topics.isEmpty();
        if (isAnyHeld && probe(topics, whenFound, whenHung)) {
            return true;
        }
        Optional<DueEvent> due = parking.takeDue(
                notBefore, isAnyHeld ? mine(each -> !handlers.contains(each), topics) : announcements.mine());
        if (due.isPresent()) {
            whenFound.run();
            handle(due.get(), whenHung);
        } else if (notBefore.equals(Instant.EPOCH) && !isAnyHeld) { // what is due for those is not settled
            from = fromAfterSweep;
        }
        return due.isPresent();
    }

    /**
     * Tries one event for a handler whose circuit breaker is open, if it is time for that. None of a paused handler or
     * topic. Returns whether there was one.
     */
    private boolean probe(Set<String> pausedTopics, Runnable whenFound, Runnable whenHung) throws SQLException {
        Breakers.Probe probe = held.takeProbe();
        if (probe == null) {
            return false;
        }
        try (probe) {
            Optional<DueEvent> due = parking.takeDue(Instant.EPOCH, mine(probe.handler()::equals, pausedTopics));
            if (due.isEmpty()) {
                return false;
            }
            whenFound.run();
            boolean isEffective = handle(due.get(), () -> {
                probe.close(); // its thread does not come back to do it
                whenHung.run();
            });
            if (isEffective && probe.handler().equals(due.get().handler())) { // not one without a handler's name
                probe.succeeded();
            }
            return true;
        }
    }

    private List<AnnouncedHandler> mine(Predicate<String> wanted, Set<String> pausedTopics) {
        return announcements.mine().stream()
                .filter(announced -> wanted.test(announced.handler()) && !pausedTopics.contains(announced.topic()))
                .toList();
    }

    /**
     * Counts parked events, and begins a sweep once a minute. A sweep looks at all events. It finds what a long
     * transaction committed late, or what a crash left undone. Between sweeps only newly due events are looked at.
     */
    void lookAfterThem() throws SQLException {
        pauses.begin();
        announcements.repeat();
        count();
        if (System.nanoTime() - sweepAt >= 0) {
            fromAfterSweep = parking.sweep().minus(SWEEP_INTERVAL);
            from = Instant.EPOCH;
            sweepAt = System.nanoTime() + SWEEP_INTERVAL.toNanos();
        }
    }

    private void count() throws SQLException {
        long now = System.nanoTime();
        if (now - countAt >= 0) {
            status.count(parking.count());
            countAt = now + COUNT_INTERVAL.toNanos();
        }
    }

    /** Returns whether a handler was called and its effect is committed. */
    private boolean handle(DueEvent due, Runnable whenHung) throws SQLException {
        ReceivedEvent event = ReceivedEvent.of(due.record(), subscription);
        if (event.isOfUnknownType() && unknownTypes.parkForOthers(due, event)) {
            return false;
        }
        List<Handler> mine = event.handlers().stream()
                .filter(handler -> due.handler() == null
                        ? !handler.isAtMostOnce()
                        : handler.name().equals(due.handler()))
                .toList();
        if (isPaused(due, mine)) {
            parking.giveBack(due);
            return false;
        }
        Throwable noAttemptLeft = parking.noAttemptLeft(due);
        if (noAttemptLeft != null) {
            failed(due, event, noAttemptLeft);
        } else if (!event.isReadable()) {
            failed(due, event, event.problem());
        } else if (mine.isEmpty()) {
            failed(due, event, UnknownTypes.noHandler(event));
        } else {
            return attempt(due, event, mine, whenHung);
        }
        return false;
    }

    /** An event of no handler in particular is taken whatever is paused. */
    private boolean isPaused(DueEvent due, List<Handler> mine) {
        return pauses.isTopicPaused(due.event().topic())
                || mine.stream().anyMatch(handler -> pauses.isHandlerPaused(handler.name()));
    }

    /** Returns whether a handler was called and its effect is committed. */
    private boolean attempt(DueEvent due, ReceivedEvent event, List<Handler> mine, Runnable whenHung)
            throws SQLException {
        Claims claims = new Claims.FromParking(inbox, parking.table(), due);
        Attempt attempt = attempts.handleAlone(event, mine, claims, (cause, isRolledBack) -> {
            whenHung.run();
            settleHung(due, event, cause, isRolledBack);
        });
        if (attempt.isAbandoned()) {
            return false;
        }
        if (attempt.isCommitted()) {
            promote(due, event);
            LOG.log(Level.DEBUG, () -> event + " was handled at attempt " + due.attempt());
        } else if (attempt.cause() instanceof GoneException) {
            LOG.log(Level.DEBUG, () -> attempt.cause().getMessage());
        } else {
            notCommitted(due, event, mine, attempt, whenHung);
        }
        return attempt.isCommitted() && attempt.effects() > 0;
    }

    private void notCommitted(DueEvent due, ReceivedEvent event, List<Handler> mine, Attempt attempt, Runnable whenHung)
            throws SQLException {
        FailureKind failure = attempts.failureOf(attempt);
        RetryRule retry = Attempts.retryRule(attempt, failure, mine);
        if (retry.kind() == RetryRule.Kind.AFTER_DELAY && !Faults.isAlreadyDone(attempt.cause())) {
            status.retriedLater();
            parking.postpone(due, attempt.cause(), retry.delay());
            return;
        }
        switch (failure) {
            case DATABASE -> {
                parking.giveBack(due);
                throw new SQLException("parked event " + due.number() + " could not be retried", attempt.cause());
            }
            case CONFLICT -> parking.giveBack(due);
            case EVENT -> {
                // Without the handler's name it is not known which one threw.
                if (due.handler() != null && Faults.isAlreadyDone(attempt.cause())) {
                    status.alreadyDone(1);
                    attempt(
                            due,
                            event,
                            mine.stream().map(Handler::withoutEffect).toList(),
                            whenHung);
                } else if (retry.kind() == RetryRule.Kind.AS_CONFIGURED
                        && mine.stream().allMatch(handler -> breakers.explains(handler, attempt.cause()))) {
                    parking.giveBack(due);
                } else {
                    failed(due, event, attempt.cause(), retry);
                }
            }
        }
    }

    /**
     * Stores that the handler has not returned. While its transaction may still hold the row, nothing can be stored. The
     * row is then left alone until that transaction ends.
     */
    private void settleHung(DueEvent due, ReceivedEvent event, Throwable cause, boolean isRolledBack) {
        if (!isRolledBack) {
            return;
        }
        try {
            failed(due, event, cause);
        } catch (SQLException e) {
            LOG.log(Level.DEBUG, () -> event + " is retried when its next attempt is due", e);
        }
    }

    private void failed(DueEvent due, ReceivedEvent event, Throwable cause) throws SQLException {
        failed(due, event, cause, RetryRule.AS_CONFIGURED);
    }

    private void failed(DueEvent due, ReceivedEvent event, Throwable cause, RetryRule retry) throws SQLException {
        status.failed();
        State state = parking.failedAgain(due, cause, retry);
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
