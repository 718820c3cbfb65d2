package dev.twinbox.jdbc;

import java.net.SocketTimeoutException;
import java.sql.SQLException;
import java.util.Arrays;

/**
 * The SQLSTATEs that decide what happens next, by the names of PostgreSQL's documentation (appendix A, "PostgreSQL
 * Error Codes"). A constant is either a class, two characters, or one state of it.
 */
public enum SqlState {
    CONNECTION_EXCEPTION("08"),
    UNABLE_TO_CONNECT("08001"),
    /** A statement was given another number of parameters than it has. */
    PROTOCOL_VIOLATION("08P01"),
    DATA_EXCEPTION("22"),
    /** A sequence has no further number. */
    SEQUENCE_GENERATOR_LIMIT_EXCEEDED("2200H"),
    /** A character that the encoding of the database lacks. */
    UNTRANSLATABLE_CHARACTER("22P05"),
    INTEGRITY_CONSTRAINT_VIOLATION("23"),
    NOT_NULL_VIOLATION("23502"),
    /** A standby, or a primary that is fenced by {@code default_transaction_read_only}. */
    READ_ONLY_SQL_TRANSACTION("25006"),
    /** The server has closed the connection, because its transaction was idle for too long. */
    IDLE_IN_TRANSACTION_SESSION_TIMEOUT("25P03"),
    /** The server has closed the connection, because its transaction took too long. */
    TRANSACTION_TIMEOUT("25P04"),
    /** A prepared statement that does not exist. */
    INVALID_SQL_STATEMENT_NAME("26000"),
    INVALID_AUTHORIZATION("28"),
    INVALID_CATALOG_NAME("3D"),
    INVALID_SCHEMA_NAME("3F"),
    TRANSACTION_ROLLBACK("40"),
    SERIALIZATION_FAILURE("40001"),
    DEADLOCK_DETECTED("40P01"),
    /** Missing tables and columns, and {@link #INSUFFICIENT_PRIVILEGE}. */
    SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION("42"),
    INSUFFICIENT_PRIVILEGE("42501"),
    /** Also {@code on conflict} without a unique index for it. */
    INVALID_COLUMN_REFERENCE("42P10"),
    DUPLICATE_PREPARED_STATEMENT("42P05"),
    INVALID_TABLE_DEFINITION("42P16"),
    INSUFFICIENT_RESOURCES("53"),
    PROGRAM_LIMIT_EXCEEDED("54"),
    OBJECT_NOT_IN_PREREQUISITE_STATE("55"),
    LOCK_NOT_AVAILABLE("55P03"),
    /** {@link #SERVER_STOPS_OR_STARTS} and {@link #QUERY_CANCELED}. */
    OPERATOR_INTERVENTION("57"),
    /** Also a statement that runs into its timeout. */
    QUERY_CANCELED("57014"),
    /** The server starts or stops, or an administrator ends the connection. */
    SERVER_STOPS_OR_STARTS("57P");

    private final String code;

    SqlState(String code) {
        this.code = code;
    }

    /** The two characters of a class, or the five of a state. */
    public String code() {
        return code;
    }

    /** Whether the failure itself, not its cause, has this state or one of this class. */
    public boolean isOf(SQLException failure) {
        String state = failure.getSQLState();
        return state != null && state.startsWith(code);
    }

    /**
     * What the failure itself, not its cause, is about. A canceled statement is about nothing that is known here: what
     * runs into a statement timeout does so again.
     */
    public static FailureSubject subjectOf(SQLException failure) {
        if (isAny(failure, DATA_EXCEPTION, INTEGRITY_CONSTRAINT_VIOLATION, PROGRAM_LIMIT_EXCEEDED)) {
            return FailureSubject.EVENT;
        }
        if (isAny(failure, CONNECTION_EXCEPTION, SERVER_STOPS_OR_STARTS, READ_ONLY_SQL_TRANSACTION)
                || isAny(failure, IDLE_IN_TRANSACTION_SESSION_TIMEOUT, TRANSACTION_TIMEOUT)) {
            return FailureSubject.CONNECTION;
        }
        if (isAny(failure, TRANSACTION_ROLLBACK, INSUFFICIENT_RESOURCES, OBJECT_NOT_IN_PREREQUISITE_STATE)) {
            return FailureSubject.MOMENT;
        }
        return isLoginRefused(failure) || isSchemaWrong(failure)
                ? FailureSubject.CONFIGURATION
                : FailureSubject.UNKNOWN;
    }

    /** Whether the transaction lost against another one at the same time. The next attempt may win. */
    public static boolean isConflict(SQLException failure) {
        return isAny(failure, SERIALIZATION_FAILURE, DEADLOCK_DETECTED);
    }

    /** Whether the server refuses the login. A wrong user, password or database stays wrong. */
    public static boolean isLoginRefused(SQLException failure) {
        return isAny(failure, INVALID_AUTHORIZATION, INVALID_CATALOG_NAME);
    }

    /** Whether a schema, table, column or privilege is missing. An operator has to create or grant it. */
    public static boolean isSchemaWrong(SQLException failure) {
        return isAny(failure, SYNTAX_ERROR_OR_ACCESS_RULE_VIOLATION, INVALID_SCHEMA_NAME);
    }

    /**
     * Whether no server answers, or one that cannot serve now. Any other state is an answer, which the next attempt
     * gets again. The first cause that has a state decides. A pool that gives up has no state, which is an outage.
     */
    public static boolean isOutage(SQLException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SQLException sql && sql.getSQLState() != null) {
                return isAny(sql, CONNECTION_EXCEPTION, INSUFFICIENT_RESOURCES, OPERATOR_INTERVENTION);
            }
        }
        return true;
    }

    /** Whether no answer came in time: while connecting, within the socket timeout, or within the statement timeout. */
    public static boolean isTimeout(SQLException failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof SocketTimeoutException) {
                return true;
            }
        }
        // PostgreSQL's driver reports its login timeout without a cause.
        boolean isLoginTimeout = UNABLE_TO_CONNECT.isOf(failure) && failure.getCause() == null;
        return isLoginTimeout || QUERY_CANCELED.isOf(failure);
    }

    private static boolean isAny(SQLException failure, SqlState... states) {
        return Arrays.stream(states).anyMatch(state -> state.isOf(failure));
    }
}
