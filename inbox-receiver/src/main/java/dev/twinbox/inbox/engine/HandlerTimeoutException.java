package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.config.InboxSettings;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** A handler took longer than its limit. Its effect is rolled back. */
final class HandlerTimeoutException extends RuntimeException {
    private static final long serialVersionUID = 1;

    private final transient Handler handler;
    private final transient List<ReceivedEvent> events;

    private HandlerTimeoutException(
            Handler handler, List<ReceivedEvent> events, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.handler = handler;
        this.events = events;
    }

    /**
     * It returned after it was interrupted.
     *
     * @param thrown what it threw, null if it returned normally
     */
    static HandlerTimeoutException late(
            Handler handler, List<ReceivedEvent> events, Duration limit, @Nullable Throwable thrown) {
        return new HandlerTimeoutException(
                handler,
                events,
                "handler " + handler + " took longer than " + InboxConfig.text(limit)
                        + " and was interrupted: make it faster, or raise " + InboxSettings.HANDLER_TIMEOUT.key()
                        + " or @InboxHandler(timeout = ...)",
                thrown);
    }

    /** It has not returned, although it was interrupted. */
    static HandlerTimeoutException hung(Handler handler, List<ReceivedEvent> events, Duration limit) {
        return new HandlerTimeoutException(
                handler,
                events,
                "handler " + handler + " has not returned after " + InboxConfig.text(limit)
                        + ", although it was interrupted: correct it, its thread is lost until the server is restarted",
                null);
    }

    Handler handler() {
        return handler;
    }

    /** One event, or those of a call with a list. */
    List<ReceivedEvent> events() {
        return events;
    }

    /** The event that took too long. Null if it may have been any of a list. */
    @Nullable ReceivedEvent culprit() {
        return events.size() == 1 ? events.get(0) : null;
    }
}
