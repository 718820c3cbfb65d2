package dev.twinbox.relay;

import java.sql.SQLException;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Which keys are blocked, because an event of theirs is set aside. While nothing is, nobody asks the database; else the
 * sending thread asks once for each page. What is kept in memory are the keys of pages in flight only, so it is bounded by
 * them however many events are parked.
 *
 * <p>Nothing may slip through between the moment when a key is set aside and the one when its row can be seen: the key is
 * pending from before the first until after the second, and pending keys are looked at before the rows are. An answer that is
 * late in the other direction does no harm: an event that is set aside without need is sent from the table.
 */
final class Parking {
    private final Map<OutboxKey, Integer> pending = new HashMap<>(); // guarded by this
    private long saves; // guarded by this
    private volatile boolean any;

    /** @param any whether events of this relay are parked */
    Parking(boolean any) {
        this.any = any;
    }

    /** Whether events may be set aside now. */
    boolean any() {
        return any;
    }

    /** The sending thread sets an event aside; its key is blocked from now on. Null keys have no order and block nothing. */
    synchronized void add(OutboxRecord record) {
        any = true;
        OutboxKey key = record.key();
        if (key != null) {
            pending.merge(key, 1, Integer::sum);
        }
    }

    /** The rows of these events can be seen. */
    synchronized void saved(List<ParkedTable.Entry> entries) {
        saves++;
        for (ParkedTable.Entry entry : entries) {
            OutboxKey key = entry.record().key();
            if (key != null) {
                pending.computeIfPresent(key, (same, count) -> count == 1 ? null : count - 1);
            }
        }
    }

    /** Those of a page's keys that are blocked now. */
    Set<OutboxKey> blockedOf(Page page, ParkedTable table) throws SQLException {
        Set<OutboxKey> keys = new HashSet<>();
        for (OutboxRecord record : page.records()) {
            OutboxKey key = record.key();
            if (key != null) {
                keys.add(key);
            }
        }
        Set<OutboxKey> blocked = pendingOf(keys);
        keys.removeAll(blocked);
        blocked.addAll(table.blocked(keys));
        return blocked;
    }

    private synchronized Set<OutboxKey> pendingOf(Collection<OutboxKey> keys) {
        Set<OutboxKey> found = new HashSet<>();
        for (OutboxKey key : keys) {
            if (pending.containsKey(key)) {
                found.add(key);
            }
        }
        return found;
    }

    /** To be asked before looking whether any row is left; see {@link #empty(long)}. */
    synchronized long saves() {
        return saves;
    }

    /** No row was left at a time when so many saves had been made. */
    synchronized void empty(long savesThen) {
        if (saves == savesThen && pending.isEmpty()) {
            any = false;
        }
    }
}
