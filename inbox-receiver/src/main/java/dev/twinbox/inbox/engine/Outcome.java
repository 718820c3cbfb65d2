package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.Handler;
import org.jspecify.annotations.Nullable;

/**
 * The result of a {@link Batch}.
 *
 * @param settled how many of its events, from the first on, need nothing more; they are committed, or no handler takes
 *     them
 * @param next what happens to the rest
 * @param cause why the rest has to wait; null with {@link Next#GO_ON} and {@link Next#WAIT_FOR_INSTANCE}
 * @param handler the handler that failed; null if none did
 */
record Outcome(
        int settled,
        Next next,
        @Nullable Throwable cause,
        @Nullable Handler handler) {

    enum Next {
        /** Hand out the next events. */
        GO_ON,
        /** A handler did not return in time, so another thread brings the outcome of the batch. */
        TAKEN_OVER,
        /** The database or the connection failed. The same events are handed out again after a wait. */
        WAIT_FOR_DATABASE,
        /** The first event after the settled ones failed. It is handed out again after a wait. */
        WAIT_FOR_EVENT,
        /**
         * Another instance handles the first event after the settled ones, and its handler is guarded. It is handed out
         * again after a wait.
         */
        WAIT_FOR_INSTANCE,
        /**
         * The first event after the settled ones is for a handler of another instance, and too many events already wait
         * for that handler. It is handed out again after a wait.
         */
        HOLD
    }

    /** The events stay where they are, because their handler must not be called now. */
    static class HeldException extends RuntimeException {
        private static final long serialVersionUID = 1;

        HeldException(String message) {
            super(message);
        }
    }

    static Outcome goOn(int settled) {
        return new Outcome(settled, Next.GO_ON, null, null);
    }

    static Outcome takenOver() {
        return new Outcome(0, Next.TAKEN_OVER, null, null);
    }

    static Outcome waitForDatabase(int settled, Throwable cause) {
        return new Outcome(settled, Next.WAIT_FOR_DATABASE, cause, null);
    }

    static Outcome hold(int settled, Throwable cause) {
        return new Outcome(settled, Next.HOLD, cause, null);
    }

    static Outcome waitForInstance(int settled) {
        return new Outcome(settled, Next.WAIT_FOR_INSTANCE, null, null);
    }

    static Outcome waitForEvent(int settled, Throwable cause, @Nullable Handler handler) {
        return new Outcome(settled, Next.WAIT_FOR_EVENT, cause, handler);
    }
}
