package dev.twinbox.inbox.engine;

import java.util.TreeSet;

/**
 * Knows how far the offset of an assigned partition may be committed: up to the first record that is not settled.
 * Records may be settled in any order.
 *
 * <p>It stores the open records only. So records that are settled early take no memory while an earlier one is open.
 *
 * <p>Used by the poll thread only.
 */
final class OffsetLedger {

    private final TreeSet<Long> open = new TreeSet<>();
    private long fetchedTo;
    private long settledTo;

    /** @param from offset of the first record to come; negative if it is not known */
    OffsetLedger(long from) {
        this.fetchedTo = from;
        this.settledTo = from;
    }

    /** Adds a record that has to be settled. */
    void open(long offset) {
        open.add(offset);
    }

    /**
     * @param next offset of the next record; it can be greater than the last offset plus one where a transaction ended
     */
    void fetchedTo(long next) {
        fetchedTo = Math.max(fetchedTo, next);
    }

    /** The record needs nothing more. */
    void settle(long offset) {
        open.remove(offset);
    }

    /**
     * Offset of the first record that is not settled. If all are settled, it is the offset of the next record to come.
     */
    long settledTo() {
        settledTo = Math.max(settledTo, open.isEmpty() ? fetchedTo : open.first());
        return settledTo;
    }

    /**
     * The distance from the first record that is not settled to the last one fetched. A crash repeats at most this
     * much.
     */
    long ahead() {
        return fetchedTo - settledTo();
    }

    /** How many records are not settled. */
    int size() {
        return open.size();
    }
}
