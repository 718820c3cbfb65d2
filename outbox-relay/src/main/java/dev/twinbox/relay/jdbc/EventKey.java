package dev.twinbox.relay.jdbc;

import org.jspecify.annotations.Nullable;

/** A topic and a key in it: events that share both are sent in order. */
public record EventKey(String topic, String key) {
    private static final int SHOWN = 200;

    /** A topic or a key in a message. A long one is cut, so that the rest of the message can be read. */
    static String shown(@Nullable String text) {
        if (text == null || text.length() <= SHOWN) {
            return text == null ? "null" : '"' + text + '"';
        }
        int end = Character.isHighSurrogate(text.charAt(SHOWN - 1)) ? SHOWN - 1 : SHOWN;
        return '"' + text.substring(0, end) + "…\" (" + text.length() + " characters)";
    }
}
