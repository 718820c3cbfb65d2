package dev.twinbox.inbox.event;

import dev.twinbox.CloudEventHeaders;
import jakarta.json.JsonException;
import jakarta.json.JsonPointer;
import org.jspecify.annotations.Nullable;

/** The place in a record that holds the id or the type of its event. */
public sealed interface Origin {

    /** The places that are configured by one word. */
    String CLOUD_EVENT = "cloudevent";

    String CLOUD_EVENT_ID = "cloudevent-id";

    String RECORD_KEY = "key";
    String RECORD_COORDINATES = "coordinates";

    /**
     * An attribute of CloudEvents. It is a header in binary mode and a member of the value in structured mode.
     *
     * @param header its name in binary mode
     * @param text as configured
     */
    record Attribute(String header, String text) implements Origin {
        /** The id. The source is part of the event's identity. */
        public static final Attribute ID = new Attribute(CloudEventHeaders.ID, CLOUD_EVENT);

        /** The id alone, for producers whose source changes. */
        static final Attribute ID_ALONE = new Attribute(CloudEventHeaders.ID, CLOUD_EVENT_ID);

        static final Attribute TYPE = new Attribute(CloudEventHeaders.TYPE, CLOUD_EVENT);

        @Override
        public String toString() {
            return text;
        }
    }

    /** Another header. */
    record HeaderNamed(String name) implements Origin {
        static final String PREFIX = "header:";

        @Override
        public String toString() {
            return PREFIX + name;
        }
    }

    /** The record's key. */
    record Key() implements Origin {
        @Override
        public String toString() {
            return RECORD_KEY;
        }
    }

    /**
     * A place in the value, by RFC 6901.
     *
     * @param text as configured
     */
    record Place(String text, JsonPointer pointer) implements Origin {
        static final String PREFIX = "json-pointer:";

        @Override
        public String toString() {
            return PREFIX + text;
        }
    }

    /** Topic, partition and offset of the record. */
    record Coordinates() implements Origin {
        @Override
        public String toString() {
            return RECORD_COORDINATES;
        }
    }

    /** A fixed text, the same for all records of the topic. */
    record Fixed(String value) implements Origin {
        static final String PREFIX = "fixed:";

        @Override
        public String toString() {
            return PREFIX + value;
        }
    }

    /** Null if the text names no place of an id. */
    static @Nullable Origin ofId(String text) {
        return switch (text) {
            case CLOUD_EVENT -> Attribute.ID;
            case CLOUD_EVENT_ID -> Attribute.ID_ALONE;
            case RECORD_KEY -> new Key();
            case RECORD_COORDINATES -> new Coordinates();
            default -> headerOrPlace(text);
        };
    }

    /** Null if the text names no place of a type. */
    static @Nullable Origin ofType(String text) {
        if (text.equals(CLOUD_EVENT)) {
            return Attribute.TYPE;
        }
        if (text.startsWith(Fixed.PREFIX)) {
            String value = text.substring(Fixed.PREFIX.length());
            return value.isBlank() ? null : new Fixed(value);
        }
        return headerOrPlace(text);
    }

    private static @Nullable Origin headerOrPlace(String text) {
        if (text.startsWith(HeaderNamed.PREFIX)) {
            String name = text.substring(HeaderNamed.PREFIX.length());
            return name.isBlank() ? null : new HeaderNamed(name);
        }
        if (text.startsWith(Place.PREFIX)) {
            return place(text.substring(Place.PREFIX.length()));
        }
        return null;
    }

    /** Null for the whole value: an id or a type is always a part of it. */
    private static @Nullable Origin place(String pointer) {
        try {
            return pointer.isEmpty() ? null : new Place(pointer, Json.PROVIDER.createPointer(pointer));
        } catch (JsonException e) {
            return null;
        }
    }
}
