package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.FailureSubject;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.jdbc.Transactions;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Empties the inactive one of the two slots of the position table once the active one has grown. Then the relay writes
 * into the emptied slot. Only for the housekeeping thread, on its connection.
 *
 * <p>The newest position of each relay in that slot is first copied into the other slot. This happens in the same
 * transaction, under a lock that keeps other relays from appending meanwhile. So relays that share the table need not
 * agree on the active slot.
 */
public final class PositionSlots {
    private static final Logger LOG = LoggerFactory.getLogger(PositionSlots.class);

    /**
     * About 60,000 saves. Loading a position reads only the end of an index, so the limit is about disk space alone.
     */
    static final long LIMIT = 8L * 1024 * 1024;

    /** Positions that a policy of row-level security hides would not be carried over. */
    private static final String SETTINGS = """
            -- relay: settings while emptying a slot of positions
            set local lock_timeout = '100ms'; set local row_security = off
            """;

    private static final String LOCK = """
            -- relay: lock a slot of positions
            lock table only {slot} in access exclusive mode nowait
            """;

    private static final String CARRY_OVER = """
            -- relay: carry over the newest positions
            insert into {position} (slot, relay, number, epoch, window_from, window_to, seq, saved_at{more})
            select {other}, p.relay, p.number, p.epoch, p.window_from, p.window_to, p.seq, p.saved_at{more}
            from {lease} l
              cross join lateral (select * from {position} p where p.relay = l.relay order by p.number desc limit 1) p
            where p.slot = {number}
            """;

    /** The schema version that added these columns. */
    private static final int PREPARED_SINCE = 4;

    private static final String PREPARED = ", committed, next_from, next_to, next_seq";

    private static final String FLOORS = ", from_floor, to_floor, next_from_floor, next_to_floor";

    private static final String TRUNCATE = """
            -- relay: empty a slot of positions
            truncate table only {slot}
            """;

    private static final String SIZE = """
            -- relay: size of a slot of positions
            select pg_relation_size(?::regclass)
            """;

    private final Connection connection;
    private final OutboxSchema tables;
    private final long limit;
    private boolean forbidden;

    public PositionSlots(Connection connection, OutboxSchema tables) {
        this(connection, tables, LIMIT);
    }

    public PositionSlots(Connection connection, OutboxSchema tables, long limit) {
        this.connection = connection;
        this.tables = tables;
        this.limit = limit;
    }

    /**
     * The slot to write into from now on.
     *
     * @param written the slot written so far
     */
    public int next(int written) throws SQLException {
        if (size(written) < limit) {
            return written;
        }
        int other = (written + 1) % OutboxSchema.POSITION_SLOTS;
        return size(other) == 0 || tryEmpty(other, written) ? other : written;
    }

    private long size(int slot) throws SQLException {
        try (PreparedStatement size = connection.prepareStatement(SIZE)) {
            size.setString(1, tables.positionSlot(slot).sql());
            try (ResultSet row = size.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    private boolean tryEmpty(int slot, int other) throws SQLException {
        try {
            Transactions.inTransaction(connection, () -> empty(slot, other));
        } catch (SQLException e) {
            checkIsExpected(e, slot);
            return false;
        }
        LOG.debug("Emptied slot {} of the positions", tables.positionSlot(slot));
        return true;
    }

    private void empty(int slot, int other) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(SETTINGS);
            statement.execute(sql(LOCK, tables, slot, other));
            // The lock keeps the version from changing.
            statement.execute(sql(CARRY_OVER, tables, slot, other).replace("{more}", more(tables.version(connection))));
            statement.execute(sql(TRUNCATE, tables, slot, other));
        }
    }

    private static String more(int version) {
        String more = version < PREPARED_SINCE ? "" : PREPARED;
        return version < PositionTable.FLOORS_SINCE ? more : more + FLOORS;
    }

    /** Whatever keeps the table from being emptied must not keep the other work from being done. */
    private void checkIsExpected(SQLException failure, int slot) throws SQLException {
        if (SqlState.LOCK_NOT_AVAILABLE.isOf(failure)) {
            return;
        }
        if (SqlState.subjectOf(failure) == FailureSubject.CONNECTION || OutboxDatabase.isRowSecurity(failure)) {
            throw failure;
        }
        if (!forbidden) {
            LOG.error(
                    "The position table grows: the relay's role may not empty {} ({}); grant truncate on {} to it, and "
                            + "remove a trigger that forbids it",
                    tables.positionSlot(slot),
                    failure.getMessage(),
                    tables.positionSlot(slot));
            forbidden = true;
        }
    }

    static String sql(String statement, OutboxSchema tables, int slot, int other) {
        return statement
                .replace("{number}", Integer.toString(slot))
                .replace("{other}", Integer.toString(other))
                .replace("{slot}", tables.positionSlot(slot).sql())
                .replace("{position}", tables.position().sql())
                .replace("{lease}", tables.lease().sql());
    }
}
