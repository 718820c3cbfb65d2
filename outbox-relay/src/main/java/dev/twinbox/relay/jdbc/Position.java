package dev.twinbox.relay.jdbc;

import org.jspecify.annotations.Nullable;

/**
 * How far the outbox has been relayed. All rows visible in {@code from} are done. While a window is open, more rows are
 * done: those visible in {@code to} but not in {@code from}, up to and including {@code seq}.
 *
 * <p>A snapshot is only valid in the cluster that took it. After a crash of the cluster, ids of transactions that left
 * no trace are assigned again. So a snapshot that is not durably saved must not be used after its connection is lost,
 * which may have been a crash.
 *
 * @param to null: no window is open
 * @param seq 0 while no window is open
 */
public record Position(Snapshot from, @Nullable Snapshot to, long seq) {
    /** Nothing has been relayed yet. */
    public static final Position START = closed(Snapshot.EMPTY);

    public Position {
        if (to == null && seq != 0) {
            throw new IllegalArgumentException("a sequence number, here " + seq + ", goes with an open window only");
        }
    }

    public static Position closed(Snapshot from) {
        return new Position(from, null, 0);
    }

    public static Position open(Snapshot from, Snapshot to, long seq) {
        return new Position(from, to, seq);
    }

    /** For the operator: {@code from 754:760:755}, or {@code from 754:760:755 to 800:812: at 4711}. */
    @Override
    public String toString() {
        return to == null ? "from " + from : "from " + from + " to " + to + " at " + seq;
    }
}
