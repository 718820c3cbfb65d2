package dev.twinbox.schema;

import java.time.Duration;
import java.time.format.DateTimeParseException;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * How long sent events stay in the event table. The table itself holds it, as the default of the column {@code slot},
 * so all writers and relays agree on it without a setting.
 *
 * @param slot how long a slot is active, in whole seconds. A slot is truncated once it is no longer active and all its
 *     events are sent. null: events are kept forever, all in one slot
 */
public record Retention(@Nullable Duration slot) {

    /** Shortest time of a slot: truncating one costs the writers of the table some milliseconds. */
    public static final Duration SHORTEST = Duration.ofMinutes(1);

    /** Longest time of a slot. */
    public static final Duration LONGEST = Duration.ofDays(366);

    /** Nothing is removed: the event table is the history of all events. */
    public static final Retention FOREVER = new Retention(null);

    /** Of a new outbox. */
    public static final Retention DEFAULT = new Retention(Duration.ofHours(1));

    private static final String FOR_EVER = "forever";

    /** The divisor, as {@code pg_get_expr} writes it: {@code (… / 3600) …} or {@code (… / '3600'::bigint) …}. */
    private static final Pattern SLOT_SECONDS = Pattern.compile(" / \\(?'?(\\d+)");

    /** @throws IllegalArgumentException if the time is too short, too long or no whole number of seconds */
    public Retention {
        if (slot != null && (slot.compareTo(SHORTEST) < 0 || slot.compareTo(LONGEST) > 0 || slot.toNanosPart() != 0)) {
            throw illegal();
        }
    }

    /**
     * Reads {@code forever} or the time of a slot, an ISO-8601 duration such as {@code PT1H}.
     *
     * @throws IllegalArgumentException whose message says what is legal
     */
    public static Retention parse(String text) {
        if (text.equals(FOR_EVER)) {
            return FOREVER;
        }
        try {
            return new Retention(Duration.parse(text));
        } catch (DateTimeParseException e) {
            throw illegal();
        }
    }

    private static IllegalArgumentException illegal() {
        return new IllegalArgumentException("must be forever, or an ISO-8601 duration in whole seconds, " + SHORTEST
                + " to " + LONGEST + ", such as PT1H");
    }

    /**
     * Reads the default of the column {@code slot}.
     *
     * @param expression as {@code pg_get_expr} writes it
     * @return null: the table's owner has written another expression
     */
    static @Nullable Retention of(String expression) {
        Matcher seconds = SLOT_SECONDS.matcher(expression);
        if (!seconds.find()) {
            return expression.matches("\\(?'?0'?\\)?::smallint") ? FOREVER : null;
        }
        Duration length = Duration.ofSeconds(Long.parseLong(seconds.group(1)));
        return length.compareTo(SHORTEST) < 0 || length.compareTo(LONGEST) > 0 ? null : new Retention(length);
    }

    /** The default of the column {@code slot}. */
    String expression() {
        return slot == null
                ? "0::smallint"
                : "((extract(epoch from now())::bigint / " + slot.toSeconds() + ") % " + OutboxSchema.EVENT_SLOTS
                        + ")::smallint";
    }

    /** As {@link #parse} reads it. */
    @Override
    public String toString() {
        return slot == null ? FOR_EVER : slot.toString();
    }
}
