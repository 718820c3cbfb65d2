package dev.twinbox.inbox.jdbc;

import java.sql.Timestamp;
import java.time.Instant;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * What a parked row cannot hold of its record. The end of the row's error says it.
 *
 * <p>Only the time can be left out: Kafka takes any number from its producer. All else of a record fits.
 */
public final class OmittedTimestamp {

    private static final String MARK = "[not stored: ";

    /** The database could hold later times, but not every reader can. */
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59.999Z");

    private OmittedTimestamp() {}

    /** The record's time; null if it has none, or if the row cannot hold it. */
    static @Nullable Timestamp time(ConsumerRecord<byte[], byte[]> record) {
        return hasTime(record) && fits(record.timestamp()) ? new Timestamp(record.timestamp()) : null;
    }

    private static boolean hasTime(ConsumerRecord<byte[], byte[]> record) {
        return record.timestamp() != ConsumerRecord.NO_TIMESTAMP;
    }

    private static boolean fits(long timestamp) {
        return timestamp >= 0 && timestamp <= LATEST.toEpochMilli();
    }

    /**
     * Adds what is left out of the record to the error.
     *
     * @param error null for none
     * @return null if there is no error and all of the record is stored
     */
    public static @Nullable String addTo(@Nullable String error, ConsumerRecord<byte[], byte[]> record) {
        String note = !hasTime(record) || fits(record.timestamp())
                ? ""
                : MARK + "the record's time " + record.timestamp() + ", which is not in milliseconds since 1970]";
        return join(error, note);
    }

    /** Adds what an earlier error said about it. */
    static String addTo(String error, @Nullable String earlier) {
        return earlier == null || !earlier.contains(MARK)
                ? error
                : error + ' ' + earlier.substring(earlier.lastIndexOf(MARK));
    }

    private static @Nullable String join(@Nullable String error, String note) {
        if (note.isEmpty()) {
            return error;
        }
        return error == null ? note : error + ' ' + note;
    }
}
