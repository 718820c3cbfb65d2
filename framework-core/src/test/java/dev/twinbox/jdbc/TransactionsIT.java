package dev.twinbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.SharedServers;
import java.io.IOException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class TransactionsIT {

    private final PostgresServer server = SharedServers.postgres();
    private Connection connection;

    @BeforeEach
    void connect() throws SQLException {
        connection = server.connect("postgres");
        execute("create temporary table written (id int)");
    }

    @AfterEach
    void disconnect() throws SQLException {
        connection.close();
    }

    @Test
    void whatTheWorkDoesIsCommittedAndItsResultReturned() throws SQLException {
        int result = Transactions.inTransaction(connection, () -> {
            execute("insert into written values (1)");
            return 7;
        });
        Transactions.inTransaction(connection, () -> {
            execute("insert into written values (2)");
        });

        assertThat(result).isEqualTo(7);
        assertThat(rows()).isEqualTo(2);
        assertThat(connection.getAutoCommit()).isTrue();
    }

    @Test
    void whatTheWorkDoesIsRolledBackWhenItThrows() throws SQLException {
        assertThatThrownBy(() -> Transactions.inTransaction(connection, () -> {
                    execute("insert into written values (1)");
                    throw new IOException("work");
                }))
                .isInstanceOf(IOException.class)
                .hasMessage("work")
                .hasNoSuppressedExceptions();

        assertThat(rows()).isZero();
        assertThat(connection.getAutoCommit()).isTrue();
    }

    @Test
    void aStatementThatFailsLeavesAConnectionThatCanGoOn() throws SQLException {
        assertThatThrownBy(() -> Transactions.inTransaction(connection, () -> execute("select 1 / 0")))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("division by zero");

        assertThat(rows()).isZero();
    }

    @Test
    void aDryRunSeesItsOwnRowsAndLeavesNone() throws SQLException {
        int seen = Transactions.inRolledBackTransaction(connection, () -> {
            execute("insert into written values (1)");
            return rows();
        });

        assertThat(seen).isEqualTo(1);
        assertThat(rows()).isZero();
        assertThat(connection.getAutoCommit()).isTrue();
    }

    @Test
    void theFailureIsReportedWhenTheConnectionIsLostWithIt() {
        assertThatThrownBy(() -> Transactions.inTransaction(connection, () -> {
                    connection.close();
                    throw new IOException("work");
                }))
                .isInstanceOf(IOException.class)
                .satisfies(e -> assertThat(e.getSuppressed()).singleElement().isInstanceOf(SQLException.class));
    }

    private void execute(String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private int rows() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select count(*)::int from written")) {
            row.next();
            return row.getInt(1);
        }
    }
}
