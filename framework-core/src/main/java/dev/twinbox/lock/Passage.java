package dev.twinbox.lock;

/** What became of a fence. */
enum Passage {
    /** The transaction has the row's lock now. */
    PASSED,
    /** The token is no longer the key's. */
    REFUSED,
    /** The transaction reads an old snapshot, which may lack the grant. Nobody knows whether it is the latest one. */
    OLD_SNAPSHOT
}
