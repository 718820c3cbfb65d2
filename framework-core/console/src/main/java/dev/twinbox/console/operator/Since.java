package dev.twinbox.console.operator;

import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import org.jspecify.annotations.Nullable;

/**
 * A time or, back from now, an age.
 *
 * @param time null if it is an age, or if there is neither
 * @param age null if it is a time, or if there is neither
 */
public record Since(@Nullable Instant time, @Nullable Duration age) {
    private static final Duration OLDEST = Duration.ofDays(36_500);

    /**
     * The time that a text says.
     *
     * @param name of the option or parameter, for messages
     * @param text null: there is none
     * @throws IllegalArgumentException if it says none
     */
    public static Since parse(String name, @Nullable String text) {
        if (text == null) {
            return new Since(null, null);
        }
        try {
            if (!text.startsWith("P")) {
                return new Since(OffsetDateTime.parse(text).toInstant(), null);
            }
            Duration age = Duration.parse(text);
            if (!age.isNegative() && age.compareTo(OLDEST) <= 0) {
                return new Since(null, age);
            }
        } catch (DateTimeException e) {
            // Out of bounds has the same remedy.
        }
        throw new IllegalArgumentException(name + " \"" + text
                + "\" must be a time such as 2026-11-29T12:00:00Z, or a duration back from now such as PT1H");
    }
}
