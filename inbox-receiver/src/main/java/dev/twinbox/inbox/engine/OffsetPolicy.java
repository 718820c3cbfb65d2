package dev.twinbox.inbox.engine;

/** When offsets are committed. */
enum OffsetPolicy {
    /** After the events are handled. */
    AFTER_HANDLING,
    /** Before the event is handled, one event at a time. */
    BEFORE_HANDLING
}
