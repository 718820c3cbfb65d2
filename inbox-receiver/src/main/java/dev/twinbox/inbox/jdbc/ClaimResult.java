package dev.twinbox.inbox.jdbc;

/** The answer to a claim: what is to be done about the delivery. */
public enum ClaimResult {
    /** It is claimed now. Call the handler. */
    TO_HANDLE,
    /** Its key waits for an earlier event. Park it after that event. */
    TO_FOLLOW,
    /** Its effect has already happened, or it is parked itself. */
    DONE
}
