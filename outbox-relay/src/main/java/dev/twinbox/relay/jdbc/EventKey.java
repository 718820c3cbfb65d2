package dev.twinbox.relay.jdbc;

import org.jspecify.annotations.Nullable;

/** A topic and a key in it: events that share both are sent in order. */
public record EventKey(String topic, String key) {
    private static final int SHOWN = 200;

    /** A key in a message. A long one is cut, so that the rest of the message can be read. */
    static String shown(@Nullable String key) {
        if (key == null || key.length() <= SHOWN) {
            return key == null ? "null" : '"' + key + '"';
        }
        int end = Character.isHighSurrogate(key.charAt(SHOWN - 1)) ? SHOWN - 1 : SHOWN;
        return '"' + key.substring(0, end) + "…\" (" + key.length() + " characters)";
    }
}
