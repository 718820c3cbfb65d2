package dev.twinbox.outbox;

import com.github.f4b6a3.uuid.UuidCreator;
import dev.twinbox.EventSerializer;
import dev.twinbox.EventType;
import dev.twinbox.InvalidEventException;
import dev.twinbox.OutboxEvent;
import dev.twinbox.tracing.Tracing;
import java.time.Instant;
import java.time.InstantSource;
import java.time.temporal.ChronoUnit;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** Makes rows of events. Whatever could stop an event later is found here, at the call. */
final class RowFactory {

    /**
     * Most bytes of key, headers and other attributes of one event. With the default payload limit a record stays below
     * 1 MiB, the default of the producer's {@code max.request.size} and the topic's {@code max.message.bytes}.
     */
    static final int MAX_ATTRIBUTE_BYTES = 65_536;

    private static final String RAW_CONTENT_TYPE = "application/octet-stream";

    private final OutboxConfiguration configuration;
    private final EventSerializer serializer;
    private final InstantSource clock;
    private final Tracing tracing;
    private final Map<Class<?>, EventClass> eventClasses = new ConcurrentHashMap<>();

    RowFactory(OutboxConfiguration configuration, EventSerializer serializer, InstantSource clock, Tracing tracing) {
        this.configuration = configuration;
        this.serializer = serializer;
        this.clock = clock;
        this.tracing = tracing;
    }

    /**
     * Makes the row of an event. What the event lacks is taken from the {@link EventType} of its payload's class.
     *
     * @param event an event object or an {@link OutboxEvent}
     * @throws InvalidEventException if it cannot be sent as it is
     */
    OutboxRow row(@Nullable Object event) {
        if (event == null) {
            throw new InvalidEventException("event is null: publish an object, or OutboxEvent.tombstone(...)");
        }
        OutboxEvent given = event instanceof OutboxEvent outboxEvent ? outboxEvent : OutboxEvent.of(event);
        OutboxEvent complete = complete(given);
        UUID id = UuidCreator.getTimeOrderedEpoch();
        String topic = required(complete.topic(), "topic", complete);
        String type = required(complete.type(), "type", complete);
        byte[] payload = serialize(complete.payload());
        Map<String, String> headers = tracing.created(topic, complete.key(), type, id, complete.headers());
        OutboxRow row = new OutboxRow(
                id,
                topic,
                complete.key(),
                type,
                configuration.source(),
                complete.subject(),
                clock.instant(),
                contentType(complete),
                Cause.addTo(headers),
                payload,
                wholeMicros(complete.deliverAt()));
        checkSize(row);
        return row;
    }

    /** PostgreSQL keeps microseconds. It would round half of all times down, to one that is too early. */
    private static @Nullable Instant wholeMicros(@Nullable Instant time) {
        if (time == null) {
            return null;
        }
        Instant below = time.truncatedTo(ChronoUnit.MICROS);
        return below.equals(time) ? time : below.plus(1, ChronoUnit.MICROS);
    }

    private OutboxEvent complete(OutboxEvent event) {
        Object payload = event.payload();
        if (payload == null) {
            return event;
        }
        EventClass eventClass = eventClass(payload.getClass());
        OutboxEvent complete = event;
        if (complete.topic() == null) {
            complete = complete.withTopic(eventClass.topic());
        }
        if (complete.type() == null) {
            complete = complete.withType(eventClass.logicalName());
        }
        KeyProperty key = eventClass.key();
        if (complete.key() == null && key != null) {
            complete = complete.withKey(key.read(payload));
        }
        return complete;
    }

    /** <b>Remedy.</b> The rest of the message names it. */
    private EventClass eventClass(Class<?> type) {
        try {
            return eventClasses.computeIfAbsent(type, EventClass::of);
        } catch (IllegalArgumentException e) {
            throw new InvalidEventException("@EventType of " + type.getTypeName() + ": " + e.getMessage(), e);
        }
    }

    private static String required(@Nullable String value, String part, OutboxEvent event) {
        if (value != null) {
            return value;
        }
        Object payload = event.payload();
        String what = payload == null ? "tombstone" : payload.getClass().getTypeName();
        throw new InvalidEventException(
                "event (" + what + ") has no " + part + ": state it by @EventType on its class, by"
                        + " @Outbox on the method that returns it, or by OutboxEvent.with"
                        + (part.equals("topic") ? "Topic" : "Type")
                        + "(...)");
    }

    private String contentType(OutboxEvent event) {
        String given = event.contentType();
        if (given != null) {
            return given;
        }
        return event.payload() instanceof byte[] ? RAW_CONTENT_TYPE : serializer.contentType();
    }

    /** <b>Remedy.</b> Correct the class of the event, or its serializer. */
    private byte @Nullable [] serialize(@Nullable Object payload) {
        if (payload == null) {
            return null;
        }
        if (payload instanceof byte[] raw) {
            return raw.clone(); // the caller may reuse it before the transaction commits
        }
        try {
            return serializer.serialize(payload);
        } catch (RuntimeException e) {
            throw new InvalidEventException(
                    "event " + payload.getClass().getTypeName() + " cannot be serialized: " + e.getMessage(), e);
        }
    }

    private void checkSize(OutboxRow row) {
        if (row.payloadBytes() > configuration.maxPayloadBytes()) {
            throw new InvalidEventException("payload of " + describe(row) + " has " + row.payloadBytes() + " bytes, "
                    + OutboxSettings.MAX_PAYLOAD_BYTES.key() + " allows " + configuration.maxPayloadBytes());
        }
        int attributes = row.attributeBytes();
        if (attributes > MAX_ATTRIBUTE_BYTES) {
            throw new InvalidEventException("key, headers and other attributes of the event for topic " + row.topic()
                    + " have " + attributes + " bytes together, allowed are " + MAX_ATTRIBUTE_BYTES);
        }
    }

    private static String describe(OutboxRow row) {
        return "event " + row.type() + " (topic " + row.topic() + ", key " + row.key() + ")";
    }
}
