package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.Slice;
import dev.twinbox.relay.jdbc.Slice.Cut;
import dev.twinbox.relay.jdbc.Snapshot;
import java.sql.SQLException;

/**
 * Reads window after window. A window holds the rows that became visible since the last one, in order of {@code seq}.
 * Two transactions that waited for each other's row lock keep their order: by window, and by number within one window.
 *
 * <p>It lives exactly as long as its database connection, see {@link Position}. Not for several threads.
 */
final class Window {
    private final OutboxTable table;
    private Position position;

    Window(OutboxTable table, Position position) {
        this.table = table;
        this.position = position;
    }

    /** The next page; it is empty if there is nothing now. */
    Page read() throws SQLException {
        Snapshot to = position.to();
        Slice slice =
                to == null ? table.openWindow(position.from()) : table.nextPage(position.from(), to, position.seq());
        position = after(position, slice);
        return new Page(slice.records(), position, slice.bytes());
    }

    /** The position after a slice that was read from {@code before}. */
    static Position after(Position before, Slice slice) {
        Snapshot to = before.to();
        Snapshot end = to == null ? slice.snapshot() : to;
        if (end == null) {
            throw new IllegalStateException("the window was opened without its snapshot");
        }
        return slice.cut() == Cut.MORE_TO_COME
                ? Position.open(before.from(), end, lastSeq(slice))
                : Position.closed(end);
    }

    /** Whether the last page was the end of its window. Then the next page opens a new window. */
    boolean isAtEnd() {
        return position.to() == null;
    }

    private static long lastSeq(Slice slice) {
        return slice.records().get(slice.records().size() - 1).seq();
    }
}
