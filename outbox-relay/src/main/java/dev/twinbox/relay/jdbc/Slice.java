package dev.twinbox.relay.jdbc;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive rows of a window.
 *
 * @param snapshot the snapshot in which the rows were read; null if it is the window's own
 * @param cut whether rows of the window were left out, or may have been
 * @param bytes memory that the records take, roughly
 */
public record Slice(List<OutboxRecord> records, @Nullable Snapshot snapshot, Cut cut, long bytes) {

    /** Whether a slice ends where its window ends. */
    public enum Cut {
        NOTHING_LEFT,
        MORE_TO_COME
    }
}
