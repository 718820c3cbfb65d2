package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ParkingDecision;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RecordedStart;
import dev.twinbox.inbox.event.RetryRule;
import dev.twinbox.inbox.event.UnreadableRecordException;
import dev.twinbox.inbox.jdbc.Faults;
import dev.twinbox.inbox.kafka.HandoverKind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Handles {@code EXACTLY_ONCE_EFFECT} and {@code AT_LEAST_ONCE} events. A batch is handled in one transaction. If that
 * fails, each event and handler gets a transaction of its own. So one failing event does not make the others repeat. It
 * gets a few retries and is then parked.
 */
final class TransactionalProcessor implements Processor {

    /**
     * How often an event may be started after a crash. More than once, because a process may be killed for other
     * reasons.
     */
    private static final int MOST_STARTS = 3;

    /** How often an event may lose against other transactions before it is parked, so that its partition goes on. */
    private static final int MOST_CONFLICTS = 8;

    /** How often a batch may do so before its events are handled one by one. */
    private static final int MOST_CONFLICTS_OF_A_BATCH = 3;

    private final Attempts attempts;
    private final Claims.OfBatch claims;
    private final UnknownTypes unknownTypes;
    private final Parking parking;
    private final ReceiverStatus status;
    private final Guard guard;

    TransactionalProcessor(
            Attempts attempts,
            Claims.OfBatch claims,
            UnknownTypes unknownTypes,
            Parking parking,
            ReceiverStatus status,
            Guard guard) {
        this.attempts = attempts;
        this.claims = claims;
        this.unknownTypes = unknownTypes;
        this.parking = parking;
        this.status = status;
        this.guard = guard;
    }

    @Override
    public Outcome process(Batch batch) {
        if (batch.isCutShort()) {
            return Outcome.goOn(0); // it has waited for a worker until its partition was gone
        }
        batch.start();
        ReceivedEvent first = batch.events().get(0);
        try {
            if (!first.isReadable()) {
                status.failed();
                parking.parkUnreadable(first);
                return Outcome.goOn(1);
            }
            if (batch.handover() == HandoverKind.AFTER_CRASH) {
                batch.events().forEach(ReceivedEvent::handleAlone);
            }
            List<ReceivedEvent> like = leadingEventsLike(first, batch.events());
            UnknownTypes.Decision decision = unknownTypes.decide(like);
            if (decision.whyHeld() != null && decision.free() == 0) {
                return Outcome.hold(0, decision.whyHeld());
            }
            List<ReceivedEvent> events = like.subList(0, decision.free());
            return first.isHandledAlone() ? alone(batch, events) : together(batch, events);
        } catch (SQLException e) {
            return Outcome.waitForDatabase(0, e);
        }
    }

    /** The first events that are all readable and are all handled alone, or all together, like the first one. */
    private static List<ReceivedEvent> leadingEventsLike(ReceivedEvent first, List<ReceivedEvent> events) {
        List<ReceivedEvent> prefix = new ArrayList<>(events.size());
        for (ReceivedEvent event : events) {
            if (!event.isReadable() || event.isHandledAlone() != first.isHandledAlone()) {
                break;
            }
            prefix.add(event);
        }
        return prefix;
    }

    private Outcome together(Batch batch, List<ReceivedEvent> events) {
        if (events.stream().allMatch(event -> event.handlers().isEmpty())) {
            return Outcome.goOn(events.size());
        }
        Attempt attempt = attempts.handleTogether(events, claims, handled -> batch.isOver(), batch.abandonment());
        if (attempt.isAbandoned()) {
            return Outcome.takenOver();
        }
        if (attempt.isCommitted()) {
            return Outcome.goOn(attempt.handled());
        }
        if (attempt.cause() instanceof Outcome.HeldException held) {
            return Outcome.hold(0, held);
        }
        FailureKind failure = attempts.failureOf(attempt);
        if (failure == FailureKind.DATABASE) {
            return Outcome.waitForDatabase(0, attempt.cause());
        }
        if (failure == FailureKind.CONFLICT && events.get(0).conflicted() < MOST_CONFLICTS_OF_A_BATCH) {
            return Outcome.waitForEvent(0, attempt.cause(), null);
        }
        events.forEach(ReceivedEvent::handleAlone);
        return attempt.cause() instanceof HandlerTimeoutException cause ? settleLate(cause) : alone(batch, events);
    }

    @Override
    public Outcome settleHung(Batch batch, HandlerTimeoutException cause) {
        batch.events().forEach(ReceivedEvent::handleAlone);
        return settleLate(cause);
    }

    /**
     * All events are handed out again. They find what was committed before. The one that took too long is parked when its
     * turn comes, after earlier events of its key. It gets no further tries: each would hold up the partition for as
     * long.
     */
    private static Outcome settleLate(HandlerTimeoutException cause) {
        ReceivedEvent event = cause.culprit();
        if (event != null) {
            event.tookTooLong(cause.handler(), cause);
        }
        return Outcome.goOn(0);
    }

    private Outcome alone(Batch batch, List<ReceivedEvent> events) {
        int settled = 0;
        for (ReceivedEvent event : events) {
            while (event.nextHandler() < event.handlers().size()) {
                if (batch.isCutShort()) {
                    return Outcome.goOn(settled); // the next owner handles the rest, in order
                }
                Handler handler = event.handlers().get(event.nextHandler());
                Outcome obstacle;
                try {
                    obstacle = attempt(batch, event, handler, settled);
                } catch (SQLException e) {
                    return Outcome.waitForDatabase(settled, e);
                }
                if (obstacle != null) {
                    return obstacle;
                }
                event.handlerDone();
            }
            settled++;
            if (batch.isOver()) {
                break;
            }
        }
        return Outcome.goOn(settled);
    }

    /** Makes one attempt after its start was committed. If the process dies during the attempt, the next one knows. */
    private @Nullable Outcome attemptAfterRecording(Batch batch, ReceivedEvent event, Handler handler, int settled)
            throws SQLException {
        if (event.start() == null) {
            RecordedStart start = parking.recordStart(event, handler);
            if (start != null && start.times() > MOST_STARTS) {
                parking.giveUp(event, handler, start);
                return null;
            }
            event.started(start);
        }
        Outcome obstacle = attemptNow(batch, event, handler, event.start(), settled);
        if (obstacle != null && obstacle.next() == Outcome.Next.HOLD) {
            takeStartBack(event);
        }
        return obstacle;
    }

    /** The handler was not called, so an end of the process while the event waits is not the event's doing. */
    private void takeStartBack(ReceivedEvent event) throws SQLException {
        RecordedStart start = event.start();
        if (start != null) {
            parking.takeBack(start);
            event.started(null);
        }
    }

    /**
     * Returns why the rest has to wait. Null if the event is handled or parked, so that the rest can go on. The guard is
     * asked before a start is recorded: an event that waits at it has not been started. It is not asked for an event that is
     * only parked: the event's own handler, which hangs, may still have the lock.
     */
    private @Nullable Outcome attempt(Batch batch, ReceivedEvent event, Handler handler, int settled)
            throws SQLException {
        boolean isOnlyParked = event.verdict() != null || event.timeoutOf(handler) != null;
        try (Guard.Pass pass = isOnlyParked ? Guard.Pass.unasked() : guard.enter(event, handler)) {
            if (!pass.isOpen()) {
                return Outcome.waitForInstance(settled);
            }
            return batch.handover() == HandoverKind.AFTER_CRASH
                    ? attemptAfterRecording(batch, event, handler, settled)
                    : attemptNow(batch, event, handler, null, settled);
        }
    }

    private @Nullable Outcome attemptNow(
            Batch batch, ReceivedEvent event, Handler handler, @Nullable RecordedStart start, int settled)
            throws SQLException {
        judgeIfLate(event, handler);
        @Nullable ParkingDecision decided = event.verdict();
        if (decided != null) {
            park(event, handler, start, decided);
            return null;
        }
        Attempt attempt = attempts.handleAlone(event, List.of(handler), claims.withStart(start), batch.abandonment());
        if (attempt.isAbandoned()) {
            return Outcome.takenOver();
        }
        if (attempt.isCommitted()) {
            return null;
        }
        if (attempt.cause() instanceof Outcome.HeldException held) {
            return Outcome.hold(settled, held);
        }
        FailureKind failure = attempts.failureOf(attempt);
        if (failure == FailureKind.DATABASE) {
            return Outcome.waitForDatabase(settled, attempt.cause());
        }
        if (failure == FailureKind.EVENT && handler.hasEffect() && Faults.isAlreadyDone(attempt.cause())) {
            @Nullable Outcome obstacle = attemptNow(batch, event, handler.withoutEffect(), start, settled);
            status.alreadyDone(obstacle == null ? 1 : 0);
            return obstacle;
        }
        RetryRule retry = Attempts.retryRule(attempt, failure, List.of(handler));
        if (mayTryAgain(event, failure, attempt.cause(), retry)) {
            return Outcome.waitForEvent(settled, attempt.cause(), handler);
        }
        ParkingDecision verdict = new ParkingDecision(attempt.cause(), attempt.mayBeCommitted(), retry);
        event.judged(verdict);
        park(event, handler, start, verdict);
        return null;
    }

    /** An event that took too long before is parked, without another call. */
    private void judgeIfLate(ReceivedEvent event, Handler handler) {
        @Nullable Throwable late = event.timeoutOf(handler);
        if (late != null && event.verdict() == null) {
            status.failed();
            event.failed();
            event.judged(new ParkingDecision(late, false));
        }
    }

    /** Counts the failure. Returns whether the handler may be called again before the event is parked. */
    private boolean mayTryAgain(ReceivedEvent event, FailureKind failure, Throwable cause, RetryRule retry) {
        if (retry.kind() == RetryRule.Kind.AFTER_DELAY) {
            status.retriedLater();
            return false;
        }
        if (failure == FailureKind.CONFLICT) {
            return event.conflicted() < MOST_CONFLICTS;
        }
        status.failed();
        return event.failed() < parking.quickTries()
                && retry.kind() == RetryRule.Kind.AS_CONFIGURED
                && !(cause instanceof UnreadableRecordException)
                && !(cause instanceof HandlerTimeoutException);
    }

    private void park(ReceivedEvent event, Handler handler, @Nullable RecordedStart start, ParkingDecision verdict)
            throws SQLException {
        if (start == null) {
            parking.park(event, handler, verdict);
        } else {
            parking.parkStarted(event, handler, start, verdict);
        }
    }
}
