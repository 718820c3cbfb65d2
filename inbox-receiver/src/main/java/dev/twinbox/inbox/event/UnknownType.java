package dev.twinbox.inbox.event;

/** What happens to an event whose type no handler of the application takes. */
public enum UnknownType {
    /** It is counted, and its type is logged once. Other applications' events share the topic. */
    SKIP,
    /** It is parked. Every type on the topics is meant for this application. */
    PARK
}
