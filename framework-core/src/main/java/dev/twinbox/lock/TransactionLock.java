package dev.twinbox.lock;

import dev.twinbox.TwinboxException;
import dev.twinbox.schema.LockSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Locale;

/** A lock that ends with its transaction. It needs no row; the table only keeps apart the keys of two tables. */
final class TransactionLock {

    private static final String LOCK = """
            -- locks: in a transaction
            select current_setting('transaction_isolation'),
              case when current_setting('transaction_isolation') in ('read committed', 'read uncommitted')
                then %s
              end""";

    private final String lock;

    TransactionLock(LockSchema tables) {
        lock = LOCK.formatted(sql("dev.twinbox.lock", tables));
    }

    /**
     * SQL that takes a lock for the rest of the transaction, or says no at once. It has one parameter, the key.
     *
     * @param kind keeps apart locks of one key that have nothing to do with each other
     */
    static String sql(String kind, LockSchema tables) {
        return "pg_try_advisory_xact_lock(hashtextextended('" + kind + " ' || "
                + tables.table().sqlLiteral() + "::regclass::oid || ' ' || ?, 0))";
    }

    /**
     * Returns whether the transaction has the lock now.
     *
     * @throws TwinboxException if the transaction is not READ COMMITTED: it may not see what the last holder has written
     */
    boolean take(Connection connection, String key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(lock)) {
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

    /** READ UNCOMMITTED is the same in PostgreSQL. */
    static boolean isReadCommitted(String isolation) {
        return isolation.startsWith("read ");
    }
}
