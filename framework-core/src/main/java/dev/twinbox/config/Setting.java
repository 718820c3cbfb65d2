package dev.twinbox.config;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * One key of the configuration. A setting is required unless {@link #withDefault} or {@link #optional} changes that.
 *
 * @param key full name, for example {@code twinbox.relay.lease}
 * @param type what a value may be, bounds included, as the documentation shows it
 * @param defaultValue what counts when nothing is set, as a user would write it; null: nothing
 * @param presence whether the key has to be set
 * @param description one or two sentences for the documentation
 * @param parser turns the text into the value. It throws an {@link IllegalArgumentException} whose message follows the
 *     value, for example {@code must be a whole number from 1 to 64}
 */
public record Setting<T>(
        String key,
        String type,
        @Nullable String defaultValue,
        Presence presence,
        String description,
        Function<String, T> parser) {

    /** Whether a key has to be set. */
    public enum Presence {
        REQUIRED,
        OPTIONAL
    }

    private static final String FOREVER = "forever";

    /** A value with a parser of its own. */
    public static <T> Setting<T> of(String key, String type, String description, Function<String, T> parser) {
        return new Setting<>(key, type, null, Presence.REQUIRED, description, parser);
    }

    /** Any text that is not blank, as it is. */
    public static Setting<String> text(String key, String type, String description) {
        return of(key, type, description, value -> {
            if (value.isBlank()) {
                throw new IllegalArgumentException("must not be blank");
            }
            return value;
        });
    }

    /** JNDI name of a data source. Whether it is bound shows only when it is looked up. A URL may hold a password. */
    public static Setting<String> jndiName(String key, String description) {
        return of(key, "JNDI name", description, value -> {
            if (value.isBlank()) {
                throw new IllegalArgumentException("must not be blank");
            }
            if (Secret.isUrl(value)) {
                throw new IllegalArgumentException(
                        "must be a JNDI name, such as java:app/jdbc/orders, and not a URL: define the data source on the "
                                + "server, which has its URL, user and password");
            }
            return value;
        });
    }

    /** A password: no message, log line or {@code toString} shows it. */
    public static Setting<Secret> secret(String key, String description) {
        return of(key, "secret", description, Secret::new);
    }

    /**
     * A name in the database, taken literally: case, blanks and quotes count.
     *
     * @param check throws an {@link IllegalArgumentException} that says why PostgreSQL would not take the name
     */
    public static Setting<String> identifier(String key, String description, Consumer<String> check) {
        return of(key, "identifier, taken literally", description, value -> {
            try {
                check.accept(value);
                return value;
            } catch (IllegalArgumentException e) {
                throw new IllegalArgumentException("must be an identifier: " + e.getMessage(), e);
            }
        });
    }

    /** A whole number from {@code min} to {@code max}, both included. Sizes are numbers of bytes, without a unit. */
    public static Setting<Integer> integer(String key, int min, int max, String description) {
        return of(key, "integer, " + min + " to " + max, description, value -> {
            try {
                int number = Integer.parseInt(value.strip());
                if (min <= number && number <= max) {
                    return number;
                }
            } catch (NumberFormatException e) {
                // Not a number and out of bounds have the same remedy.
            }
            throw new IllegalArgumentException("must be a whole number from " + min + " to " + max);
        });
    }

    /** An ISO-8601 duration from {@code min} to {@code max}, both included. */
    public static Setting<Duration> duration(String key, String min, String max, String description) {
        return of(
                key,
                "duration, " + min + " to " + max,
                description,
                value -> parse(value, min, max)
                        .orElseThrow(() -> new IllegalArgumentException(
                                "must be an ISO-8601 duration from " + min + " to " + max + ", such as " + min)));
    }

    /** As {@link #duration}, or {@code forever}, which is the empty value. */
    public static Setting<Optional<Duration>> durationOrForever(
            String key, String min, String max, String description) {
        return of(key, "duration, " + min + " to " + max + ", or `" + FOREVER + '`', description, value -> {
            Optional<Duration> duration = parse(value, min, max);
            if (duration.isEmpty() && !value.strip().equals(FOREVER)) {
                throw new IllegalArgumentException(
                        "must be " + FOREVER + ", or an ISO-8601 duration from " + min + " to " + max);
            }
            return duration;
        });
    }

    /**
     * One of a few words; case does not count.
     *
     * @param values in the order of the documentation
     * @param word how a value is written, for example {@code at-least-once}
     */
    public static <T> Setting<T> oneOf(String key, List<T> values, Function<T, String> word, String description) {
        List<String> words = values.stream().map(word).toList();
        String type = words.stream().collect(Collectors.joining("` or `", "`", "`"));
        return of(
                key,
                type,
                description,
                value -> values.stream()
                        .filter(candidate -> word.apply(candidate).equalsIgnoreCase(value.strip()))
                        .findFirst()
                        .orElseThrow(() -> new IllegalArgumentException("must be one of " + String.join(", ", words))));
    }

    /**
     * May be left out; the default counts then.
     *
     * @param value as a user would write it
     * @throws IllegalArgumentException if it is not a legal value
     */
    public Setting<T> withDefault(String value) {
        Objects.requireNonNull(parser.apply(value), key);
        return new Setting<>(key, type, value, Presence.OPTIONAL, description, parser);
    }

    /** May be left out; there is no default. */
    public Setting<T> optional() {
        return new Setting<>(key, type, null, Presence.OPTIONAL, description, parser);
    }

    /** The default, as the documentation shows it. */
    public String shownDefault() {
        if (defaultValue != null) {
            return '`' + defaultValue + '`';
        }
        return presence == Presence.REQUIRED ? "required" : "unset";
    }

    /**
     * The environment variable that stands for a key (MicroProfile Config 3.1, "Environment Variables Mapping Rules").
     */
    public static String environmentVariable(String key) {
        return key.replaceAll("[^A-Za-z0-9]", "_").toUpperCase(Locale.ROOT);
    }

    private static Optional<Duration> parse(String value, String min, String max) {
        try {
            Duration duration = Duration.parse(value.strip());
            boolean within =
                    duration.compareTo(Duration.parse(min)) >= 0 && duration.compareTo(Duration.parse(max)) <= 0;
            return within ? Optional.of(duration) : Optional.empty();
        } catch (DateTimeParseException e) {
            return Optional.empty();
        }
    }
}
