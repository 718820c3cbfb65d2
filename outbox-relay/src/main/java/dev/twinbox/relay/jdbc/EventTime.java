package dev.twinbox.relay.jdbc;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import org.jspecify.annotations.Nullable;

/**
 * Writes PostgreSQL's binary {@code timestamptz} as RFC 3339 in UTC with microseconds. Rows come in bursts within one
 * second, so all but the fraction is reused from the row before. Not for several threads.
 */
final class EventTime {
    private static final long POSTGRES_EPOCH =
            Instant.parse("2000-01-01T00:00:00Z").getEpochSecond();
    private static final long MICROS = 1_000_000;
    private static final DateTimeFormatter SECONDS = DateTimeFormatter.ofPattern("uuuu-MM-dd'T'HH:mm:ss.");
    /** RFC 3339 has years of four digits. The value {@code infinity} is outside of this range, too. */
    private static final long FIRST = Instant.parse("0000-01-01T00:00:00Z").getEpochSecond() - POSTGRES_EPOCH;

    private static final long LAST = Instant.parse("9999-12-31T23:59:59Z").getEpochSecond() - POSTGRES_EPOCH;

    private long second = Long.MIN_VALUE;
    private byte[] text = new byte[0];

    /**
     * The text for a header.
     *
     * @param micros since 2000-01-01 UTC
     * @return null if RFC 3339 cannot express the time
     */
    byte @Nullable [] rfc3339(long micros) {
        long seconds = Math.floorDiv(micros, MICROS);
        if (seconds < FIRST || seconds > LAST) {
            return null;
        }
        if (seconds != second) {
            LocalDateTime time = LocalDateTime.ofEpochSecond(seconds + POSTGRES_EPOCH, 0, ZoneOffset.UTC);
            text = (SECONDS.format(time) + "000000Z").getBytes(US_ASCII);
            second = seconds;
        }
        byte[] result = text.clone();
        int rest = (int) Math.floorMod(micros, MICROS);
        for (int at = result.length - 2; rest > 0; at--) {
            result[at] = (byte) ('0' + rest % 10);
            rest /= 10;
        }
        return result;
    }
}
