package dev.twinbox.relay.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import org.jspecify.annotations.Nullable;

/**
 * The server process that answers on a connection. A pooler can replace it without a word: after each transaction, or
 * after a crash of PostgreSQL. Snapshots from before a crash are not valid after it, and the settings of the session are
 * gone. So the process gets a mark, a setting of its session that no other process has. Statements that depend on a
 * snapshot in memory return the mark, and the caller compares it.
 */
final class ServerProcess {
    /** SQL expression for the mark; null where there is none. */
    static final String MARK = "current_setting('twinbox.session', true)";

    private static final String SET = """
            -- relay: mark the server process
            select set_config('twinbox.session', coalesce(nullif({mark}, ''), gen_random_uuid()::text), false)
            """.replace("{mark}", MARK);

    private static final String READ = "-- relay: look for the mark of the server process\nselect " + MARK;

    private final String mark;

    private ServerProcess(String mark) {
        this.mark = mark;
    }

    /**
     * Marks the process that answers now, if it has no mark yet.
     *
     * @param connection in auto-commit mode: a rollback would take the mark away
     */
    static ServerProcess mark(Connection connection) throws SQLException {
        return new ServerProcess(String.valueOf(text(connection, SET)));
    }

    /** A parameter to be compared with {@link #MARK}. */
    String mark() {
        return mark;
    }

    /** Checks the mark of the process that answers now. */
    void check(Connection connection) throws SQLException {
        check(text(connection, READ));
    }

    /**
     * Checks a mark that a statement returned.
     *
     * @throws SQLTransientConnectionException if it is another one; then nothing that was read before may be used
     */
    void check(@Nullable String seen) throws SQLTransientConnectionException {
        if (!mark.equals(seen)) {
            throw new SQLTransientConnectionException(
                    "another server process answers on this connection than before: PostgreSQL has crashed, or a pooler "
                            + "in transaction mode is in between; the relay begins again at the saved position. If this "
                            + "repeats, connect the relay to PostgreSQL itself or to a pool in session mode",
                    "08006");
        }
    }

    private static @Nullable String text(Connection connection, String sql) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getString(1);
        }
    }
}
