package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RecordedStart;
import dev.twinbox.inbox.event.UnreadableRecordException;
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

    private final Attempts attempts;
    private final Claims.FromKafka claims;
    private final Parking parking;
    private final ReceiverStatus status;

    TransactionalProcessor(Attempts attempts, Claims.FromKafka claims, Parking parking, ReceiverStatus status) {
        this.attempts = attempts;
        this.claims = claims;
        this.parking = parking;
        this.status = status;
    }

    @Override
    public Outcome process(Batch batch) {
        batch.start();
        ReceivedEvent first = batch.events().get(0);
        try {
            if (!first.isReadable()) {
                status.failed();
                parking.park(first, null, 0, first.problem());
                return Outcome.goOn(1);
            }
            if (batch.handover() == Handover.AFTER_CRASH) {
                batch.events().forEach(ReceivedEvent::handleAlone);
            }
            List<ReceivedEvent> events = leadingEventsLike(first, batch.events());
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
        if (attempt.isDatabaseFault()) {
            return Outcome.waitForDatabase(0, attempt.cause());
        }
        events.forEach(ReceivedEvent::handleAlone);
        return attempt.cause() instanceof HandlerTimeoutException cause
                ? settleLate(cause)
                : alone(batch, events);
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
                Handler handler = event.handlers().get(event.nextHandler());
                Outcome obstacle;
                try {
                    obstacle = batch.handover() == Handover.AFTER_CRASH
                            ? attemptAfterRecording(batch, event, handler, settled)
                            : attempt(batch, event, handler, null, settled);
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
        return attempt(batch, event, handler, event.start(), settled);
    }

    /** Returns why the rest has to wait. Null if the event is handled or parked, so that the rest can go on. */
    private @Nullable Outcome attempt(
            Batch batch, ReceivedEvent event, Handler handler, @Nullable RecordedStart start, int settled)
            throws SQLException {
        @Nullable Throwable late = event.timeoutOf(handler);
        if (late != null) {
            status.failed();
            park(event, handler, start, event.failed(), late);
            return null;
        }
        Attempt attempt =
                attempts.handleAlone(event, List.of(handler), claims.withStart(start), batch.abandonment());
        if (attempt.isAbandoned()) {
            return Outcome.takenOver();
        }
        if (attempt.isCommitted()) {
            return null;
        }
        if (attempt.isDatabaseFault()) {
            return Outcome.waitForDatabase(settled, attempt.cause());
        }
        if (handler.hasEffect() && Faults.isAlreadyDone(attempt.cause())) {
            @Nullable Outcome obstacle = attempt(batch, event, handler.withoutEffect(), start, settled);
            status.alreadyDone(obstacle == null ? 1 : 0);
            return obstacle;
        }
        status.failed();
        int failures = event.failed();
        if (attempt.cause() instanceof UnreadableRecordException
                || attempt.cause() instanceof HandlerTimeoutException
                || failures >= parking.quickTries()) {
            park(event, handler, start, failures, attempt.cause());
            return null;
        }
        return Outcome.waitForEvent(settled, attempt.cause(), handler);
    }

    private void park(
            ReceivedEvent event, Handler handler, @Nullable RecordedStart start, int failures, Throwable cause)
            throws SQLException {
        if (start == null) {
            parking.park(event, handler, failures, cause);
        } else {
            parking.parkStarted(event, handler, start, failures, cause);
        }
    }
}
