package dev.twinbox.relay.config;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.Locale;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One key of the configuration. The documentation's table is checked against these.
 *
 * @param key full name
 * @param type what a value may be, bounds included, for people
 * @param fallback the default as one would write it; null when there is none
 * @param presence whether something must be there
 * @param meaning one sentence
 * @param parser throws {@link IllegalArgumentException} whose message says what is legal
 */
public record Setting<T>(
        String key,
        String type,
        @Nullable String fallback,
        Presence presence,
        String meaning,
        Function<String, T> parser) {

    enum Presence {
        REQUIRED,
        OPTIONAL
    }

    static Setting<String> text(String key, String fallback, String meaning) {
        return new Setting<>(key, "text", fallback, Presence.OPTIONAL, meaning, value -> value);
    }

    static <T> Setting<T> required(String key, String type, String meaning, Function<String, T> parser) {
        return new Setting<>(key, type, null, Presence.REQUIRED, meaning, parser);
    }

    static <T> Setting<T> optional(String key, String type, String meaning, Function<String, T> parser) {
        return new Setting<>(key, type, null, Presence.OPTIONAL, meaning, parser);
    }

    static Setting<Integer> integer(String key, int fallback, int min, int max, String meaning) {
        String bound = "integer, " + min + " to " + max;
        return new Setting<>(key, bound, Integer.toString(fallback), Presence.OPTIONAL, meaning, value -> {
            try {
                int number = Integer.parseInt(value);
                if (min <= number && number <= max) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // Says less than the message below.
            }
            throw new IllegalArgumentException("must be an " + bound);
        });
    }

    static Setting<Duration> duration(String key, String fallback, String min, String max, String meaning) {
        Duration least = Duration.parse(min);
        Duration most = Duration.parse(max);
        String bound = "duration, " + min + " to " + max;
        return new Setting<>(key, bound, fallback, Presence.OPTIONAL, meaning, value -> {
            try {
                Duration duration = Duration.parse(value);
                if (duration.compareTo(least) >= 0 && duration.compareTo(most) <= 0) {
                    return duration;
                }
            } catch (DateTimeParseException e) {
                // Says less than the message below.
            }
            throw new IllegalArgumentException("must be an ISO-8601 " + bound + ", such as " + fallback);
        });
    }

    /** A value as a message may show it. */
    String shown(String value) {
        return type.equals("secret") ? Secret.MASK : Secret.masked(value);
    }

    /** The name of the environment variable by the rule of MicroProfile Config. */
    String environmentVariable() {
        return environmentVariable(key);
    }

    static String environmentVariable(String key) {
        return key.replaceAll("[^A-Za-z0-9]", "_").toUpperCase(Locale.ROOT);
    }

    /** The default as the documentation shows it. */
    String shownDefault() {
        if (fallback != null) {
            return '`' + fallback + '`';
        }
        return presence == Presence.REQUIRED ? "required" : "unset";
    }
}
