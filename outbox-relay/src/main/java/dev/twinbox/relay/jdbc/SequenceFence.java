package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.schema.OutboxSchema;
import java.math.BigInteger;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Types;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Gives snapshots their floor. A fence is a short transaction. It reads the sequence of the event table first, and then
 * takes a transaction id. A row takes its transaction's id before its number. So all rows of transactions at or after
 * the fence have greater numbers than the fence has read. This holds for each snapshot that is taken after the fence.
 *
 * <p>It holds until the sequence is restarted, as {@code truncate … restart identity} does. A restart gives the sequence
 * another file. So the fence remembers the file, and each page compares it.
 *
 * <p>A fence costs one round trip and one transaction id, and no write to disk. Bound to one connection; not for
 * several threads.
 */
final class SequenceFence implements AutoCloseable {
    private static final Logger LOG = LoggerFactory.getLogger(SequenceFence.class);

    private static final String LAST_VALUE = """
            case when has_sequence_privilege(seqrelid, 'USAGE, SELECT')
                then coalesce(pg_sequence_last_value(seqrelid), seqmin - 1)
                else coalesce((select max(seq) from {events}), seqmin - 1) end""";

    /**
     * The id and the file depend on the value, so that they are read afterwards. Reading the value locks the sequence
     * against a restart. A sequence that draws blocks, or that counts down, has no floor. A role without a right on the
     * sequence uses the greatest number that it sees.
     */
    private static final String FENCE = """
            -- relay: read the sequence, then take a transaction id
            with s as materialized (
              select {last value} as value
              from pg_sequence
              where seqrelid = to_regclass({sequence}) and seqcache = 1 and seqincrement > 0 and not seqcycle)
            select value, case when value is not null then pg_current_xact_id() end::text,
              case when value is not null then {file} end
            from s
            """;

    /**
     * After a restart, the sequence is below the floor, or has passed it again. The events that were written since are
     * then the first of the table, because it was emptied.
     */
    private static final String HOLDS = """
            -- relay: look whether the sequence was restarted
            select {file}, (select {last value} from pg_sequence where seqrelid = to_regclass({sequence})) >= f.floor
              and not coalesce((
                select tx >= ?::xid8 and seq <= f.floor from {events} order by seq limit 1), false)
            from (select ?::bigint) f(floor)
            """;

    private final Connection connection;
    private final SqlIdentifier events;
    private final PreparedStatement statement;
    private final long maxAge;
    private @Nullable Long value;
    private BigInteger transaction = BigInteger.ZERO;
    private @Nullable String file;
    private long takenAt;
    private boolean taken;

    /** @param maxAge after this time a new fence is taken */
    SequenceFence(Connection connection, SqlIdentifier events, Duration maxAge) throws SQLException {
        this.connection = connection;
        this.events = events;
        this.statement = connection.prepareStatement(sql(FENCE));
        this.maxAge = maxAge.toNanos();
    }

    /** SQL expression for the sequence's file; null if there is no such sequence. */
    static String file(SqlIdentifier events) {
        return "pg_relation_filenode(to_regclass(" + sequence(events).sqlLiteral() + "))::text";
    }

    private static SqlIdentifier sequence(SqlIdentifier events) {
        return new OutboxSchema(events.schema(), events.name()).eventsSequence();
    }

    private String sql(String text) {
        return text.replace("{last value}", LAST_VALUE)
                .replace("{file}", file(events))
                .replace("{events}", events.sql())
                .replace("{sequence}", sequence(events).sqlLiteral());
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
                check(row.getString(3));
            }
        }
        takenAt = now;
        taken = true;
    }

    /**
     * Compares the sequence's file with that of the last fence.
     *
     * @throws SQLException if it is another one; then no floor from before may be used, and numbers come again
     */
    void check(@Nullable String seen) throws SQLException {
        if (file == null) {
            file = seen;
        } else if (!file.equals(seen)) {
            throw new SQLException(
                    "the sequence " + sequence(events) + " was restarted, as \"truncate ... restart identity\" does; "
                            + "the relay begins again at the saved position",
                    SqlState.OBJECT_NOT_IN_PREREQUISITE_STATE.code() + "000");
        }
    }

    /** See {@link OutboxTable#withoutFormerFloors}. */
    Position withoutFormerFloors(Position saved) throws SQLException {
        Snapshot from = withoutFormerFloor(saved.from());
        Snapshot to = saved.to();
        return new Position(from, to == null ? null : withoutFormerFloor(to), saved.seq());
    }

    private Snapshot withoutFormerFloor(Snapshot snapshot) throws SQLException {
        Long floor = snapshot.floor();
        if (floor == null) {
            return snapshot;
        }
        try (PreparedStatement look = connection.prepareStatement(sql(HOLDS))) {
            look.setObject(1, snapshot.xmax(), Types.OTHER);
            look.setLong(2, floor);
            try (ResultSet row = look.executeQuery()) {
                row.next();
                check(row.getString(1));
                if (row.getBoolean(2)) {
                    return snapshot;
                }
            }
        }
        LOG.info(
                "The sequence {} was restarted after the position was saved: looking for the first unsent event",
                sequence(events));
        return snapshot.above(null);
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
