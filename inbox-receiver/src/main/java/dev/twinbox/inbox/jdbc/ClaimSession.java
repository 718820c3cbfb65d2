package dev.twinbox.inbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * The database session and the transaction in which events were claimed. Another session can end it by them.
 *
 * @param pid the session's process
 * @param transactionStart microseconds; a later transaction of the same session has another
 */
public record ClaimSession(int pid, long transactionStart) {

    /** Part of the statement that claims, so that it costs no round trip. */
    static final String SELECT =
            "select pg_backend_pid() as pid, (extract(epoch from transaction_timestamp()) * 1000000)::bigint as began";

    /** The server waits so long for the end of the other session. */
    private static final int MILLIS_TO_END = 5_000;

    private static final String END = """
            -- inbox: end the session of a handler that hangs
            select pg_terminate_backend(pid, ?)
              from pg_stat_activity
             where pid = ? and (extract(epoch from xact_start) * 1000000)::bigint = ?""";

    /** Reads a row of {@link #SELECT}. */
    static ClaimSession read(ResultSet row) throws SQLException {
        return new ClaimSession(row.getInt("pid"), row.getLong("began"));
    }

    /**
     * Ends the session if it is still in that transaction. The transaction is rolled back then, and its locks are free.
     *
     * @return whether the transaction has ended
     */
    public boolean end(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(END)) {
            statement.setLong(1, MILLIS_TO_END);
            statement.setInt(2, pid);
            statement.setLong(3, transactionStart);
            try (ResultSet row = statement.executeQuery()) {
                return !row.next() || row.getBoolean(1);
            }
        }
    }
}
