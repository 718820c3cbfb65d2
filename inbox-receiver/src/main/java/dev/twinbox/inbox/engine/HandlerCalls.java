package dev.twinbox.inbox.engine;

import dev.twinbox.EventContext;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.jdbc.ClaimSession;
import dev.twinbox.outbox.Cause;
import dev.twinbox.tracing.Tracing;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Calls handlers with events. Handlers of one event are called at once, handlers of lists at the end.
 *
 * <p>Used by one attempt, by one thread.
 */
final class HandlerCalls {

    private final String group;
    private final Tracing tracing;
    private final Runnable afterCall;
    private final CallWatch watch;
    private final Breakers breakers;
    private final CallWatch.Abandonment abandonment;
    private final SortedMap<String, ListCall> lists = new TreeMap<>();

    /** The handlers of the calls that returned, one for each call. */
    private final List<Handler> returned = new ArrayList<>();

    private @Nullable ClaimSession session;

    /**
     * Calls handlers in one transaction.
     *
     * @param afterCall runs when a call has ended
     * @param abandonment what is done about a call that has not returned
     */
    HandlerCalls(
            String group,
            Tracing tracing,
            Runnable afterCall,
            CallWatch watch,
            Breakers breakers,
            CallWatch.Abandonment abandonment) {
        this.group = group;
        this.tracing = tracing;
        this.afterCall = afterCall;
        this.watch = watch;
        this.breakers = breakers;
        this.abandonment = abandonment;
    }

    /** Notes the session in which the events are claimed. */
    void claimedIn(ClaimSession claiming) {
        session = claiming;
    }

    /** Calls the handler, or collects the event for {@link #callLists}. */
    void call(Handler handler, ReceivedEvent event) throws Throwable {
        if (handler.shape() == HandlerShape.LIST) {
            lists.computeIfAbsent(handler.name(), h -> new ListCall(handler)).add(event);
            return;
        }
        @Nullable Object value = event.eventFor(handler);
        @Nullable EventContext context = handler.shape() == HandlerShape.EVENT_AND_CONTEXT ? event.context() : null;
        Tracing.Work call = () -> Cause.of(event::context, () -> handler.handle(value, context));
        standingAlone(
                handler,
                List.of(event),
                handler.hasEffect() ? () -> tracing.handle(group, handler.name(), event::context, call) : call);
    }

    /**
     * A call has a time limit. The interrupt flag that a handler sets or restores is about its call, not about the
     * thread. So are the instances of its request.
     */
    private void standingAlone(Handler handler, List<ReceivedEvent> events, Tracing.Work work) throws Throwable {
        CallWatch.Call call = watch.begin(handler, events, session, abandonment);
        Throwable thrown = null;
        try {
            work.run();
        } catch (Throwable t) { // whatever it is, the call has ended
            thrown = t;
        }
        try {
            call.end(thrown);
        } catch (Throwable t) { // it took too long
            thrown = t;
        } finally {
            Thread.interrupted();
            afterCall.run();
        }
        if (thrown != null) {
            breakers.ended(handler, thrown);
            throw thrown;
        }
        returned.add(handler);
    }

    /**
     * The attempt has ended. Only now a call that returned counts for its circuit breaker. A commit that fails counts once
     * for each handler, however many calls it had.
     *
     * @param atCommit why the commit after the calls failed; null if it did not, or if there was none
     */
    void attemptEnded(@Nullable Throwable atCommit) {
        (atCommit == null ? returned : new LinkedHashSet<>(returned))
                .forEach(handler -> breakers.ended(handler, atCommit));
    }

    /** Calls each handler of lists once, with all its events. */
    void callLists() throws Throwable {
        for (ListCall call : lists.values()) {
            standingAlone(
                    call.handler,
                    call.events,
                    () -> tracing.handleAll(group, call.handler.name(), call::contexts, call));
        }
    }

    /** The call of one handler of lists. */
    private static final class ListCall implements Tracing.Work {
        private final Handler handler;
        private final List<ReceivedEvent> events = new ArrayList<>();
        private final List<@Nullable Object> values = new ArrayList<>();

        ListCall(Handler handler) {
            this.handler = handler;
        }

        void add(ReceivedEvent event) {
            values.add(event.eventFor(handler));
            events.add(event);
        }

        List<EventContext> contexts() {
            return events.stream().map(ReceivedEvent::context).toList();
        }

        @Override
        public void run() throws Throwable {
            handler.handleAll(values);
        }
    }
}
