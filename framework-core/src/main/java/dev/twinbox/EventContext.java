package dev.twinbox;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The attributes of a received event, and where it was read.
 *
 * @param id unique id of the event, the same at every redelivery
 * @param type logical name of the event
 * @param source CloudEvents {@code source}: URI-reference of the producing service; null if the producer gave none
 * @param time when the event was published, by the producer's clock; null if the producer gave none
 * @param key record key: events of one key arrive in order; null for none
 * @param topic Kafka topic
 * @param partition partition of the topic, from 0
 * @param offset offset in the partition, from 0
 * @param headers all headers as text, in the record's order, the CloudEvents ones included; the last one of a repeated
 *     name
 */
public record EventContext(
        String id,
        String type,
        @Nullable String source,
        @Nullable Instant time,
        @Nullable String key,
        String topic,
        int partition,
        long offset,
        Map<String, String> headers) {

    public EventContext {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /** Id of the event in whose handler this one was published; null if the producer gave none. */
    public @Nullable String causationId() {
        return headers.get(CloudEventHeaders.CAUSATION_ID);
    }

    /** Id shared by all events that follow from one first event; null if the producer gave none. */
    public @Nullable String correlationId() {
        return headers.get(CloudEventHeaders.CORRELATION_ID);
    }
}
