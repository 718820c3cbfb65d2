package dev.twinbox.inbox.event;

/**
 * The decision that an event has to be parked for a handler. It stays with the event until the parking is committed. So
 * the handler is not called again because the parking failed.
 *
 * @param cause why the handler failed
 * @param mayBeCommitted whether the last attempt failed during its commit, so that its effect may have happened
 */
public record ParkingDecision(Throwable cause, boolean mayBeCommitted) {}
