package dev.twinbox.inbox;

import dev.twinbox.EventContext;
import dev.twinbox.inbox.Claims.Pair;
import dev.twinbox.inbox.Claims.Standing;
import dev.twinbox.inbox.HandlerMethod.Shape;
import dev.twinbox.inbox.InboxTable.Keys;
import dev.twinbox.outbox.Cause;
import dev.twinbox.tracing.Tracing;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One try to handle events in one transaction: claim, call, give back what there was no time for, commit.
 *
 * <p>Used once, by one thread.
 */
final class Attempt implements Runnable, Synchronization {

    /** How far it got; tells whom to blame. */
    private enum Step {
        BEGIN,
        CLAIM,
        HANDLE,
        COMMIT
    }

    private final Workshop workshop;
    private final List<ReceivedEvent> events;
    private final Function<ReceivedEvent, List<Handler>> handlersOf;
    private final Claims claims;
    private final Predicate<Integer> stopAfter;

    /** By handler and event id, until it is the pair's turn. */
    private final Map<String, Map<String, Standing>> standings = new HashMap<>();

    private final List<Pair> followers = new ArrayList<>();
    private Step step = Step.BEGIN;
    private int handled;
    private int effects;
    private int duplicates;
    private volatile boolean committed; // a server may complete on another thread
    private @Nullable Throwable thrown;

    /**
     * @param handlersOf which handlers an event is for, in the order in which they are called
     * @param claims how the events are claimed
     * @param stopAfter asked with the number of events handled: whether to leave the rest
     */
    Attempt(
            Workshop workshop,
            List<ReceivedEvent> events,
            Function<ReceivedEvent, List<Handler>> handlersOf,
            Claims claims,
            Predicate<Integer> stopAfter) {
        this.workshop = workshop;
        this.events = events;
        this.handlersOf = handlersOf;
        this.claims = claims;
        this.stopAfter = stopAfter;
    }

    /** Runs the transaction; afterwards the other methods tell how it went. */
    Attempt execute() {
        try {
            workshop.transaction().run(this);
        } catch (RuntimeException | Error e) {
            blame(e);
        }
        if (isCommitted()) {
            workshop.status().committed(effects, duplicates);
            workshop.parking().followed(followers);
        }
        return this;
    }

    /**
     * Only what the transaction manager reports counts: a method that returns normally may have been rolled back. In doubt the
     * answer is no, and the claims of the next attempt tell what had been committed after all.
     */
    boolean isCommitted() {
        return committed && thrown == null;
    }

    /** How many events, from the first on, are done if it is committed. */
    int handled() {
        return handled;
    }

    /** Whether the database, not an event, is to blame. */
    boolean isDatabaseFault() {
        Throwable cause = cause();
        boolean beforeHandling = step == Step.BEGIN || step == Step.CLAIM;
        return beforeHandling ? !Faults.isBadData(cause) : Faults.isTransient(cause);
    }

    Throwable cause() {
        return thrown != null
                ? thrown
                : new IllegalStateException(
                        "the transaction was rolled back although nothing was thrown: a handler, or "
                                + "something that it called, marked it for rollback, or it timed out");
    }

    @Override
    public void run() {
        try {
            workshop.registry().registerInterposedSynchronization(this);
            step = Step.CLAIM;
            claim();
            step = Step.HANDLE;
            callHandlers();
            step = Step.COMMIT;
        } catch (Throwable t) { // whatever a handler throws rolls back
            blame(t);
            rollBack();
        }
    }

    private void claim() throws SQLException {
        List<Pair> pairs = new ArrayList<>();
        for (ReceivedEvent event : events) {
            handlersOf.apply(event).forEach(handler -> pairs.add(new Pair(handler, event)));
        }
        if (!pairs.isEmpty()) {
            try (Connection connection = workshop.dataSource().getConnection()) {
                claims.take(
                        connection,
                        pairs,
                        (handler, id, standing) -> standings
                                .computeIfAbsent(handler, h -> new HashMap<>())
                                .put(id, standing));
            }
        }
    }

    private void callHandlers() throws Throwable {
        SortedMap<String, ListCall> lists = new TreeMap<>();
        for (ReceivedEvent event : events) {
            for (Handler handler : handlersOf.apply(event)) {
                switch (take(handler, event)) {
                    case DONE -> duplicates++;
                    case TO_FOLLOW -> followers.add(new Pair(handler, event));
                    case TO_HANDLE -> {
                        effects += handler.hasEffect() ? 1 : 0;
                        if (handler.shape() == Shape.LIST) {
                            lists.computeIfAbsent(handler.name(), h -> new ListCall(handler))
                                    .add(event);
                        } else {
                            handle(handler, event);
                        }
                    }
                }
            }
            handled++;
            if (stopAfter.test(handled)) {
                break;
            }
        }
        unclaimTheRest();
        for (ListCall call : lists.values()) {
            workshop.tracing().handleAll(workshop.group(), call.handler.name(), call::contexts, call);
        }
        settle();
    }

    /** What a handler of many events is called with. */
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

    private void handle(Handler handler, ReceivedEvent event) throws Throwable {
        @Nullable Object value = event.eventFor(handler);
        @Nullable EventContext context = handler.shape() == Shape.EVENT_AND_CONTEXT ? event.context() : null;
        Tracing.Work call = () -> Cause.of(event::context, () -> handler.handle(value, context));
        if (handler.hasEffect()) {
            workshop.tracing().handle(workshop.group(), handler.name(), event::context, call);
        } else {
            call.run();
        }
    }

    /** Of a pair that is in the batch twice the second is a duplicate. */
    private Standing take(Handler handler, ReceivedEvent event) {
        Map<String, Standing> ofHandler = standings.getOrDefault(handler.name(), Map.of());
        Standing standing = ofHandler.get(event.id());
        if (standing == null) {
            return handler.claims() ? Standing.DONE : Standing.TO_HANDLE;
        }
        ofHandler.put(event.id(), Standing.DONE);
        return standing;
    }

    private void unclaimTheRest() throws SQLException {
        Keys rest = new Keys();
        for (ReceivedEvent event : events.subList(handled, events.size())) {
            for (Handler handler : handlersOf.apply(event)) {
                if (handler.claims() && take(handler, event) == Standing.TO_HANDLE) {
                    rest.add(handler.name(), event.id());
                }
            }
        }
        if (!rest.isEmpty()) {
            try (Connection connection = workshop.dataSource().getConnection()) {
                workshop.table().unclaim(connection, workshop.group(), rest);
            }
        }
    }

    /** Behind the handlers, so that its locks are held for a short time only. */
    private void settle() throws SQLException {
        if (followers.isEmpty() && !claims.hasToSettle()) {
            return;
        }
        try (Connection connection = workshop.dataSource().getConnection()) {
            claims.settle(connection); // first: what was begun is not what gets in line
            for (Pair follower : followers) {
                workshop.parking().follow(connection, follower);
            }
        }
    }

    private void rollBack() {
        try {
            workshop.registry().setRollbackOnly();
        } catch (RuntimeException e) {
            // Already rolled back, by a timeout; the status after completion says so.
            blame(e);
        }
    }

    private void blame(Throwable t) {
        if (thrown == null) {
            thrown = t;
        } else if (thrown != t) {
            thrown.addSuppressed(t);
        }
    }

    @Override
    public void beforeCompletion() {}

    @Override
    public void afterCompletion(int status) {
        committed = status == Status.STATUS_COMMITTED;
    }
}
