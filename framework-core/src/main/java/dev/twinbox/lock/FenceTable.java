package dev.twinbox.lock;

import dev.twinbox.schema.LockSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.OptionalLong;

/**
 * All statements on the table of locks. Each runs in its caller's transaction.
 *
 * <p>A row is the fence of its key. A grant writes a new token into it; {@link #fence} locks it if it still has the
 * holder's token. The two exclude each other by the row's lock. So there is no moment in which a grant is done and an
 * earlier holder passes.
 */
final class FenceTable {

    /** Who may take a key over. */
    enum Takeover {
        /** Only after the end of the lease in the row. */
        AFTER_THE_LEASE,
        /** At once: somebody else has decided about the lease. */
        AT_ONCE
    }

    /**
     * A grant that a crash of the database loses would let the earlier holder pass again, so it is not acknowledged before
     * it is durable. The wait is for another first grant of the same key, which is short, unless its process was stopped.
     */
    private static final String SET = """
            select set_config('lock_timeout', '1s', true),
                   set_config('synchronous_commit',
                     case current_setting('synchronous_commit') when 'off' then 'on'
                     else current_setting('synchronous_commit') end, true);
            """;

    /**
     * A row that a transaction has fenced, or that another grant is at, is skipped: the answer is no then.
     *
     * <p>The row's condition is checked again on its latest version when it gets its lock. The update cannot meet another
     * version after that.
     */
    private static final String GRANT = SET + """
            -- locks: grant
            with free as materialized (
              select key from %1$s
               where key = ? and (? or lease_until <= clock_timestamp())
                 for no key update skip locked
            ), renewed as (
              update %1$s l
                 set token = nextval(%2$s), lease_until = clock_timestamp() + ? * interval '1 millisecond'
                from free
               where l.key = free.key
              returning l.token
            ), added as (
              insert into %1$s (key, token, lease_until)
              select ?, nextval(%2$s), clock_timestamp() + ? * interval '1 millisecond'
               where not exists (select from %1$s where key = ?)
              on conflict (key) do nothing
              returning token
            )
            select token from renewed union all select token from added""";

    private static final String FENCE = """
            -- locks: fence
            select from %s where key = ? and token = ? for no key update""";

    /** Waits for nobody. */
    private static final String EXTEND = """
            -- locks: extend
            update %1$s set lease_until = clock_timestamp() + ? * interval '1 millisecond'
             where key = (select key from %1$s where key = ? and token = ? for no key update skip locked)""";

    /** Waits for nobody. The row is not needed any more: a grant adds another one. */
    private static final String RELEASE = """
            -- locks: release
            delete from %1$s
             where key = (select key from %1$s where key = ? and token = ? for update skip locked)""";

    /** A lease of Redis is not ended in the row, so rows of keys that nobody uses again stay. */
    private static final String REMOVE_OLD = """
            -- locks: remove old rows
            delete from %1$s
             where key in (
               select key from %1$s where lease_until < clock_timestamp() - interval '24 hours'
                limit 1000 for update skip locked)""";

    private static final String LOCK_IN_TRANSACTION = """
            -- locks: in a transaction
            select pg_try_advisory_xact_lock(hashtextextended(?, 0))""";

    private static final String TRANSACTION = """
            -- locks: which transaction
            select pg_current_xact_id()::text""";

    private final LockSchema tables;
    private final String grant;
    private final String fence;
    private final String extend;
    private final String release;
    private final String removeOld;

    FenceTable(LockSchema tables) {
        String table = tables.table().sql();
        this.tables = tables;
        this.grant = GRANT.formatted(table, tables.tokens().sqlLiteral());
        this.fence = FENCE.formatted(table);
        this.extend = EXTEND.formatted(table);
        this.release = RELEASE.formatted(table);
        this.removeOld = REMOVE_OLD.formatted(table);
    }

    /** Grants the key. Returns the new token; empty: another holder has it, or another session is at its row. */
    OptionalLong grant(Connection connection, String key, Duration lease, Takeover takeover) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(grant)) {
            statement.setString(1, key);
            statement.setBoolean(2, takeover == Takeover.AT_ONCE);
            statement.setLong(3, lease.toMillis());
            statement.setString(4, key);
            statement.setLong(5, lease.toMillis());
            statement.setString(6, key);
            statement.execute();
            statement.getMoreResults(); // after the result of the settings
            try (ResultSet row = statement.getResultSet()) {
                return row.next() ? OptionalLong.of(row.getLong(1)) : OptionalLong.empty();
            }
        }
    }

    /** Locks the fence of the key until the transaction ends. Returns false if the token is no longer the key's. */
    boolean fence(Connection connection, String key, long token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(fence)) {
            statement.setString(1, key);
            statement.setLong(2, token);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    /** Returns false if the token is no longer the key's, or another session is at the row. */
    boolean extend(Connection connection, String key, long token, Duration lease) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(extend)) {
            statement.setLong(1, lease.toMillis());
            statement.setString(2, key);
            statement.setLong(3, token);
            return statement.executeUpdate() == 1;
        }
    }

    /** Returns false if the token is no longer the key's, or another session is at the row. */
    boolean release(Connection connection, String key, long token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(release)) {
            statement.setString(1, key);
            statement.setLong(2, token);
            return statement.executeUpdate() == 1;
        }
    }

    /** Returns the number of rows. */
    int removeOld(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(removeOld)) {
            return statement.executeUpdate();
        }
    }

    /** Returns whether the transaction has the lock now. */
    boolean lockInTransaction(Connection connection, String key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOCK_IN_TRANSACTION)) {
            statement.setString(1, "dev.twinbox.lock " + tables.table().sql() + ' ' + key);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    /** The number of the connection's transaction in the database. */
    String transaction(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(TRANSACTION);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return String.valueOf(row.getString(1));
        }
    }
}
