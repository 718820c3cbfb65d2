package dev.twinbox.inbox.jdbc;

import java.time.Instant;
import java.util.Collections;
import java.util.SortedMap;

/**
 * What an operator has paused in one group, each with the beginning of its pause by the database's clock.
 *
 * @param topics whose partitions are held
 * @param handlers whose events are parked
 */
public record Paused(SortedMap<String, Instant> topics, SortedMap<String, Instant> handlers) {

    /** Nothing is paused. */
    public static final Paused NOTHING = new Paused(Collections.emptySortedMap(), Collections.emptySortedMap());

    public Paused {
        topics = Collections.unmodifiableSortedMap(topics);
        handlers = Collections.unmodifiableSortedMap(handlers);
    }

    public boolean isNothing() {
        return topics.isEmpty() && handlers.isEmpty();
    }
}
