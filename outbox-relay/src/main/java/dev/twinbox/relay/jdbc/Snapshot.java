package dev.twinbox.relay.jdbc;

import java.math.BigInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * A {@code pg_snapshot} as PostgreSQL writes it: {@code xmin:xmax:xip,…}. Transactions below {@code xmax} that are not
 * in {@code xip} had ended when it was taken. Transaction ids are {@code xid8}, 64 bits, so they do not wrap around.
 *
 * @param text the whole text as PostgreSQL wrote it
 * @param xmax one past the latest transaction that had ended; this id and all later ones are not visible
 * @param inProgress ids below {@code xmax} that had not ended, as an array literal such as {@code {740,753}}
 * @param floor all rows of transactions at or after {@code xmax} have a greater {@code seq}; null: not known
 */
public record Snapshot(
        String text,
        String xmax,
        String inProgress,
        @Nullable Long floor) {
    private static final Pattern FORM = Pattern.compile("(\\d{1,20}):(\\d{1,20}):((?:\\d{1,20}(?:,\\d{1,20})*)?)");

    /** Nothing is visible in it. A window that starts here holds everything that was ever committed. */
    static final Snapshot EMPTY = parse("1:1:");

    /**
     * Parses and checks what PostgreSQL wrote.
     *
     * @throws IllegalArgumentException if the text is not a snapshot, or contradicts itself
     */
    public static Snapshot parse(String text) {
        Matcher parts = FORM.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("\"" + text + "\" is not a pg_snapshot (xmin:xmax:xip,...)");
        }
        Snapshot snapshot = new Snapshot(text, parts.group(2), "{" + parts.group(3) + "}", null);
        snapshot.check(xid(parts.group(1)), xid(parts.group(2)), parts.group(3));
        return snapshot;
    }

    static @Nullable Snapshot parseNullable(@Nullable String text) {
        return text == null ? null : parse(text);
    }

    /** The same snapshot with a floor. */
    public Snapshot above(@Nullable Long newFloor) {
        return new Snapshot(text, xmax, inProgress, newFloor);
    }

    /** Whether nothing is visible in it. Then there is no history that must be skipped. */
    boolean isEmpty() {
        return xmax.equals(EMPTY.xmax);
    }

    /** Whether a transaction was in progress that had begun before another one had ended. */
    boolean hasInProgress() {
        return !inProgress.equals(EMPTY.inProgress);
    }

    /**
     * The same snapshot with one more transaction in progress. A transaction that begins after the snapshot is not
     * added.
     */
    public Snapshot including(BigInteger transaction) {
        String[] parts = text.split(":", -1);
        if (transaction.compareTo(new BigInteger(parts[1])) >= 0) {
            return this;
        }
        String running = Stream.concat(
                        Stream.of(parts[2].split(","))
                                .filter(id -> !id.isEmpty())
                                .map(BigInteger::new),
                        Stream.of(transaction))
                .sorted()
                .map(BigInteger::toString)
                .collect(Collectors.joining(","));
        return parse(new BigInteger(parts[0]).min(transaction) + ":" + parts[1] + ":" + running)
                .above(floor);
    }

    private void check(long xmin, long xmaxId, String xip) {
        boolean ordered = xmin > 0 && xmin <= xmaxId;
        if (!xip.isEmpty()) {
            for (String id : xip.split(",", -1)) {
                long running = xid(id);
                ordered &= running >= xmin && running < xmaxId;
            }
        }
        if (!ordered) {
            throw new IllegalArgumentException(
                    "\"" + text + "\" is not a pg_snapshot: not 0 < xmin <= each xip < xmax");
        }
    }

    private static long xid(String digits) {
        try {
            return Long.parseLong(digits); // half of xid8's range is more than any cluster uses
        } catch (NumberFormatException e) {
            throw new IllegalArgumentException("\"" + digits + "\" is beyond the transaction ids of any cluster", e);
        }
    }

    @Override
    public String toString() {
        return text;
    }
}
