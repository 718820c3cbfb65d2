package dev.twinbox.lock;

import dev.twinbox.jdbc.SqlState;
import java.sql.SQLException;

/** What to do about a failure of the locks' database, before the caller tries again. */
final class LockFailures {

    private LockFailures() {}

    /** A sentence without its full stop, which begins with a small letter. */
    static String remedy(SQLException failure) {
        SQLException known = withState(failure);
        if (SqlState.LOCK_NOT_AVAILABLE.isOf(known)) {
            return "wait for the session that holds the key's row or the table (a grant, a transaction that has fenced the"
                    + " same lock, or an operator; pg_locks has it), or end that session";
        }
        if (SqlState.QUERY_CANCELED.isOf(known)) {
            return "raise statement_timeout above 10 s, or find in pg_locks what the statement has waited for";
        }
        if (SqlState.DEADLOCK_DETECTED.isOf(known)) {
            return "fence locks in the same order in all transactions, before anything else is locked";
        }
        if (SqlState.READ_ONLY_SQL_TRANSACTION.isOf(known)) {
            return "choose a transaction that may write, on the primary";
        }
        if (SqlState.INSUFFICIENT_PRIVILEGE.isOf(known)) {
            return "grant the role SELECT, INSERT, UPDATE and DELETE on the table of locks, and USAGE on its sequence";
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
