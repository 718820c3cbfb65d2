package dev.twinbox.inbox.kafka;

/** When offsets are committed. */
public enum OffsetPolicy {
    /** After the events are handled. */
    AFTER_HANDLING,
    /** Before the event is handled, one event at a time. */
    BEFORE_HANDLING
}
