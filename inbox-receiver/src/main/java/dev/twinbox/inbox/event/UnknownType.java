package dev.twinbox.inbox.event;

/** What becomes of an event whose type no handler of the application takes. */
public enum UnknownType {
    /** It is counted, and its type named once: other applications' events share the topic. */
    SKIP,
    /** It is parked: every type of the topics is meant for this application. */
    PARK
}
