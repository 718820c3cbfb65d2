package dev.twinbox.proof.matrix;

/** The event over which a receiver is killed. */
record CrashEvent(Handling handling, String id, long offset) {

    /** As it prints itself in the receiver. */
    String coordinates() {
        return handling.partition() + "@" + offset + " ";
    }
}
