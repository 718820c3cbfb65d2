package dev.twinbox.relay.config;

import java.util.Arrays;
import java.util.Locale;
import java.util.stream.Collectors;

/** How often a reader of the topics can meet an event. */
public enum DeliveryMode {
    /** Now and then twice, after a crash; see {@code AtLeastOnce}. */
    AT_LEAST_ONCE,
    /** Once for those who read committed records only; see {@code ExactlyOnce}. */
    EXACTLY_ONCE;

    /** As it is configured. */
    public String text() {
        return name().toLowerCase(Locale.ROOT).replace('_', '-');
    }

    /** @throws IllegalArgumentException whose message says what is legal */
    static DeliveryMode parse(String text) {
        return Arrays.stream(values())
                .filter(mode -> mode.text().equals(text))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("must be "
                        + Arrays.stream(values()).map(DeliveryMode::text).collect(Collectors.joining(" or "))));
    }
}
