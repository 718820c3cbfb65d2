package dev.twinbox.inbox.console;

import dev.twinbox.console.ProblemException;
import dev.twinbox.console.operator.CallLimits;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.SqlState;
import java.sql.Connection;
import java.sql.SQLException;

/**
 * How an operator gets to the inbox's tables. Each call has a connection of its own.
 *
 * @param inbox the inbox table; the others are named after it
 * @param connector opens a connection in auto-commit mode, on which no policy hides rows
 */
public record InboxDatabase(SqlIdentifier inbox, Connector connector) {

    /** Opens connections. */
    @FunctionalInterface
    public interface Connector {
        Connection connect() throws SQLException;
    }

    /** What is done on a connection. */
    @FunctionalInterface
    interface Work<T> {
        T on(Connection connection) throws SQLException;
    }

    <T> T run(Work<T> work) throws SQLException {
        try (Connection connection = connector.connect()) {
            return work.on(connection);
        }
    }

    /** @throws ProblemException if the database refuses, or does not answer */
    <T> T answer(CallLimits limits, Work<T> work) {
        return limits.withConnection(() -> {
            try {
                return run(work);
            } catch (SQLException e) {
                throw new ProblemException(503, explain(e, inbox));
            }
        });
    }

    /** Why a statement failed, and what an operator can do. */
    public static String explain(SQLException failure, SqlIdentifier inbox) {
        if (SqlState.isTimeout(failure)) {
            return "PostgreSQL did not answer in time: " + failure.getMessage()
                    + ". Check host and port in --url, or raise connectTimeout, loginTimeout or socketTimeout in it";
        }
        return "Table " + ParkedTable.name(inbox) + " cannot be used, check --url and --schema: "
                + failure.getMessage();
    }
}
