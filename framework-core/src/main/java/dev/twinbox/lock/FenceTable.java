package dev.twinbox.lock;

import dev.twinbox.TwinboxException;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.schema.LockSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Locale;
import java.util.OptionalLong;

/**
 * All statements on the table of locks. Each runs in its caller's transaction.
 *
 * <p>A row is the fence of its key. A grant writes a new token into it; {@link #fence} locks it if it still has the
 * holder's token. The two exclude each other by the row's lock. So there is no moment in which a grant is done and an
 * earlier holder passes.
 */
final class FenceTable {

    /**
     * Who has decided about a lease. The row says it by the microseconds of the lease's end, which has whole milliseconds
     * otherwise.
     */
    enum Decider {
        /** Nobody takes the key over before the end of the lease. */
        DATABASE(0),
        /** The store of leases, which may have another one already, takes it over at once. */
        STORE(1);

        private final int micros;

        Decider(int micros) {
            this.micros = micros;
        }
    }

    /** A lease counts from now on, and at least as long as it says. */
    private static final String LEASE_UNTIL = "date_trunc('milliseconds', clock_timestamp())"
            + " + (? + 1) * interval '1 millisecond' + ? * interval '1 microsecond'";

    /** What became of a fence. */
    enum Passage {
        /** The transaction has the row's lock now. */
        PASSED,
        /** The token is no longer the key's. */
        REFUSED,
        /** The transaction reads an old snapshot, which may lack the grant. Nobody knows whether it is the latest one. */
        OLD_SNAPSHOT
    }

    /** How long a fence waits for another transaction at its row. */
    private static final Duration FENCE_LIMIT = Duration.ofSeconds(10);

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
     * <p>A lease lasts a day at most. One that seems to last longer was given by a clock that was wrong.
     *
     * <p>The row's condition is checked again on its latest version when it gets its lock. The update cannot meet another
     * version after that.
     */
    private static final String GRANT = SET + """
            -- locks: grant
            with free as materialized (
              select key from %1$s
               where key = ?
                 and (lease_until <= clock_timestamp()
                   or lease_until > clock_timestamp() + interval '25 hours'
                   or (? and extract(microseconds from lease_until)::bigint %% 1000 = 1))
                 for no key update skip locked
            ), renewed as (
              update %1$s l
                 set token = nextval(%2$s), lease_until = %3$s
                from free
               where l.key = free.key
              returning l.token
            ), added as (
              insert into %1$s (key, token, lease_until)
              select ?, nextval(%2$s), %3$s
               where not exists (select from %1$s where key = ?)
              on conflict (key) do nothing
              returning token
            )
            select token from renewed union all select token from added""";

    /** Waits for nobody: the usual case costs one statement. */
    private static final String FENCE = """
            -- locks: fence
            select from %s where key = ? and token = ? for no key update skip locked""";

    /** The row is locked, or is not there. */
    private static final String FENCE_WAITING = """
            -- locks: fence, waiting
            select from %s where key = ? and token = ? for no key update""";

    /** Returns the caller's limit, and sets ours unless the caller's is shorter. */
    private static final String LIMIT = """
            -- locks: limit
            select current_setting('transaction_isolation'), current_setting('lock_timeout'), set_config('lock_timeout',
              case when current_setting('lock_timeout')::interval between interval '1 millisecond' and ?::interval
                then current_setting('lock_timeout') else ? end, true)""";

    private static final String CALLERS_LIMIT = """
            -- locks: limit of the caller
            select set_config('lock_timeout', ?, true)""";

    /** Waits for nobody. */
    private static final String EXTEND = """
            -- locks: extend
            update %1$s set lease_until = %2$s
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
            select current_setting('transaction_isolation'),
              case when current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
                then pg_try_advisory_xact_lock(hashtextextended('dev.twinbox.lock ' || %s::regclass::oid || ' ' || ?, 0))
              end""";

    /** However the configuration spells it. */
    private static final String NAME = """
            -- locks: name of the table
            select format('%%I.%%I', n.nspname, c.relname)
              from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where c.oid = %s::regclass""";

    private static final String TRANSACTION = """
            -- locks: which transaction
            select pg_current_xact_id()::text""";

    private final Duration fenceLimit;
    private final String grant;
    private final String fence;
    private final String fenceWaiting;
    private final String extend;
    private final String release;
    private final String removeOld;
    private final String lockInTransaction;
    private final String name;

    FenceTable(LockSchema tables) {
        this(tables, FENCE_LIMIT);
    }

    /** @param fenceLimit how long a fence waits for another transaction */
    FenceTable(LockSchema tables, Duration fenceLimit) {
        String table = tables.table().sql();
        this.fenceLimit = fenceLimit;
        this.grant = GRANT.formatted(table, tables.tokens().sqlLiteral(), LEASE_UNTIL);
        this.fence = FENCE.formatted(table);
        this.fenceWaiting = FENCE_WAITING.formatted(table);
        this.extend = EXTEND.formatted(table, LEASE_UNTIL);
        this.release = RELEASE.formatted(table);
        this.removeOld = REMOVE_OLD.formatted(table);
        this.lockInTransaction = LOCK_IN_TRANSACTION.formatted(tables.table().sqlLiteral());
        this.name = NAME.formatted(tables.table().sqlLiteral());
    }

    /** Grants the key. Returns the new token; empty: another holder has it, or another session is at its row. */
    OptionalLong grant(Connection connection, String key, Duration lease, Decider decider) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(grant)) {
            statement.setString(1, key);
            statement.setBoolean(2, decider == Decider.STORE);
            statement.setLong(3, lease.toMillis());
            statement.setInt(4, decider.micros);
            statement.setString(5, key);
            statement.setLong(6, lease.toMillis());
            statement.setInt(7, decider.micros);
            statement.setString(8, key);
            statement.execute();
            statement.getMoreResults(); // after the result of the settings
            try (ResultSet row = statement.getResultSet()) {
                return row.next() ? OptionalLong.of(row.getLong(1)) : OptionalLong.empty();
            }
        }
    }

    /**
     * Locks the fence of the key until the transaction ends. Waits for a grant of the key, and for another transaction that
     * has fenced it, but not for ever.
     */
    Passage fence(Connection connection, String key, long token) throws SQLException {
        return isLocked(connection, fence, key, token) ? Passage.PASSED : fenceWaiting(connection, key, token);
    }

    private Passage fenceWaiting(Connection connection, String key, long token) throws SQLException {
        String isolation;
        String callersLimit;
        try (PreparedStatement statement = connection.prepareStatement(LIMIT)) {
            statement.setString(1, fenceLimit.toString());
            statement.setString(2, fenceLimit.toMillis() + "ms");
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                isolation = row.getString(1);
                callersLimit = row.getString(2);
            }
        }
        boolean isPassed = isLocked(connection, fenceWaiting, key, token);
        try (PreparedStatement statement = connection.prepareStatement(CALLERS_LIMIT)) {
            statement.setString(1, callersLimit);
            statement.execute();
        }
        if (isPassed) {
            return Passage.PASSED;
        }
        return isReadCommitted(isolation) ? Passage.REFUSED : Passage.OLD_SNAPSHOT;
    }

    private static boolean isLocked(Connection connection, String fence, String key, long token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(fence)) {
            statement.setString(1, key);
            statement.setLong(2, token);
            try (ResultSet row = statement.executeQuery()) {
                return row.next();
            }
        }
    }

    /** READ UNCOMMITTED is the same in PostgreSQL. */
    private static boolean isReadCommitted(String isolation) {
        return isolation.startsWith("read ");
    }

    /** What to do after a fence has failed, before it is tried again. */
    String remedy(SQLException failure) {
        if (SqlState.LOCK_NOT_AVAILABLE.isOf(failure)) {
            return "wait for the other transaction at the key's row, which is a grant or has fenced the same lock (the limit is "
                    + fenceLimit.toSeconds() + " s, or the caller's lock_timeout)";
        }
        if (SqlState.DEADLOCK_DETECTED.isOf(failure)) {
            return "fence locks in the same order in all transactions, before anything else is locked";
        }
        if (SqlState.READ_ONLY_SQL_TRANSACTION.isOf(failure)) {
            return "choose a transaction that may write, on the primary";
        }
        return "wait until the database works";
    }

    /** Returns false if the token is no longer the key's, or another session is at the row. */
    boolean extend(Connection connection, String key, long token, Duration lease, Decider decider) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(extend)) {
            statement.setLong(1, lease.toMillis());
            statement.setInt(2, decider.micros);
            statement.setString(3, key);
            statement.setLong(4, token);
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

    /**
     * Returns whether the transaction has the lock now.
     *
     * @throws TwinboxException if the transaction is not READ COMMITTED: it may not see what the last holder has written
     */
    boolean lockInTransaction(Connection connection, String key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(lockInTransaction)) {
            statement.setString(1, key);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                String isolation = row.getString(1);
                if (!isReadCommitted(isolation)) {
                    throw new TwinboxException(
                            "KeyLocks.tryLockInTransaction needs the isolation level READ COMMITTED, but "
                                    + "the transaction has " + isolation.toUpperCase(Locale.ROOT)
                                    + ": it may not see what the "
                                    + "last holder has written. Set the level in the data source, or lock in a new transaction");
                }
                return row.getBoolean(2);
            }
        }
    }

    /** Schema and name of the table, quoted where needed: the same for each spelling in a configuration. */
    String name(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(name);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return String.valueOf(row.getString(1));
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
