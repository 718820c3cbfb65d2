package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.EventKey;
import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkedTable;
import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Knows which keys are blocked because one of their events is parked. While nothing is parked, it does not ask the
 * database. Otherwise the sending thread asks once per page. Memory holds only the keys of pages in flight, so parked
 * events do not add to it.
 *
 * <p>A key must be blocked without a gap from the moment its event is parked until the row is visible. So the key is
 * pending from before the first until after the second moment, and pending keys are checked before rows. A key that
 * stays blocked too long does no harm: its event is parked without need and sent from the table.
 */
final class BlockedKeys {
    private final SessionConnections connections;
    private final RelayConfig config;
    private final Object rowsLock = new Object();
    private final Map<EventKey, Integer> pending = new HashMap<>(); // guarded by this
    private long saves; // guarded by this
    private volatile boolean hasAny = true;
    private @Nullable ParkedTable table; // owned by the sending thread

    /** At first, events may be parked. {@link #recordEmpty} ends this state. */
    BlockedKeys(SessionConnections connections, RelayConfig config) {
        this.connections = connections;
        this.config = config;
    }

    /** Lock for changes to the parked rows of a key. */
    Object rowsLock() {
        return rowsLock;
    }

    /** False if surely no event is parked now. */
    boolean hasAny() {
        return hasAny;
    }

    /**
     * Blocks the key of an event that the sending thread parks. Events without a key have no order and block nothing.
     */
    synchronized void add(OutboxRecord record) {
        hasAny = true;
        EventKey key = record.key();
        if (key != null) {
            pending.merge(key, 1, Integer::sum);
        }
    }

    /** The rows of these events are visible now. */
    synchronized void recordSaved(List<ParkedTable.Entry> entries) {
        saves++;
        for (ParkedTable.Entry entry : entries) {
            EventKey key = entry.record().key();
            if (key != null) {
                pending.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
            }
        }
    }

    /** Another thread has parked events; their rows are visible now. */
    synchronized void recordParkedElsewhere() {
        saves++;
        hasAny = true;
    }

    /** The keys of a page that are blocked now. Only for the sending thread. */
    Set<EventKey> blockedOf(Page page) throws SQLException {
        if (!hasAny) {
            return new HashSet<>();
        }
        Set<EventKey> keys = new HashSet<>();
        for (OutboxRecord record : page.records()) {
            EventKey key = record.key();
            if (key != null) {
                keys.add(key);
            }
        }
        Set<EventKey> blocked = pendingOf(keys);
        keys.removeAll(blocked);
        blocked.addAll(table().blocked(keys));
        return blocked;
    }

    private ParkedTable table() throws SQLException {
        ParkedTable present = table;
        if (present == null) {
            present = new ParkedTable(connections.open(), config.tables(), config.name());
            table = present;
        }
        return present;
    }

    private synchronized Set<EventKey> pendingOf(Collection<EventKey> keys) {
        Set<EventKey> found = new HashSet<>();
        for (EventKey key : keys) {
            if (pending.containsKey(key)) {
                found.add(key);
            }
        }
        return found;
    }

    /** Must be read before the check for remaining rows; see {@link #recordEmpty}. */
    synchronized long saves() {
        return saves;
    }

    /** No row was left at the time of this number of saves. */
    synchronized void recordEmpty(long savesThen) {
        if (saves == savesThen && pending.isEmpty()) {
            hasAny = false;
        }
    }
}
