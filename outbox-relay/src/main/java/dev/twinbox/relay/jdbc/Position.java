package dev.twinbox.relay.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * How far the outbox has been relayed. What is visible in {@code from} is done. While a window is open, of the rows visible
 * in {@code to} and not in {@code from} those up to and including {@code seq} are done, too.
 *
 * <p>Snapshots mean something only in the cluster that took them, and only as long as it has not crashed: one that is not
 * saved durably must not be used after a lost connection, because the ids of transactions that left no trace come again.
 *
 * @param to null: no window is open
 * @param seq 0 while no window is open
 */
public record Position(Snapshot from, @Nullable Snapshot to, long seq) {
    /** Nothing has been relayed yet. */
    public static final Position START = closed(Snapshot.EMPTY);

    public Position {
        if ((to == null) != (seq == 0)) {
            throw new IllegalArgumentException("a sequence number, here " + seq + ", goes with an open window only");
        }
    }

    public static Position closed(Snapshot from) {
        return new Position(from, null, 0);
    }

    public static Position open(Snapshot from, Snapshot to, long seq) {
        return new Position(from, to, seq);
    }

    /** For people: {@code from 754:760:755}, or {@code from 754:760:755 to 800:812: at 4711}. */
    @Override
    public String toString() {
        return to == null ? "from " + from : "from " + from + " to " + to + " at " + seq;
    }
}
