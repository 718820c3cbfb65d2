package dev.twinbox.inbox;

/** What a handler method takes. */
enum HandlerShape {
    /** One event. */
    EVENT,
    /** One event and what came along with it. */
    EVENT_AND_CONTEXT,
    /** All events of a batch. */
    LIST
}
