package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.OutboxSchema;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Gives snapshots their floor. A fence is a short transaction. It reads the sequence of the event table first, and then
 * takes a transaction id. A row takes its transaction's id before its number. So all rows of transactions at or after
 * the fence have greater numbers than the fence has read. This holds for each snapshot that is taken after the fence.
 *
 * <p>A fence costs one round trip and one transaction id, and no write to disk. Bound to one connection; not for
 * several threads.
 */
final class SequenceFence implements AutoCloseable {
    /**
     * The id depends on the value, so that it is taken afterwards. A sequence that draws blocks, or that counts down,
     * has no floor. A role without a right on the sequence uses the greatest number that it sees.
     */
    private static final String FENCE = """
            -- relay: read the sequence, then take a transaction id
            with s as materialized (
              select case when has_sequence_privilege(seqrelid, 'USAGE, SELECT')
                then coalesce(pg_sequence_last_value(seqrelid), seqmin - 1)
                else coalesce((select max(seq) from {events}), seqmin - 1) end as value
              from pg_sequence
              where seqrelid = to_regclass({sequence}) and seqcache = 1 and seqincrement > 0 and not seqcycle)
            select value, case when value is not null then pg_current_xact_id() end::text from s
            """;

    private final PreparedStatement statement;
    private final long maxAge;
    private @Nullable Long value;
    private BigInteger transaction = BigInteger.ZERO;
    private long takenAt;
    private boolean taken;

    /** @param maxAge after this time a new fence is taken */
    SequenceFence(Connection connection, SqlIdentifier events, Duration maxAge) throws SQLException {
        SqlIdentifier sequence = new OutboxSchema(events.schema(), events.name()).eventsSequence();
        this.statement = connection.prepareStatement(
                FENCE.replace("{events}", events.sql()).replace("{sequence}", sequence.sqlLiteral()));
        this.maxAge = maxAge.toNanos();
    }

    /** Takes a fence, unless the last one is new enough. */
    void renewIfDue() throws SQLException {
        long now = System.nanoTime();
        if (taken && now - takenAt < maxAge) {
            return;
        }
        taken = false;
        value = null;
        try (ResultSet row = statement.executeQuery()) {
            if (row.next()) {
                value = row.getLong(1);
                transaction = new BigInteger(row.getString(2));
            }
        }
        takenAt = now;
        taken = true;
    }

    /** The snapshot with the floor that the last fence gives it; without one if the fence is not before it. */
    Snapshot bound(Snapshot snapshot) {
        boolean isBefore = transaction.compareTo(new BigInteger(snapshot.xmax())) < 0;
        return value != null && isBefore ? snapshot.above(value) : snapshot;
    }

    @Override
    public void close() throws SQLException {
        statement.close();
    }
}
