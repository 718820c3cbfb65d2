package dev.twinbox.lock;

/** What became of a lease that should start anew. */
enum Renewal {
    RENEWED,
    /** Another session is at the row. */
    BUSY,
    /** The token is no longer the key's. */
    LOST
}
