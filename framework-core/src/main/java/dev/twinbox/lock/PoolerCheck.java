package dev.twinbox.lock;

import dev.twinbox.jdbc.SharedProcess;
import dev.twinbox.jdbc.SqlState;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * Looks for a pooler in transaction mode that mixes up prepared statements. A statement of one connection then runs in
 * place of another one's, and a transaction that seems committed has no effect.
 */
final class PoolerCheck {

    private static final Logger LOG = System.getLogger(PoolerCheck.class.getName());

    /** PostgreSQL's driver keeps a statement on the server from its fifth execution on, unless it is told otherwise. */
    private static final int EXECUTIONS = 8;

    private static final String KEPT = """
            -- locks: is a statement kept
            select count(*) from pg_prepared_statements
             where not from_sql and statement like '%locks: is a statement kept%'""";

    private PoolerCheck() {}

    /** Warns if statements will be mixed up. Called outside of a transaction. */
    static void run(DataSource dataSource, String name) {
        try (Connection one = dataSource.getConnection();
                Connection other = dataSource.getConnection()) {
            if (isStatementKept(one) && SharedProcess.isShared(one, other)) {
                warn(name);
            }
        } catch (SQLException | RuntimeException e) { // whatever else it is, it says nothing about a pooler
            if (e instanceof SQLException failed && isMixedUp(failed)) {
                warn(name);
            } else {
                LOG.log(Level.DEBUG, () -> "It was not found out whether a pooler is in between: " + e);
            }
        }
    }

    /** A process of the server has a statement of another connection, or lacks one of this connection. */
    private static boolean isMixedUp(SQLException e) {
        return SqlState.DUPLICATE_PREPARED_STATEMENT.isOf(e) || SqlState.INVALID_SQL_STATEMENT_NAME.isOf(e);
    }

    private static void warn(String name) {
        LOG.log(
                Level.WARNING,
                () -> "The data source " + name + " leads to a pooler in transaction mode, and its driver keeps "
                        + "prepared statements on the server. They are mixed up then, and what seems committed "
                        + "may be lost: set prepareThreshold=0 in the data source's URL, or use the pooler's "
                        + "session mode. A PgBouncer that follows prepared statements (max_prepared_statements, "
                        + "from 1.21 on) needs neither");
    }

    private static boolean isStatementKept(Connection connection) throws SQLException {
        boolean isKept = false;
        try (PreparedStatement statement = connection.prepareStatement(KEPT)) {
            for (int i = 0; i < EXECUTIONS; i++) {
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    isKept |= row.getInt(1) > 0;
                }
            }
        }
        return isKept;
    }
}
