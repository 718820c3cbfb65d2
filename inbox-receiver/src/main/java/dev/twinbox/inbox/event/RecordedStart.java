package dev.twinbox.inbox.event;

/**
 * A committed row that records that a handler is about to be called with an event. It survives a crash of the process.
 *
 * @param number number of the row
 * @param times how often the handler was started with the event, including this time
 */
public record RecordedStart(long number, int times) {}
