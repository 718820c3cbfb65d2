package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.jdbc.ClaimResult;
import dev.twinbox.inbox.jdbc.InboxTable.Keys;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * One try to handle events in one transaction: claim, call, give back what there was no time for, commit.
 *
 * <p>Used once, by one thread.
 */
final class Attempt implements Runnable, Synchronization {

    /** How far it got: that decides what is to blame for a failure. */
    private enum Phase {
        BEGIN,
        CLAIM,
        HANDLE,
        COMMIT
    }

    private final JtaDatabase database;
    private final Parking parking;
    private final HandlerCalls calls;
    private final List<ReceivedEvent> events;
    private final Function<ReceivedEvent, List<Handler>> handlersOf;
    private final Claims claims;
    private final Predicate<Integer> stopAfter;

    /** By handler and event id, until the delivery is taken. */
    private final Map<String, Map<String, ClaimResult>> results = new HashMap<>();

    private final List<Delivery> followers = new ArrayList<>();
    private Phase phase = Phase.BEGIN;
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
            JtaDatabase database,
            Parking parking,
            HandlerCalls calls,
            List<ReceivedEvent> events,
            Function<ReceivedEvent, List<Handler>> handlersOf,
            Claims claims,
            Predicate<Integer> stopAfter) {
        this.database = database;
        this.parking = parking;
        this.calls = calls;
        this.events = events;
        this.handlersOf = handlersOf;
        this.claims = claims;
        this.stopAfter = stopAfter;
    }

    /** Runs the transaction; afterwards the other methods say how it went. */
    Attempt execute() {
        try {
            database.transaction().run(this);
        } catch (RuntimeException | Error e) {
            blame(e);
        }
        return this;
    }

    /**
     * Only what the transaction manager reports counts: a method that returns normally may have been rolled back. In doubt the
     * answer is no, and the claims of the next attempt find what had been committed after all.
     */
    boolean isCommitted() {
        return committed && thrown == null;
    }

    /** How often a handler was called, if it is committed. */
    int effects() {
        return effects;
    }

    /** How many deliveries were left out because their effect had happened before. */
    int duplicates() {
        return duplicates;
    }

    /** What was parked behind earlier events of its key, if it is committed. */
    List<Delivery> followers() {
        return followers;
    }

    /** How many events, from the first on, are done if it is committed. */
    int handled() {
        return handled;
    }

    /** Whether the database, not an event, is to blame. */
    boolean isDatabaseFault() {
        Throwable cause = cause();
        boolean beforeHandling = phase == Phase.BEGIN || phase == Phase.CLAIM;
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
            database.registry().registerInterposedSynchronization(this);
            phase = Phase.CLAIM;
            claim();
            phase = Phase.HANDLE;
            callHandlers();
            phase = Phase.COMMIT;
        } catch (Throwable t) { // whatever a handler throws rolls back
            blame(t);
            rollBack();
        }
    }

    private void claim() throws SQLException {
        List<Delivery> deliveries = new ArrayList<>();
        for (ReceivedEvent event : events) {
            handlersOf.apply(event).forEach(handler -> deliveries.add(new Delivery(handler, event)));
        }
        if (!deliveries.isEmpty()) {
            try (Connection connection = database.connect()) {
                claims.take(
                        connection,
                        deliveries,
                        (handler, id, result) -> results.computeIfAbsent(handler, h -> new HashMap<>())
                                .put(id, result));
            }
        }
    }

    private void callHandlers() throws Throwable {
        for (ReceivedEvent event : events) {
            for (Handler handler : handlersOf.apply(event)) {
                switch (take(handler, event)) {
                    case DONE -> duplicates++;
                    case TO_FOLLOW -> followers.add(new Delivery(handler, event));
                    case TO_HANDLE -> {
                        effects += handler.hasEffect() ? 1 : 0;
                        calls.call(handler, event);
                    }
                }
            }
            handled++;
            if (stopAfter.test(handled)) {
                break;
            }
        }
        unclaimTheRest();
        calls.callLists();
        settle();
    }

    /** The second one of a delivery that is in the batch twice is a duplicate. */
    private ClaimResult take(Handler handler, ReceivedEvent event) {
        Map<String, ClaimResult> ofHandler = results.getOrDefault(handler.name(), Map.of());
        ClaimResult result = ofHandler.get(event.id());
        if (result == null) {
            return handler.claims() ? ClaimResult.DONE : ClaimResult.TO_HANDLE;
        }
        ofHandler.put(event.id(), ClaimResult.DONE);
        return result;
    }

    private void unclaimTheRest() throws SQLException {
        Keys rest = new Keys();
        for (ReceivedEvent event : events.subList(handled, events.size())) {
            for (Handler handler : handlersOf.apply(event)) {
                if (handler.claims() && take(handler, event) == ClaimResult.TO_HANDLE) {
                    rest.add(handler.name(), event.id());
                }
            }
        }
        if (!rest.isEmpty()) {
            try (Connection connection = database.connect()) {
                claims.giveBack(connection, rest);
            }
        }
    }

    /** After the handlers, so that its locks are held for a short time only. */
    private void settle() throws SQLException {
        if (followers.isEmpty() && !claims.hasToSettle()) {
            return;
        }
        try (Connection connection = database.connect()) {
            claims.settle(connection); // first: the row of a recorded start is not the one that waits
            for (Delivery follower : followers) {
                parking.follow(connection, follower);
            }
        }
    }

    private void rollBack() {
        try {
            database.registry().setRollbackOnly();
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
