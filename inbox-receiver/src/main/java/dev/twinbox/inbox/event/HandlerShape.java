package dev.twinbox.inbox.event;

/** The parameters of a handler method. */
public enum HandlerShape {
    /** One event. */
    EVENT,
    /** One event and its context. */
    EVENT_AND_CONTEXT,
    /** All events of a batch. */
    LIST
}
