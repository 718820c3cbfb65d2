package dev.twinbox.inbox.engine;

import java.util.TreeSet;

/**
 * How far the offset of an assigned partition may be committed: never beyond a record that is not settled, in whatever order the
 * records are settled. Remembers those that are not, so what is settled out of turn costs no memory while it waits for an
 * earlier one.
 *
 * <p>Used by the poll thread only.
 */
final class OffsetLedger {

    private final TreeSet<Long> open = new TreeSet<>();
    private long fetchedTo;
    private long settledTo;

    /** @param from offset of the first record to come; negative if that is not known */
    OffsetLedger(long from) {
        this.fetchedTo = from;
        this.settledTo = from;
    }

    /** A record has come that is to be settled. */
    void open(long offset) {
        open.add(offset);
    }

    /** @param next offset of the record to come; beyond the last one's successor where a transaction ended */
    void fetchedTo(long next) {
        fetchedTo = Math.max(fetchedTo, next);
    }

    /** The record needs nothing more. */
    void settle(long offset) {
        open.remove(offset);
    }

    /** Offset of the first record that is not settled; where there is none, what lies behind the last one is settled too. */
    long settledTo() {
        settledTo = Math.max(settledTo, open.isEmpty() ? fetchedTo : open.first());
        return settledTo;
    }

    /** From the first record that is not settled to the last that was fetched; so much may be repeated after a crash. */
    long ahead() {
        return fetchedTo - settledTo();
    }

    /** How many records are not settled. */
    int size() {
        return open.size();
    }
}
