package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.SqlState;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * Changes old rows of tables that have constraints for new rows only, declared {@code not valid}. PostgreSQL checks
 * them at each update, too. So they are dropped for the change and added again, if a row breaks one of them.
 */
final class UncheckedConstraints {
    private static final String FIND = """
            -- rebase: constraints for new rows only
            select quote_ident(conname), pg_get_constraintdef(oid) from pg_constraint
            where conrelid = to_regclass(?) and contype = 'c' and not convalidated order by conname
            """;

    /** A change within the transaction. */
    interface Change {
        void run() throws SQLException;
    }

    private final Connection connection;
    private final List<SqlIdentifier> tables;

    UncheckedConstraints(Connection connection, SqlIdentifier... tables) {
        this.connection = connection;
        this.tables = List.of(tables);
    }

    /** Runs the change, in an open transaction. It may run twice. */
    void without(Change change) throws SQLException {
        Savepoint before = connection.setSavepoint();
        try {
            change.run();
            connection.releaseSavepoint(before);
            return;
        } catch (SQLException e) {
            if (!SqlState.INTEGRITY_CONSTRAINT_VIOLATION.isOf(e)) {
                throw e;
            }
            connection.rollback(before);
        }
        List<String> additions = new ArrayList<>();
        for (SqlIdentifier table : tables) {
            additions.addAll(drop(table));
        }
        change.run();
        for (String addition : additions) {
            execute(addition);
        }
    }

    /** Returns statements that add the constraints again. */
    private List<String> drop(SqlIdentifier table) throws SQLException {
        List<String> drops = new ArrayList<>();
        List<String> additions = new ArrayList<>();
        try (PreparedStatement find = connection.prepareStatement(FIND)) {
            find.setString(1, table.sql());
            try (ResultSet row = find.executeQuery()) {
                while (row.next()) {
                    String alter = "alter table " + table.sql();
                    drops.add(alter + " drop constraint " + row.getString(1));
                    additions.add(alter + " add constraint " + row.getString(1) + " " + row.getString(2));
                }
            }
        }
        for (String drop : drops) {
            execute(drop);
        }
        return additions;
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
