package dev.twinbox.inbox;

import dev.twinbox.inbox.HandlerMethod.Shape;
import dev.twinbox.inbox.InboxTable.Keys;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    private final Predicate<Integer> stopAfter;

    private final Map<String, Set<String>> claims = new HashMap<>();
    private Step step = Step.BEGIN;
    private int handled;
    private int effects;
    private int duplicates;
    private volatile boolean committed; // a server may complete on another thread
    private @Nullable Throwable thrown;

    /**
     * @param handlersOf which handlers an event is for, in the order in which they are called
     * @param stopAfter asked with the number of events handled: whether to leave the rest
     */
    Attempt(
            Workshop workshop,
            List<ReceivedEvent> events,
            Function<ReceivedEvent, List<Handler>> handlersOf,
            Predicate<Integer> stopAfter) {
        this.workshop = workshop;
        this.events = events;
        this.handlersOf = handlersOf;
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
        Keys keys = new Keys();
        for (ReceivedEvent event : events) {
            for (Handler handler : handlersOf.apply(event)) {
                if (handler.claims()) {
                    keys.add(handler.name(), event.id());
                }
            }
        }
        if (!keys.isEmpty()) {
            try (Connection connection = workshop.dataSource().getConnection()) {
                workshop.table()
                        .claim(
                                connection,
                                workshop.group(),
                                keys,
                                (handler, id) -> claims.computeIfAbsent(handler, h -> new HashSet<>())
                                        .add(id));
            }
        }
    }

    private void callHandlers() throws Throwable {
        SortedMap<String, Handler> listHandlers = new TreeMap<>();
        Map<String, List<@Nullable Object>> lists = new HashMap<>();
        for (ReceivedEvent event : events) {
            for (Handler handler : handlersOf.apply(event)) {
                if (!take(handler, event)) {
                    duplicates++;
                    continue;
                }
                effects++;
                if (handler.shape() == Shape.LIST) {
                    listHandlers.put(handler.name(), handler);
                    lists.computeIfAbsent(handler.name(), h -> new ArrayList<>())
                            .add(event.eventFor(handler));
                } else {
                    handler.handle(
                            event.eventFor(handler),
                            handler.shape() == Shape.EVENT_AND_CONTEXT ? event.context() : null);
                }
            }
            handled++;
            if (stopAfter.test(handled)) {
                break;
            }
        }
        unclaimTheRest();
        for (Handler handler : listHandlers.values()) {
            handler.handleAll(lists.getOrDefault(handler.name(), List.of()));
        }
    }

    /** Of a pair that is in the batch twice the second is a duplicate. */
    private boolean take(Handler handler, ReceivedEvent event) {
        if (!handler.claims()) {
            return true;
        }
        Set<String> ids = claims.get(handler.name());
        return ids != null && ids.remove(event.id());
    }

    private void unclaimTheRest() throws SQLException {
        Keys rest = new Keys();
        claims.forEach((handler, ids) -> ids.forEach(id -> rest.add(handler, id)));
        if (!rest.isEmpty()) {
            try (Connection connection = workshop.dataSource().getConnection()) {
                workshop.table().unclaim(connection, workshop.group(), rest);
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
