package dev.twinbox.relay.jdbc;

import java.time.Instant;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/**
 * A row that holds an event.
 *
 * @param place the table that it is in
 * @param number in this table: {@code seq} in the event table
 * @param occurredAt null if it is infinite, or missing
 * @param isSent whether the saved position has passed it; false in other tables than the event table
 * @param deliverAt of a scheduled event
 * @param state of a parked event
 * @param error of a parked event
 */
public record FoundEvent(
        Place place,
        long number,
        @Nullable UUID id,
        String topic,
        @Nullable String key,
        @Nullable String type,
        @Nullable Instant occurredAt,
        boolean isSent,
        @Nullable Instant deliverAt,
        @Nullable ParkedState state,
        @Nullable String error) {

    /** A table that holds events. */
    public enum Place {
        SCHEDULED,
        EVENTS,
        PARKED
    }
}
