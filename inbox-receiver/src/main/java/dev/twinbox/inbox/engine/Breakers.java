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
import java.util.function.LongSupplier;
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
    private final LongSupplier nanos;
    private final ConcurrentMap<String, Breaker> breakers = new ConcurrentHashMap<>();

    /** What the log and the status say. */
    private final Map<String, Breaker.State> reported = new ConcurrentHashMap<>();

    Breakers(HandlerTable table, int mostWaiting, ReceiverStatus status) {
        this(table, mostWaiting, status, System::nanoTime);
    }

    /** @param nanos as {@link System#nanoTime} */
    Breakers(HandlerTable table, int mostWaiting, ReceiverStatus status, LongSupplier nanos) {
        this.table = table;
        this.mostWaiting = mostWaiting;
        this.status = status;
        this.nanos = nanos;
    }

    /**
     * A call of the handler has ended, or the commit after it has failed.
     *
     * @param thrown null if it returned, and the commit did not fail
     */
    void ended(Handler handler, @Nullable Throwable thrown) {
        if (handler.breakOn().isEmpty() || !handler.hasEffect()) {
            return;
        }
        Breaker breaker = breakers.computeIfAbsent(handler.name(), name -> new Breaker());
        breaker.ended(outcome(handler, thrown), nanos.getAsLong());
        reportIfNew(handler.name(), breaker, thrown);
    }

    /** A call that took too long was interrupted. So what it threw says nothing about what the handler needs. */
    private static Breaker.Outcome outcome(Handler handler, @Nullable Throwable thrown) {
        if (thrown == null) {
            return Breaker.Outcome.SUCCEEDED;
        }
        boolean isLate =
                thrown instanceof HandlerTimeoutException || thrown instanceof CallWatch.AbandonedCallException;
        return !isLate && handler.breaksOn(thrown) ? Breaker.Outcome.FAILED : Breaker.Outcome.OTHER;
    }

    /** The handlers that are not called for new events now. */
    Set<String> open() {
        if (breakers.isEmpty()) {
            return Set.of();
        }
        Set<String> open = new TreeSet<>();
        long now = nanos.getAsLong();
        breakers.forEach((handler, breaker) -> {
            reportIfNew(handler, breaker, null);
            if (breaker.state(now) == Breaker.State.OPEN) {
                open.add(handler);
            }
        });
        return open;
    }

    /** The permission to try one parked event of a handler whose breaker is open. It has to be closed. */
    final class Probe implements AutoCloseable {
        private final String handler;
        private final Breaker breaker;
        private final Breaker.Probe probe;

        private Probe(String handler, Breaker breaker, Breaker.Probe probe) {
            this.handler = handler;
            this.breaker = breaker;
            this.probe = probe;
        }

        String handler() {
            return handler;
        }

        /** The event was handled, so the breaker is closed. */
        void succeeded() {
            breaker.ended(probe, Breaker.Outcome.SUCCEEDED, nanos.getAsLong());
            reportIfNew(handler, breaker, null);
        }

        /** The retry has ended, in whatever way. It has failed unless {@link #succeeded} was called. */
        @Override
        public void close() {
            breaker.ended(probe, Breaker.Outcome.OTHER, nanos.getAsLong());
        }
    }

    /**
     * Null if no parked event may be tried now.
     *
     * @param paused handlers for which nothing may be tried
     */
    @Nullable Probe takeProbe(Set<String> paused) {
        long now = nanos.getAsLong();
        for (Map.Entry<String, Breaker> each : breakers.entrySet()) {
            Breaker.Probe probe =
                    paused.contains(each.getKey()) ? null : each.getValue().takeProbe(now);
            if (probe != null) {
                return new Probe(each.getKey(), each.getValue(), probe);
            }
        }
        return null;
    }

    /** Whether the failure of a parked event is the reason why the breaker of its handler is open. */
    boolean explains(Handler handler, Throwable thrown) {
        Breaker breaker = breakers.get(handler.name());
        return breaker != null
                && outcome(handler, thrown) == Breaker.Outcome.FAILED
                && breaker.state(nanos.getAsLong()) == Breaker.State.OPEN;
    }

    private void reportIfNew(String handler, Breaker breaker, @Nullable Throwable thrown) {
        if (breaker.state(nanos.getAsLong()) != reported.getOrDefault(handler, Breaker.State.CLOSED)) {
            report(handler, breaker, thrown);
        }
    }

    /** One thread at a time, so that the state that is reported last is the present one. */
    private synchronized void report(String handler, Breaker breaker, @Nullable Throwable thrown) {
        Breaker.State state = breaker.state(nanos.getAsLong());
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
    static final class FullException extends Outcome.HeldException {
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
