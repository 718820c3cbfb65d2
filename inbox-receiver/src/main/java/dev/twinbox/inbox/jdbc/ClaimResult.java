package dev.twinbox.inbox.jdbc;

/** What is to be done about a delivery that was to be claimed. */
public enum ClaimResult {
    /** Claimed now: call the handler. */
    TO_HANDLE,
    /** Its key waits for an earlier event: park it after that one. */
    TO_FOLLOW,
    /** Its effect has happened, or it is parked itself. */
    DONE
}
