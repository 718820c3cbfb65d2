package dev.twinbox.proof.matrix;

/** The event over which a receiver is killed. */
record CrashEvent(Handling handling, String id, long offset) {

    /** The text by which the receiver logs the event. */
    String coordinates() {
        return handling.partition() + "@" + offset + " ";
    }
}
