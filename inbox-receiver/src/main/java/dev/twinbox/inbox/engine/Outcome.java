package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Handler;
import org.jspecify.annotations.Nullable;

/**
 * What became of a {@link Batch}.
 *
 * @param settled how many of its events, from the first on, need nothing more: handled and committed, or not for any handler
 * @param next what to do about the rest
 * @param cause why there is something to wait for; null with {@link Next#GO_ON}
 * @param handler the handler that failed, if it was one
 */
record Outcome(
        int settled,
        Next next,
        @Nullable Throwable cause,
        @Nullable Handler handler) {

    enum Next {
        /** Hand out what follows. */
        GO_ON,
        /** The database or the connection is at fault: the same again, after a while. */
        WAIT_FOR_DATABASE,
        /** The event behind the settled ones is at fault: it again, after a while. */
        WAIT_FOR_EVENT
    }

    static Outcome goOn(int settled) {
        return new Outcome(settled, Next.GO_ON, null, null);
    }

    static Outcome waitForDatabase(int settled, Throwable cause) {
        return new Outcome(settled, Next.WAIT_FOR_DATABASE, cause, null);
    }

    static Outcome waitForEvent(int settled, Throwable cause, @Nullable Handler handler) {
        return new Outcome(settled, Next.WAIT_FOR_EVENT, cause, handler);
    }
}
