package dev.twinbox.inbox.config;

import java.time.DateTimeException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * Where a group starts on a topic that it has never read.
 *
 * @param kind the kind of place
 * @param time the first record of this time or later; null for the other kinds
 */
public record FirstStart(Kind kind, @Nullable Instant time) {

    /** The kind of place. */
    public enum Kind {
        /** The oldest record of the topic. */
        EARLIEST,
        /** The first record that is sent from now on. */
        LATEST,
        /** The first record of a time or later. */
        TIME
    }

    /**
     * Reads {@code earliest}, {@code latest} or a time with its offset from UTC.
     *
     * @throws IllegalArgumentException if it is something else
     */
    static FirstStart parse(String value) {
        String word = value.strip();
        return switch (word.toLowerCase(Locale.ROOT)) {
            case "earliest" -> new FirstStart(Kind.EARLIEST, null);
            case "latest" -> new FirstStart(Kind.LATEST, null);
            default -> new FirstStart(Kind.TIME, time(word));
        };
    }

    private static Instant time(String word) {
        try {
            return OffsetDateTime.parse(word).toInstant();
        } catch (DateTimeException e) {
            throw new IllegalArgumentException("must be earliest, latest, or a time such as 2026-12-01T08:00:00Z", e);
        }
    }

    @Override
    public String toString() {
        return time == null ? kind.name().toLowerCase(Locale.ROOT) : time.toString();
    }
}
