package dev.twinbox.lock;

import dev.twinbox.jdbc.SqlState;
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

    /** Who has decided about a lease. */
    enum Decider {
        /** Nobody takes the key over before the end of the lease. */
        DATABASE,
        /** The store of leases, which may have another one already, takes it over at once. */
        STORE
    }

    /**
     * A number that rises, and 20 bits of chance. If the sequence is set back, which a replica that takes over may do, a
     * number comes again, and an earlier holder of it still has another token.
     */
    private static final String TOKEN =
            "nextval(%s) * 1048576 + ('x' || left(gen_random_uuid()::text, 5))::bit(20)::int";

    private static final int BITS_OF_CHANCE = 20;

    /** How long fence, extension and release wait for another session at the row or at the table. */
    private static final Duration LIMIT = Duration.ofSeconds(10);

    /**
     * A grant that a crash of the database loses would let the earlier holder pass again, so it is not acknowledged before
     * it is durable. The wait is for the end of a release of the same key, which is short, unless its process was stopped.
     */
    private static final String SET = """
            select set_config('lock_timeout', '1s', true),
                   set_config('synchronous_commit',
                     case current_setting('synchronous_commit') when 'off' then 'on'
                     else current_setting('synchronous_commit') end, true);
            """;

    /**
     * A row that a transaction has fenced is skipped: the answer is no then. It is no, too, while another grant of the key
     * is not committed. So each token of a key is drawn after the one before it was committed, and the tokens of a key rise
     * although its row may be deleted and added in between.
     *
     * <p>The row's condition is checked again on its latest version when it gets its lock. The update cannot meet another
     * version after that.
     */
    private static final String GRANT = SET + """
            -- locks: grant
            with turn as materialized (
              select %6$s as is_ours
            ), free as materialized (
              select key from %1$s
               where (select is_ours from turn)
                 and key = ?
                 and (%4$s or (? and %5$s))
                 for no key update skip locked
            ), renewed as (
              update %1$s l
                 set token = %2$s, lease_until = %3$s
                from free
               where l.key = free.key
              returning l.token
            ), added as (
              insert into %1$s (key, token, lease_until)
              select ?, %2$s, %3$s
               where (select is_ours from turn)
                 and not exists (select from %1$s where key = ?)
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

    /** Sets our limit unless the caller's is shorter, and keeps the caller's. */
    private static final String LIMITED = """
            -- locks: limit
            select current_setting('transaction_isolation'),
                   set_config('twinbox.lock_timeout', current_setting('lock_timeout'), true),
                   set_config('lock_timeout', case
                     when current_setting('lock_timeout')::interval
                       between interval '1 millisecond' and interval '%1$d milliseconds'
                     then current_setting('lock_timeout') else '%1$dms' end, true)%2$s;
            """;

    /** For a statement that may wait twice: in the queue for the row, and for the session that has it. */
    private static final String LIMITED_AS_A_WHOLE = """
            ,
                   set_config('twinbox.statement_timeout', current_setting('statement_timeout'), true),
                   set_config('statement_timeout', case
                     when current_setting('statement_timeout')::interval
                       between interval '1 millisecond' and interval '%1$d milliseconds'
                     then current_setting('statement_timeout') else '%1$dms' end, true)""";

    /** A single wait ends before, with its own error. */
    private static final Duration LATER = Duration.ofMillis(500);

    private static final String CALLERS_WHOLE_LIMIT = """
            ,
                   set_config('statement_timeout', current_setting('twinbox.statement_timeout'), true)""";

    private static final String CALLERS_LIMIT = """

            ;
            -- locks: limit of the caller
            select set_config('lock_timeout', current_setting('twinbox.lock_timeout'), true)""";

    /** Waits for nobody at the row. */
    private static final String EXTEND = """
            -- locks: extend
            with own as materialized (
              select key from %1$s where key = ? and token = ? for no key update skip locked
            ), extended as (
              update %1$s l
                 set lease_until = %2$s
                from own
               where l.key = own.key
              returning l.key
            )
            select exists (select from extended), exists (select from %1$s where key = ? and token = ?)""";

    /**
     * Waits for another session at the row; the holder's own transactions have ended. The row is not needed any more: a
     * grant adds another one.
     */
    private static final String RELEASE = """
            -- locks: release
            delete from %1$s where key = ? and token = ?""";

    /** However the configuration spells it. */
    private static final String NAME = """
            -- locks: name of the table
            select format('%%I.%%I', n.nspname, c.relname)
              from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where c.oid = %s::regclass""";

    private static final String HIDDEN = """
            -- locks: are rows hidden
            select row_security_active(%s::regclass)::text""";

    private static final String TRANSACTION = """
            -- locks: which transaction
            select pg_current_xact_id()::text""";

    private final Duration limit;
    private final String grant;
    private final String fence;
    private final String fenceWaiting;
    private final String extend;
    private final String release;
    private final OldRows oldRows;
    private final TableSessions sessions;
    private final TransactionLock lockInTransaction;
    private final String name;
    private final String hidden;

    FenceTable(LockSchema tables) {
        this(tables, LIMIT);
    }

    /** @param limit how long to wait for another session */
    FenceTable(LockSchema tables, Duration limit) {
        String table = tables.table().sql();
        String limited = LIMITED.formatted(limit.toMillis(), "");
        String limitedAsAWhole = LIMITED.formatted(
                limit.toMillis(), LIMITED_AS_A_WHOLE.formatted(limit.plus(LATER).toMillis()));
        this.limit = limit;
        this.grant = GRANT.formatted(
                table,
                TOKEN.formatted(tables.tokens().sqlLiteral()),
                LeaseEnd.SQL,
                LeaseEnd.IS_OVER,
                LeaseEnd.IS_OF_STORE,
                TransactionLock.sql("dev.twinbox.lock grant", tables));
        this.fence = limited + FENCE.formatted(table) + CALLERS_LIMIT;
        this.fenceWaiting = limitedAsAWhole + FENCE_WAITING.formatted(table) + CALLERS_LIMIT + CALLERS_WHOLE_LIMIT;
        this.extend = limited + EXTEND.formatted(table, LeaseEnd.SQL);
        this.release = limitedAsAWhole + RELEASE.formatted(table);
        this.oldRows = new OldRows(tables, limited);
        this.sessions = new TableSessions(tables);
        this.lockInTransaction = new TransactionLock(tables);
        this.name = NAME.formatted(tables.table().sqlLiteral());
        this.hidden = HIDDEN.formatted(tables.table().sqlLiteral());
    }

    /** How long fence, extension and release wait for another session. */
    Duration limit() {
        return limit;
    }

    private static int micros(Decider decider, Duration lease) {
        return LeaseEnd.micros(decider == Decider.STORE, lease);
    }

    /** The number of a grant: the part of its token that counts the grants of all keys. */
    static long number(long token) {
        return token >> BITS_OF_CHANCE;
    }

    /** Grants the key. Returns the new token; empty: another holder has it, or another session is at its row. */
    OptionalLong grant(Connection connection, String key, Duration lease, Decider decider) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(grant)) {
            statement.setString(1, key);
            statement.setString(2, key);
            statement.setBoolean(3, decider == Decider.STORE);
            statement.setLong(4, lease.toMillis());
            statement.setInt(5, micros(decider, lease));
            statement.setString(6, key);
            statement.setLong(7, lease.toMillis());
            statement.setInt(8, micros(decider, lease));
            statement.setString(9, key);
            executeAfterSettings(statement);
            try (ResultSet row = statement.getResultSet()) {
                return row.next() ? OptionalLong.of(row.getLong(1)) : OptionalLong.empty();
            }
        }
    }

    /**
     * Locks the fence of the key until the transaction ends. Waits for a grant of the key, and for another transaction that
     * has fenced it, but not for ever.
     *
     * @throws SQLException also if rows are hidden from the role: nobody knows then whether the token is the latest one
     */
    Passage fence(Connection connection, String key, long token) throws SQLException {
        Passage atOnce = fence(connection, fence, key, token);
        if (atOnce == Passage.PASSED) {
            return atOnce;
        }
        Passage passage = fence(connection, fenceWaiting, key, token);
        if (passage == Passage.REFUSED && one(connection, hidden).equals("true")) {
            throw new SQLException(
                    "row-level security of the table can hide the row from the role",
                    SqlState.INSUFFICIENT_PRIVILEGE.code());
        }
        return passage;
    }

    private static Passage fence(Connection connection, String sql, String key, long token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setString(1, key);
            statement.setLong(2, token);
            statement.execute();
            String isolation;
            try (ResultSet settings = statement.getResultSet()) {
                settings.next();
                isolation = settings.getString(1);
            }
            statement.getMoreResults();
            try (ResultSet row = statement.getResultSet()) {
                if (row.next()) {
                    return Passage.PASSED;
                }
            }
            return TransactionLock.isReadCommitted(isolation) ? Passage.REFUSED : Passage.OLD_SNAPSHOT;
        }
    }

    /** Goes on to the result that follows that of the settings. */
    private static void executeAfterSettings(PreparedStatement statement) throws SQLException {
        statement.execute();
        statement.getMoreResults();
    }

    Renewal extend(Connection connection, String key, long token, Duration lease, Decider decider) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(extend)) {
            statement.setString(1, key);
            statement.setLong(2, token);
            statement.setLong(3, lease.toMillis());
            statement.setInt(4, micros(decider, lease));
            statement.setString(5, key);
            statement.setLong(6, token);
            executeAfterSettings(statement);
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                if (row.getBoolean(1)) {
                    return Renewal.RENEWED;
                }
                return row.getBoolean(2) ? Renewal.BUSY : Renewal.LOST;
            }
        }
    }

    /** Returns false if the token is no longer the key's. */
    boolean release(Connection connection, String key, long token) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(release)) {
            statement.setString(1, key);
            statement.setLong(2, token);
            executeAfterSettings(statement);
            return statement.getUpdateCount() == 1;
        }
    }

    OldRows oldRows() {
        return oldRows;
    }

    /** The sessions because of which no grant can use the table. */
    TableSessions sessions() {
        return sessions;
    }

    /** See {@link TransactionLock#take}. */
    boolean lockInTransaction(Connection connection, String key) throws SQLException {
        return lockInTransaction.take(connection, key);
    }

    /** Schema and name of the table, quoted where needed: the same for each spelling in a configuration. */
    String name(Connection connection) throws SQLException {
        return one(connection, name);
    }

    /** The number of the connection's transaction in the database. */
    String transaction(Connection connection) throws SQLException {
        return one(connection, TRANSACTION);
    }

    private static String one(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return String.valueOf(row.getString(1));
        }
    }
}
