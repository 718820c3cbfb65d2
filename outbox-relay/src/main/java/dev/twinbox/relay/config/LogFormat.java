package dev.twinbox.relay.config;

import java.util.Arrays;
import java.util.Locale;

/** How the log is written. */
public enum LogFormat {
    TEXT,
    JSON;

    /** @throws IllegalArgumentException whose message says what is legal */
    static LogFormat parse(String text) {
        return Arrays.stream(values())
                .filter(format -> format.name().toLowerCase(Locale.ROOT).equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("must be text or json"));
    }
}
