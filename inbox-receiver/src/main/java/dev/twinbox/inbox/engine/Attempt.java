package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.jdbc.ClaimResult;
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
 * One attempt to handle events in one transaction. It claims the events, calls the handlers, gives back the claims
 * there was no time for, and commits.
 *
 * <p>Used once, by one thread.
 */
final class Attempt implements Runnable, Synchronization {

    /** How far the attempt got. It helps to decide whose failure it is. */
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

    /** The answers to the claims. */
    private final Map<Delivery, ClaimResult> results = new HashMap<>();

    private final List<Delivery> followers = new ArrayList<>();
    private final long begunAt = System.nanoTime();
    private Phase phase = Phase.BEGIN;
    private int handled;
    private int effects;
    private int duplicates;
    private volatile boolean committed; // a server may end the transaction on another thread
    private @Nullable Throwable thrown;

    /**
     * @param handlersOf the handlers of an event, in the order in which they are called
     * @param claims how the events are claimed
     * @param stopAfter gets the number of events handled so far; returns whether to leave the rest
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

    /** Runs the transaction. Afterwards the other methods report the result. */
    Attempt execute() {
        try {
            database.transaction().run(this);
        } catch (RuntimeException | Error e) {
            addThrown(e);
        }
        return this;
    }

    /**
     * Whether the transaction manager has reported a commit. A method that returns normally may still have been rolled
     * back. In doubt the answer is no; the claims of the next attempt then find what was committed.
     */
    boolean isCommitted() {
        return committed && thrown == null;
    }

    /** Whether {@link #cause} is what was thrown, by a handler or at the commit, while no call took too long. */
    boolean hasThrown() {
        return thrown != null && !isBeforeHandling() && !(thrown instanceof HandlerTimeoutException);
    }

    /** How many handler calls had an effect. Valid if the attempt is committed. */
    int effects() {
        return effects;
    }

    /** How many deliveries were skipped because their effect had already happened. */
    int duplicates() {
        return duplicates;
    }

    /** The deliveries that were parked after earlier events of their key. Valid if the attempt is committed. */
    List<Delivery> followers() {
        return followers;
    }

    /** How many events, from the first on, are handled. Valid if the attempt is committed. */
    int handled() {
        return handled;
    }

    /** Whether it ended before the first handler was called. */
    boolean isBeforeHandling() {
        return phase == Phase.BEGIN || phase == Phase.CLAIM;
    }

    /** Whether the handlers returned, and the commit failed or did not answer. So the effect may have happened. */
    boolean mayBeCommitted() {
        return phase == Phase.COMMIT;
    }

    /** When it began, as {@link System#nanoTime}. */
    long begunAt() {
        return begunAt;
    }

    /** Whether its handler was taken for hung. Another thread has settled the event then. */
    boolean isAbandoned() {
        return thrown instanceof CallWatch.AbandonedCallException;
    }

    Throwable cause() {
        return thrown != null
                ? thrown
                : new IllegalStateException(
                        "the transaction was rolled back without an exception: it timed out, or a handler "
                                + "(or code it called) marked it for rollback");
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
        } catch (Throwable t) { // whatever a handler throws rolls the transaction back
            addThrown(t);
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
                calls.claimedIn(claims.take(connection, deliveries, results::put));
            }
        }
    }

    private void callHandlers() throws Throwable {
        for (ReceivedEvent event : events) {
            for (Handler handler : handlersOf.apply(event)) {
                switch (resultFor(handler, event)) {
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

    /** If a batch contains an event twice, the second copy has no answer. */
    private ClaimResult resultFor(Handler handler, ReceivedEvent event) {
        ClaimResult unanswered = handler.claims() ? ClaimResult.DONE : ClaimResult.TO_HANDLE;
        return results.getOrDefault(new Delivery(handler, event), unanswered);
    }

    private void unclaimTheRest() throws SQLException {
        List<Delivery> rest = new ArrayList<>();
        for (ReceivedEvent event : events.subList(handled, events.size())) {
            for (Handler handler : handlersOf.apply(event)) {
                if (handler.claims() && resultFor(handler, event) == ClaimResult.TO_HANDLE) {
                    rest.add(new Delivery(handler, event));
                }
            }
        }
        if (!rest.isEmpty()) {
            try (Connection connection = database.connect()) {
                claims.unclaim(connection, rest);
            }
        }
    }

    /** Runs after the handlers, so that its locks are held for a short time only. */
    private void settle() throws SQLException {
        if (followers.isEmpty() && !claims.hasToSettle()) {
            return;
        }
        try (Connection connection = database.connect()) {
            claims.settle(connection); // first, or a recorded start would keep its event from being parked
            for (Delivery follower : followers) {
                parking.follow(connection, follower);
            }
        }
    }

    private void rollBack() {
        try {
            database.registry().setRollbackOnly();
        } catch (RuntimeException e) {
            // A timeout has already rolled it back. The status after completion says so.
            addThrown(e);
        }
    }

    private void addThrown(Throwable t) {
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
