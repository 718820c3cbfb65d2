package dev.twinbox.inbox.event;

/**
 * The decision that an event has to be parked for a handler. It stays with the event until the parking is committed. So
 * the handler is not called again because the parking failed.
 *
 * @param cause why the handler failed
 * @param mayBeCommitted whether the last attempt failed during its commit, so that its effect may have happened
 * @param retry whether and when it is tried again
 */
public record ParkingDecision(Throwable cause, boolean mayBeCommitted, RetryRule retry) {

    /** A decision after which the event is retried as configured. */
    public ParkingDecision(Throwable cause, boolean mayBeCommitted) {
        this(cause, mayBeCommitted, RetryRule.AS_CONFIGURED);
    }
}
