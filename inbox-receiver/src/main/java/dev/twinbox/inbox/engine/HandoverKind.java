package dev.twinbox.inbox.engine;

/** How the previous owner of a partition left it. */
enum HandoverKind {
    /** It gave the partition back properly. */
    CLEAN,
    /**
     * It may have crashed, perhaps because of one of the next events. Each of them is handled alone, after its start
     * was recorded.
     */
    AFTER_CRASH
}
