package dev.twinbox;

import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An event that was parked because its handler failed, or because an earlier event of its key did.
 *
 * @param number identifies it; those of one key are handled in order of their numbers
 * @param group consumer group
 * @param handler name of the handler; null: the record cannot be read at all, so nobody's
 * @param eventId null: the record has none that could be used
 * @param eventType null: the record has none
 * @param state what happens next
 * @param topic Kafka topic
 * @param partition partition of the topic
 * @param offset offset in the partition
 * @param time time of the record; null: it has none, or it could not be stored, which the error says
 * @param key the record's key, as it is; null: no order
 * @param value the record's value, as it is; null: a tombstone, or left out by the list of parked events
 * @param headers the record's headers, as they are, in order
 * @param attempts how often the handler was called
 * @param error class and message of what the last attempt threw, at most 2000 characters, and what could not be stored
 *     of the record; null: it only waits behind another one
 * @param parkedAt when it was parked
 * @param failedAt when the last attempt failed
 * @param nextTryAt when it is tried again, in state {@link State#RETRY}
 */
@SuppressWarnings("ArrayRecordComponent") // compared by nobody, and a copy of each payload would help nobody
public record ParkedEvent(
        long number,
        String group,
        @Nullable String handler,
        @Nullable String eventId,
        @Nullable String eventType,
        State state,
        String topic,
        int partition,
        long offset,
        @Nullable Instant time,
        byte @Nullable [] key,
        byte @Nullable [] value,
        List<RawHeader> headers,
        int attempts,
        @Nullable String error,
        Instant parkedAt,
        @Nullable Instant failedAt,
        @Nullable Instant nextTryAt) {

    /** What happens to a parked event next. */
    public enum State {
        /** It is tried again at its time. */
        RETRY,
        /** It waits for the parked events of its key before it. */
        BEHIND,
        /** Nothing, until an operator sends it again or discards it; its key waits with it. */
        DEAD,
        /** Nothing, until an operator sends it again or discards it; its key goes on without it. */
        PASSED
    }

    /**
     * A header as it is on the record; names may repeat.
     *
     * @param name its name
     * @param value its bytes, or null
     */
    @SuppressWarnings("ArrayRecordComponent")
    public record RawHeader(String name, byte @Nullable [] value) {}

    /** Topic, partition and offset. */
    public String coordinates() {
        return topic + "-" + partition + "@" + offset;
    }
}
