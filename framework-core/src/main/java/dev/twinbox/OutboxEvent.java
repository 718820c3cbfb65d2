package dev.twinbox;

import java.time.Instant;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * An event with its topic, key and other attributes, for what the annotations cannot say.
 *
 * <pre>{@code
 * OutboxEvent.of(new OrderPlaced(42, total)).withKey("42").withHeader("traceparent", parent)
 * OutboxEvent.of(bytes).withTopic("orders").withType("order.placed").withContentType("application/avro")
 * }</pre>
 *
 * What is null here is taken from {@link Outbox} on the publishing method, then from {@link EventType} on the payload's
 * class. All parts are checked when they are set. Text must not contain U+0000, which PostgreSQL cannot store, nor lone
 * surrogates, which UTF-8 cannot express.
 *
 * @param payload the event object, given to the {@link EventSerializer}. A {@code byte[]} is sent as it is, and copied
 *     when it is published. null is a tombstone, a record without a value: see {@link #tombstone}
 * @param topic Kafka topic: 1 to 249 characters of {@code a-z A-Z 0-9 . _ -}, not {@code .} or {@code ..}
 * @param key record key, not empty; events of one topic and key are kept in order. Without one there is no order
 * @param type logical name, not empty, for example {@code order.placed}
 * @param subject CloudEvents {@code subject}, not empty: what within the source the event is about
 * @param contentType media type of the value; null: the serializer's, for a {@code byte[]} {@code
 *     application/octet-stream}
 * @param headers further Kafka headers, sent in this order. The names of {@link CloudEventHeaders} are reserved, but
 *     for causation id, correlation id and trace context
 * @param deliverAt earliest time of sending, by the database's clock; null or a past time: at once. See {@link
 *     #withDeliverAt}
 */
public record OutboxEvent(
        @Nullable Object payload,
        @Nullable String topic,
        @Nullable String key,
        @Nullable String type,
        @Nullable String subject,
        @Nullable String contentType,
        Map<String, String> headers,
        @Nullable Instant deliverAt) {

    /** @throws InvalidEventException if a part is not as described above; the message names it */
    public OutboxEvent {
        if (payload instanceof OutboxEvent) {
            throw new InvalidEventException("payload is an OutboxEvent itself: pass that one on");
        }
        if (topic != null) {
            EventPart.checkTopic(topic);
        }
        EventPart.KEY.check(key);
        EventPart.TYPE.check(type);
        EventPart.SUBJECT.check(subject);
        EventPart.CONTENT_TYPE.check(contentType);
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
        headers.forEach(EventPart::checkHeader);
        if (deliverAt != null) {
            EventPart.checkDeliverAt(deliverAt);
        }
    }

    /**
     * An event object, or a {@code byte[]} that is sent as it is.
     *
     * @throws InvalidEventException if it is null. {@link #tombstone} makes a record without a value
     */
    public static OutboxEvent of(Object payload) {
        if (payload == null) {
            throw new InvalidEventException("payload is null: publish an object. If the key is to be deleted, use"
                    + " OutboxEvent.tombstone(topic, key, type)");
        }
        return new OutboxEvent(payload, null, null, null, null, null, Map.of(), null);
    }

    /** A record with a key and no value, which tells a compacted topic that the key is gone. */
    public static OutboxEvent tombstone(String topic, String key, String type) {
        return new OutboxEvent(null, topic, key, type, null, null, Map.of(), null);
    }

    public OutboxEvent withTopic(@Nullable String value) {
        return new OutboxEvent(payload, value, key, type, subject, contentType, headers, deliverAt);
    }

    public OutboxEvent withKey(@Nullable String value) {
        return new OutboxEvent(payload, topic, value, type, subject, contentType, headers, deliverAt);
    }

    public OutboxEvent withType(@Nullable String value) {
        return new OutboxEvent(payload, topic, key, value, subject, contentType, headers, deliverAt);
    }

    public OutboxEvent withSubject(@Nullable String value) {
        return new OutboxEvent(payload, topic, key, type, value, contentType, headers, deliverAt);
    }

    public OutboxEvent withContentType(@Nullable String value) {
        return new OutboxEvent(payload, topic, key, type, subject, value, headers, deliverAt);
    }

    /** Adds a header; one of the same name is replaced. */
    public OutboxEvent withHeader(String name, String value) {
        Map<String, String> more = new LinkedHashMap<>(headers);
        more.put(name, value);
        return new OutboxEvent(payload, topic, key, type, subject, contentType, more, deliverAt);
    }

    /**
     * Sends the event at this time or soon after it, never before, if the transaction commits. The event takes its
     * place among the events of its topic and key when it is due, after those sent until then. Scheduled events are
     * ordered by {@code deliverAt}, those of one time by publication. A scheduled event cannot be changed or taken
     * back.
     *
     * <p>{@code ce_time} remains the time of publication.
     *
     * @param value in the years 1 to 9999, fractions of a microsecond are rounded up. null: at once
     */
    public OutboxEvent withDeliverAt(@Nullable Instant value) {
        return new OutboxEvent(payload, topic, key, type, subject, contentType, headers, value);
    }

    /** Shows no content of payload and headers: it may be personal, and this text gets into logs. */
    @Override
    public String toString() {
        return "OutboxEvent[payload="
                + (payload == null ? "none" : payload.getClass().getTypeName()) + ", topic="
                + topic + ", key=" + key + ", type=" + type + ", subject=" + subject + ", contentType=" + contentType
                + ", headers=" + headers.keySet() + ", deliverAt=" + deliverAt + "]";
    }
}
