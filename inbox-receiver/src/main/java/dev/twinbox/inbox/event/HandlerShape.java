package dev.twinbox.inbox.event;

/** What a handler method takes. */
public enum HandlerShape {
    /** One event. */
    EVENT,
    /** One event and what came along with it. */
    EVENT_AND_CONTEXT,
    /** All events of a batch. */
    LIST
}
