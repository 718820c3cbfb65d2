package dev.twinbox.inbox.event;

/**
 * A committed row that says a handler is about to be called with an event. It survives the death of the process.
 *
 * @param number of the row
 * @param times how often the handler was started with the event, this time included
 */
public record RecordedStart(long number, int times) {}
