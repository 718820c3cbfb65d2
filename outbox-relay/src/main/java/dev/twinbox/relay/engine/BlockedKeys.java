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
 * Which keys are blocked, because an event of theirs is set aside. While nothing is, nobody asks the database; else the
 * sending thread asks once for each page. What is kept in memory are the keys of pages in flight only, so it is bounded by
 * them however many events are parked.
 *
 * <p>Nothing may slip through between the moment when a key is set aside and the one when its row can be seen: the key is
 * pending from before the first until after the second, and pending keys are looked at before the rows are. An answer that is
 * late in the other direction does no harm: an event that is set aside without need is sent from the table.
 */
final class BlockedKeys {
    private final SessionConnections connections;
    private final RelayConfig config;
    private final Object rowsLock = new Object();
    private final Map<EventKey, Integer> pending = new HashMap<>(); // guarded by this
    private long saves; // guarded by this
    private volatile boolean any = true;
    private @Nullable ParkedTable table; // of the sending thread

    /** At first events may be parked; {@link #recordEmpty} says when they are not. */
    BlockedKeys(SessionConnections connections, RelayConfig config) {
        this.connections = connections;
        this.config = config;
    }

    /** To be held by whoever changes which rows of a key are parked. */
    Object rowsLock() {
        return rowsLock;
    }

    /** Whether events may be parked now. */
    boolean any() {
        return any;
    }

    /** The sending thread sets an event aside; its key is blocked from now on. Null keys have no order and block nothing. */
    synchronized void add(OutboxRecord record) {
        any = true;
        EventKey key = record.key();
        if (key != null) {
            pending.merge(key, 1, Integer::sum);
        }
    }

    /** The rows of these events can be seen. */
    synchronized void recordSaved(List<ParkedTable.Entry> entries) {
        saves++;
        for (ParkedTable.Entry entry : entries) {
            EventKey key = entry.record().key();
            if (key != null) {
                pending.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
            }
        }
    }

    /** Those of a page's keys that are blocked now. Only for the sending thread. */
    Set<EventKey> blockedOf(Page page) throws SQLException {
        if (!any) {
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

    /** To be asked before looking whether any row is left; see {@link #recordEmpty}. */
    synchronized long saves() {
        return saves;
    }

    /** No row was left at a time when so many saves had been made. */
    synchronized void recordEmpty(long savesThen) {
        if (saves == savesThen && pending.isEmpty()) {
            any = false;
        }
    }
}
