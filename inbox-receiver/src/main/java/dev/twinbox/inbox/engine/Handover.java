package dev.twinbox.inbox.engine;

/** How the previous owner of a partition left it. */
enum Handover {
    /** It gave the partition back in order. */
    CLEAN,
    /** It may have died, perhaps because of one of the next events: each of them is started and ended by itself, on the record. */
    AFTER_CRASH
}
