package dev.twinbox.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Finds a pooler in transaction mode, which gives a connection another process of the server for each transaction. */
public final class SharedProcess {

    private static final int LOOKS = 5;

    private static final String PROCESS = "-- server process\nselect pg_backend_pid()::text";

    private SharedProcess() {}

    /**
     * Whether the connections do not have processes of their own: such a pooler gives one that is idle to the next
     * transaction, whichever connection it is of. Asked several times: a third connection may take the process that one of
     * these two would have got.
     *
     * @param one in auto-commit mode, outside of JTA
     * @param other as {@code one}
     */
    public static boolean isShared(Connection one, Connection other) throws SQLException {
        for (int i = 0; i < LOOKS; i++) {
            if (isSharedNow(one, other)) {
                return true;
            }
        }
        return false;
    }

    private static boolean isSharedNow(Connection one, Connection other) throws SQLException {
        String own = process(one);
        // The transaction keeps its process, so the first connection needs another one if they share.
        return Transactions.inRolledBackTransaction(
                other, () -> own.equals(process(other)) || !own.equals(process(one)));
    }

    private static String process(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(PROCESS);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return String.valueOf(row.getString(1));
        }
    }
}
