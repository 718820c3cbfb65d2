package dev.twinbox;

import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** The text parts of an event, and what each may hold. */
enum EventPart {
    KEY("key"),
    TYPE("type"),
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

    /** Kafka's limit: the topic's folder name "<topic>-<partition>" must fit a file name of 255. */
    private static final int MAX_TOPIC_LENGTH = 249;

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

    /** The rules of org.apache.kafka.common.internals.Topic, which producers do not carry on their class path. */
    static void checkTopic(String topic) {
        if (topic.isEmpty() || topic.length() > MAX_TOPIC_LENGTH) {
            throw new InvalidEventException(
                    "topic \"" + shortened(topic) + "\" has " + topic.length() + " characters: Kafka allows 1 to 249");
        }
        if (topic.equals(".") || topic.equals("..")) {
            throw new InvalidEventException("topic \"" + topic + "\" is not allowed by Kafka");
        }
        for (int i = 0; i < topic.length(); i++) {
            if (!isTopicCharacter(topic.charAt(i))) {
                throw new InvalidEventException("topic \"" + printable(topic) + "\" has an illegal character at index "
                        + i + ": Kafka allows a-z, A-Z, 0-9, '.', '_' and '-'");
            }
        }
    }

    static void checkHeader(@Nullable String name, @Nullable String value) {
        if (name == null || name.isEmpty()) {
            throw new InvalidEventException("a header has no name");
        }
        checkText("header name \"" + printable(name) + "\"", name);
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

    /** What both PostgreSQL and every driver and tool can write with four digits of a year. */
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
                        label + " contains U+0000 at index " + i + ": PostgreSQL can not store it in text");
            }
            if (Character.getType(codePoint) == Character.SURROGATE) {
                throw new InvalidEventException(label + " contains a lone surrogate (" + printable(codePoint)
                        + ") at index " + i + ": it can not be written as UTF-8");
            }
        }
    }

    /** Only the form type/subtype[;parameters] of RFC 2045; what the types mean is not ours to know. */
    private static boolean isMediaType(String value) {
        int semicolon = value.indexOf(';');
        String essence = (semicolon < 0 ? value : value.substring(0, semicolon)).strip();
        int slash = essence.indexOf('/');
        return slash > 0
                && slash < essence.length() - 1
                && essence.chars().allMatch(c -> c > ' ' && c < 127)
                && value.chars().allMatch(c -> c >= ' ' && c < 127);
    }

    private static boolean isTopicCharacter(char c) {
        return (c >= 'a' && c <= 'z')
                || (c >= 'A' && c <= 'Z')
                || (c >= '0' && c <= '9')
                || c == '.'
                || c == '_'
                || c == '-';
    }

    private static String shortened(String value) {
        String text = printable(value);
        return text.length() <= 60 ? text : text.substring(0, 60) + "…";
    }

    /** Control characters and lone surrogates as U+XXXX, so that a message shows them and can itself be written. */
    private static String printable(String value) {
        StringBuilder text = new StringBuilder(value.length());
        value.codePoints().forEach(c -> text.append(printable(c)));
        return text.toString();
    }

    private static String printable(int codePoint) {
        boolean plain = !Character.isISOControl(codePoint) && Character.getType(codePoint) != Character.SURROGATE;
        return plain ? Character.toString(codePoint) : String.format("U+%04X", codePoint);
    }
}
