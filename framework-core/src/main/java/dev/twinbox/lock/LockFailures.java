package dev.twinbox.lock;

import dev.twinbox.jdbc.SqlState;
import java.sql.SQLException;
import java.util.Map;

/** What to do about a failure of the locks' database, before the caller tries again. */
final class LockFailures {

    private static final String POOLER =
            "set prepareThreshold=0 in the data source's URL if a pooler in transaction mode is in between";

    /** Single states, in any order. */
    private static final Map<SqlState, String> REMEDIES = Map.ofEntries(
            Map.entry(
                    SqlState.LOCK_NOT_AVAILABLE,
                    "wait for the session that holds the key's row or the table (a grant, a transaction that has fenced the"
                            + " same lock, or an operator; pg_locks has it), or end that session"),
            Map.entry(
                    SqlState.QUERY_CANCELED,
                    "find in pg_locks what the statement has waited for, and raise statement_timeout if it is below 10 s"),
            Map.entry(
                    SqlState.DEADLOCK_DETECTED,
                    "fence locks in the same order in all transactions, before anything else is locked"),
            Map.entry(SqlState.SERIALIZATION_FAILURE, "wait until the transaction that was faster has ended"),
            Map.entry(SqlState.READ_ONLY_SQL_TRANSACTION, "choose a transaction that may write, on the primary"),
            Map.entry(
                    SqlState.INSUFFICIENT_PRIVILEGE,
                    "grant the role SELECT, INSERT, UPDATE and DELETE on the table of locks, and USAGE on its sequence,"
                            + " and disable row-level security of the table"),
            Map.entry(
                    SqlState.SEQUENCE_GENERATOR_LIMIT_EXCEEDED,
                    "give the sequence of tokens a higher maximum (alter sequence … no maxvalue)"),
            Map.entry(
                    SqlState.NOT_NULL_VIOLATION,
                    "give the columns that were added to the table of locks a default, or remove them"),
            Map.entry(SqlState.INVALID_COLUMN_REFERENCE, "restore the primary key of the table of locks, on (key)"),
            Map.entry(SqlState.UNTRANSLATABLE_CHARACTER, "use a database with encoding UTF8"),
            Map.entry(SqlState.INVALID_SQL_STATEMENT_NAME, POOLER),
            Map.entry(SqlState.DUPLICATE_PREPARED_STATEMENT, POOLER),
            Map.entry(SqlState.PROTOCOL_VIOLATION, POOLER));

    private LockFailures() {}

    /** A sentence without its full stop, which begins with a small letter. */
    static String remedy(SQLException failure) {
        SQLException known = withState(failure);
        for (Map.Entry<SqlState, String> remedy : REMEDIES.entrySet()) {
            if (remedy.getKey().isOf(known)) {
                return remedy.getValue();
            }
        }
        if (SqlState.isSchemaWrong(known)) {
            return "create or update the tables as their owner with migrate";
        }
        if (SqlState.isLoginRefused(known)) {
            return "check the data source's URL, user and password";
        }
        return "wait until the database works";
    }

    /** A pool wraps what the database has said. */
    private static SQLException withState(SQLException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null) {
                return sql;
            }
        }
        return failure;
    }
}
