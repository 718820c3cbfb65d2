package dev.twinbox;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The text parts of an event, and the rules for each. */
enum EventPart {
    KEY("key"),
    TYPE("type") {
        @Override
        void check(@Nullable String value) {
            super.check(value);
            if (value != null && !TypeName.fits(value)) {
                throw new InvalidEventException(TypeName.tooLong(value));
            }
        }
    },
    SUBJECT("subject"),
    CONTENT_TYPE("content type") {
        @Override
        void check(@Nullable String value) {
            super.check(value);
            if (value != null && !isMediaType(value)) {
                throw new InvalidEventException("content type \"" + value
                        + "\" is not a media type: use a form like application/json or text/plain;charset=utf-8");
            }
        }
    };

    private static final Instant EARLIEST = Instant.parse("0001-01-01T00:00:00Z");
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    private final String label;

    EventPart(String label) {
        this.label = label;
    }

    void check(@Nullable String value) {
        if (value == null) {
            return;
        }
        if (value.isEmpty()) {
            throw new InvalidEventException(label + " is empty: leave it out or give it a value");
        }
        checkText(label, value);
    }

    static void checkTopic(String topic) {
        try {
            TopicName.check(topic);
        } catch (IllegalArgumentException e) {
            throw new InvalidEventException(String.valueOf(e.getMessage()), e);
        }
    }

    static void checkHeader(@Nullable String name, @Nullable String value) {
        if (name == null || name.isEmpty()) {
            throw new InvalidEventException("a header has no name: give it one");
        }
        checkText("header name \"" + PrintableText.of(name) + "\"", name);
        if (CloudEventHeaders.isReserved(name)) {
            throw new InvalidEventException(
                    "header \"" + name + "\" is reserved for the event's attributes: choose a name that does not start"
                            + " with ce_, and set the content type by withContentType");
        }
        if (value == null) {
            throw new InvalidEventException("header \"" + name + "\" has no value: leave it out or give it one");
        }
        checkText("header \"" + name + "\"", value);
    }

    /** Years of four digits, which PostgreSQL and every driver and tool can write. */
    static void checkDeliverAt(Instant time) {
        if (time.isBefore(EARLIEST) || time.isAfter(LATEST)) {
            throw new InvalidEventException("deliverAt " + time + " is out of range: " + EARLIEST + " to " + LATEST
                    + "; leave it out to send the event at once");
        }
    }

    private static void checkText(String label, String value) {
        int codePoint;
        for (int i = 0; i < value.length(); i += Character.charCount(codePoint)) {
            codePoint = value.codePointAt(i);
            if (codePoint == 0) {
                throw new InvalidEventException(
                        label + " contains U+0000 at index " + i + ": PostgreSQL cannot store it in text; remove it");
            }
            if (Character.getType(codePoint) == Character.SURROGATE) {
                throw new InvalidEventException(label + " contains a lone surrogate (" + PrintableText.of(codePoint)
                        + ") at index " + i + ": it cannot be written as UTF-8; remove it");
            }
        }
    }

    /** Checks only the form type/subtype[;parameters] of RFC 2045, not whether the type exists. */
    private static boolean isMediaType(String value) {
        int semicolon = value.indexOf(';');
        String essence = (semicolon < 0 ? value : value.substring(0, semicolon)).strip();
        int slash = essence.indexOf('/');
        return slash > 0
                && slash < essence.length() - 1
                && essence.chars().allMatch(c -> c > ' ' && c < 127)
                && value.chars().allMatch(c -> c >= ' ' && c < 127);
    }
}
