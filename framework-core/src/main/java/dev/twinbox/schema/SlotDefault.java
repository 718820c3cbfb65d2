package dev.twinbox.schema;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.SqlState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.SQLTransientException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/** The default of an event table's column {@code slot}, which decides into which slot a transaction writes. */
final class SlotDefault {

    private static final String EXPRESSION = """
            -- slots: default expression
            select pg_catalog.pg_get_expr(d.adbin, d.adrelid)
              from pg_catalog.pg_attrdef d
              join pg_catalog.pg_attribute a on a.attrelid = d.adrelid and a.attnum = d.adnum
             where d.adrelid = ?::regclass and a.attname = 'slot'
            """;

    private static final int TRIES = 50;
    private static final Duration BETWEEN_TRIES = Duration.ofMillis(100);

    private final Connection connection;
    private final SqlIdentifier events;

    SlotDefault(Connection connection, SqlIdentifier events) {
        this.connection = connection;
        this.events = events;
    }

    /** The statement that sets it. */
    static String change(SqlIdentifier events, Retention retention) {
        return "alter table " + events + " alter column slot set default " + retention.expression();
    }

    @Nullable Retention retention() throws SQLException {
        return Retention.of(expression());
    }

    /** Evaluated by the server, as for a row of this transaction. The text comes from the catalog. */
    int current() throws SQLException {
        String current = "-- slots: current\nselect (" + expression() + ")::int";
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(current)) {
            row.next();
            return row.getInt(1);
        }
    }

    /** All writers wait after a transaction that waits for this lock. Hence many short waits instead of a long one. */
    void set(Retention retention) throws SQLException {
        for (int i = 0; i < TRIES; i++) {
            try (Statement statement = connection.createStatement()) {
                statement.execute("set lock_timeout = '50ms'");
                statement.execute(change(events, retention));
                return;
            } catch (SQLException e) {
                if (!SqlState.LOCK_NOT_AVAILABLE.isOf(e)) {
                    throw e;
                }
                LockSupport.parkNanos(BETWEEN_TRIES.toNanos());
            }
        }
        throw new SQLTransientException("some transaction has held a lock on it for "
                + BETWEEN_TRIES.multipliedBy(TRIES).toSeconds() + " s or more; try again when it has ended");
    }

    private String expression() throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(EXPRESSION)) {
            statement.setString(1, events.sql());
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    throw new SQLException(
                            "column slot of table " + events + " has no default",
                            SqlState.INVALID_TABLE_DEFINITION.code());
                }
                return row.getString(1);
            }
        }
    }
}
