package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.pause.Pauses;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The handlers that are not called for new events: their circuit breaker is open, or an operator has paused them. Their
 * events are parked in their places, up to a limit. Used by all workers.
 */
final class HeldHandlers {

    private final Breakers breakers;
    private final Pauses pauses;
    private final HandlerTable table;
    private final int mostWaiting;

    /** @param mostWaiting while a handler is paused, about so many events may be parked for it */
    HeldHandlers(Breakers breakers, Pauses pauses, HandlerTable table, int mostWaiting) {
        this.breakers = breakers;
        this.pauses = pauses;
        this.table = table;
        this.mostWaiting = mostWaiting;
    }

    Breakers breakers() {
        return breakers;
    }

    Pauses pauses() {
        return pauses;
    }

    /** Their names. */
    Set<String> names() {
        Set<String> open = breakers.open();
        Set<String> paused = pauses.current().handlers().keySet();
        if (paused.isEmpty()) {
            return open;
        }
        Set<String> all = new TreeSet<>(open);
        all.addAll(paused);
        return all;
    }

    /** Null if no parked event may be tried now. */
    Breakers.@Nullable Probe takeProbe() {
        return breakers.takeProbe(pauses.current().handlers().keySet());
    }

    /**
     * Too many events are parked for a handler that is not called.
     *
     * @throws Breakers.FullException if there is no room for more
     */
    void checkRoom(Connection connection, String group, String handler) throws SQLException {
        if (!pauses.isHandlerPaused(handler)) {
            breakers.checkRoom(connection, group, handler);
        } else if (table.waiting(connection, group, handler, mostWaiting) >= mostWaiting) {
            throw Breakers.FullException.whilePaused(mostWaiting, handler);
        }
    }
}
