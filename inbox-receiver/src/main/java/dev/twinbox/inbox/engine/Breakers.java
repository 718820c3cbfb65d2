package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.jdbc.HandlerTable;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.jspecify.annotations.Nullable;

/**
 * The circuit breakers of the handlers that ask for one. They live in memory: each instance finds out by its own calls.
 * Used by all workers.
 */
final class Breakers {

    private static final Logger LOG = System.getLogger(Breakers.class.getName());

    /** While a breaker is open, about so many events may be parked for its handler. */
    static final int MOST_WAITING = 10_000;

    private final HandlerTable table;
    private final int mostWaiting;
    private final ReceiverStatus status;
    private final ConcurrentMap<String, Breaker> breakers = new ConcurrentHashMap<>();

    /** What the log and the status say. */
    private final Map<String, Breaker.State> reported = new ConcurrentHashMap<>();

    Breakers(HandlerTable table, int mostWaiting, ReceiverStatus status) {
        this.table = table;
        this.mostWaiting = mostWaiting;
        this.status = status;
    }

    /**
     * A call of the handler has ended.
     *
     * @param thrown null if it returned
     */
    void ended(Handler handler, @Nullable Throwable thrown) {
        if (handler.breakOn().isEmpty() || !handler.hasEffect()) {
            return;
        }
        Breaker breaker = breakers.computeIfAbsent(handler.name(), name -> new Breaker());
        boolean isFailed = thrown != null && handler.breaksOn(thrown);
        breaker.ended(isFailed ? Breaker.Outcome.FAILED : Breaker.Outcome.SUCCEEDED, System.nanoTime());
        reportIfNew(handler.name(), breaker, thrown);
    }

    /** The handlers that are not called for new events now. */
    Set<String> open() {
        if (breakers.isEmpty()) {
            return Set.of();
        }
        Set<String> open = new TreeSet<>();
        long now = System.nanoTime();
        breakers.forEach((handler, breaker) -> {
            reportIfNew(handler, breaker, null);
            if (breaker.state(now) == Breaker.State.OPEN) {
                open.add(handler);
            }
        });
        return open;
    }

    /**
     * A handler for which one parked event may be tried now. Null if there is none.
     *
     * @param paused handlers for which nothing may be tried
     */
    @Nullable String takeProbe(Set<String> paused) {
        long now = System.nanoTime();
        for (Map.Entry<String, Breaker> each : breakers.entrySet()) {
            if (!paused.contains(each.getKey()) && each.getValue().takeProbe(now)) {
                return each.getKey();
            }
        }
        return null;
    }

    /** Whether the failure of a parked event is the reason why the breaker of its handler is open. */
    boolean explains(Handler handler, Throwable thrown) {
        Breaker breaker = breakers.get(handler.name());
        if (breaker == null || !handler.breaksOn(thrown) || breaker.state(System.nanoTime()) != Breaker.State.OPEN) {
            return false;
        }
        breaker.probeFailed();
        return true;
    }

    /** A parked event was handled. */
    void succeeded(@Nullable String handler) {
        Breaker breaker = handler == null ? null : breakers.get(handler);
        if (handler != null && breaker != null && breaker.probeSucceeded()) {
            reportIfNew(handler, breaker, null);
        }
    }

    private void reportIfNew(String handler, Breaker breaker, @Nullable Throwable thrown) {
        if (breaker.state(System.nanoTime()) != reported.getOrDefault(handler, Breaker.State.CLOSED)) {
            report(handler, breaker, thrown);
        }
    }

    /** One thread at a time, so that the state that is reported last is the present one. */
    private synchronized void report(String handler, Breaker breaker, @Nullable Throwable thrown) {
        Breaker.State state = breaker.state(System.nanoTime());
        Breaker.State before = reported.put(handler, state);
        if (state == (before == null ? Breaker.State.CLOSED : before)) {
            return;
        }
        String subject = "circuit breaker of handler " + handler;
        String text = text(state);
        if (state == Breaker.State.CLOSED) {
            status.removeNote(subject);
            LOG.log(Level.INFO, "The {0} {1}", subject, text);
        } else {
            status.note(subject, text);
            LOG.log(
                    Level.WARNING,
                    () -> "The " + subject + " " + text
                            + (thrown == null ? "" : ". Last failure: " + ErrorText.of(thrown)));
        }
        status.breakersOpen((int) reported.values().stream()
                .filter(each -> each == Breaker.State.OPEN)
                .count());
    }

    private static String text(Breaker.State state) {
        return switch (state) {
            case OPEN ->
                "is open: at least " + Breaker.FAILED_PERCENT + " percent of its calls failed within "
                        + Breaker.WINDOW.toSeconds() + " seconds. Its events are parked in order, and one at a time is "
                        + "tried, without counting attempts, for at most " + Breaker.LONGEST_OPEN.toMinutes()
                        + " minutes";
            case WORN_OUT ->
                "was open for " + Breaker.LONGEST_OPEN.toMinutes() + " minutes. Its handler is called again, and "
                        + "failures count as attempts. Repair what the handler needs";
            case CLOSED -> "is closed: the handler works again, and its parked events follow in order";
        };
    }

    /**
     * Too many events are parked for a handler whose breaker is open.
     *
     * @throws FullException if there is no room for more
     */
    void checkRoom(Connection connection, String group, String handler) throws SQLException {
        if (table.waiting(connection, group, handler, mostWaiting) >= mostWaiting) {
            throw new FullException(mostWaiting, handler);
        }
    }

    /** No more events are parked for a handler that is not called. The partition waits. */
    static final class FullException extends RuntimeException {
        private static final long serialVersionUID = 1;

        FullException(int most, String handler) {
            super(most + " events wait for handler " + handler + ", whose circuit breaker is open, so the partition "
                    + "waits too. Repair what the handler needs");
        }

        private FullException(String message) {
            super(message);
        }

        static FullException whilePaused(int most, String handler) {
            return new FullException(most + " events wait for handler " + handler
                    + ", which an operator has paused, so the partition waits too. Resume it: twinbox-inbox-cli.jar "
                    + "resume --handler " + handler);
        }
    }
}
