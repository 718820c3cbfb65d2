package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RetryRule;
import dev.twinbox.inbox.jdbc.Faults;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.inbox.jdbc.RetriedWrites;
import dev.twinbox.tracing.Tracing;
import java.util.List;
import java.util.function.Predicate;

/**
 * Makes attempts to handle events of one consumer group, and does what has to follow their commit. Used by all workers.
 */
final class Attempts {

    private final String group;
    private final JtaDatabase database;
    private final RetriedWrites writes;
    private final Tracing tracing;
    private final Runnable afterCall;
    private final CallWatch watch;
    private final Breakers breakers;
    private final Parking parking;
    private final ReceiverStatus status;

    /** @param afterCall runs on the thread of a handler's call when the call has ended */
    Attempts(
            String group,
            JtaDatabase database,
            Tracing tracing,
            Runnable afterCall,
            CallWatch watch,
            Breakers breakers,
            Parking parking,
            ReceiverStatus status) {
        this.group = group;
        this.database = database;
        this.writes = new RetriedWrites(database);
        this.tracing = tracing;
        this.afterCall = afterCall;
        this.watch = watch;
        this.breakers = breakers;
        this.parking = parking;
        this.status = status;
    }

    /**
     * Attempts to handle events together, each with all its handlers.
     *
     * @param stopAfter gets the number of events handled so far; returns whether to leave the rest
     * @param abandonment what is done if a call has not returned
     */
    Attempt handleTogether(
            List<ReceivedEvent> events,
            Claims claims,
            Predicate<Integer> stopAfter,
            CallWatch.Abandonment abandonment) {
        HandlerCalls calls = calls(abandonment);
        return execute(
                new Attempt(database, parking, calls, events, ReceivedEvent::handlers, claims, stopAfter), calls);
    }

    /** Attempts to handle one event with these handlers. */
    Attempt handleAlone(ReceivedEvent event, List<Handler> handlers, Claims claims, CallWatch.Abandonment abandonment) {
        HandlerCalls calls = calls(abandonment);
        return execute(
                new Attempt(database, parking, calls, List.of(event), one -> handlers, claims, handled -> true), calls);
    }

    private HandlerCalls calls(CallWatch.Abandonment abandonment) {
        return new HandlerCalls(group, tracing, afterCall, watch, breakers, abandonment);
    }

    private Attempt execute(Attempt attempt, HandlerCalls calls) {
        attempt.execute();
        calls.attemptEnded(attempt.mayBeCommitted() && !attempt.isCommitted() ? attempt.cause() : null);
        if (attempt.isCommitted()) {
            status.committed(attempt.effects(), attempt.duplicates());
            parking.followed(attempt.followers());
        } else if (Faults.isReadOnly(attempt.cause())) {
            writes.endReadOnlyConnections(); // the pool would give them to every next attempt
        }
        return attempt;
    }

    /** Whose failure an attempt is that was not committed. */
    FailureKind failureOf(Attempt attempt) {
        return FailureKind.attempt(attempt, writes);
    }

    /**
     * What the handlers of an attempt say about the next one. They have no say if their exception is not the cause. An
     * attempt that lost against another transaction is repeated, unless the handler asks for a delay. So is one that had
     * no connection to a database: that says nothing about the event, whatever the handler names.
     */
    static RetryRule retryRule(Attempt attempt, FailureKind failure, List<Handler> handlers) {
        if (failure == FailureKind.DATABASE || !attempt.hasThrown()) {
            return RetryRule.AS_CONFIGURED;
        }
        boolean mayBeAboutTheEvent = failure == FailureKind.EVENT && !Faults.isTemporary(attempt.cause());
        return RetryRule.of(attempt.cause(), mayBeAboutTheEvent ? handlers : List.of());
    }
}
