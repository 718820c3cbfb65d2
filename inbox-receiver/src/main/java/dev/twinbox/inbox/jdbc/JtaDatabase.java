package dev.twinbox.inbox.jdbc;

import dev.twinbox.jdbc.NewTransactionCall;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;

/**
 * The application's database, reached in JTA transactions.
 *
 * @param transaction begins and ends them
 * @param registry reports how they ended
 * @param dataSource takes part in them
 */
public record JtaDatabase(
        NewTransaction transaction, TransactionSynchronizationRegistry registry, DataSource dataSource) {

    /** Work on a connection. */
    public interface Work<T> {
        T run(Connection connection) throws SQLException;
    }

    /** Opens a connection that takes part in the current transaction. */
    public Connection connect() throws SQLException {
        return dataSource.getConnection();
    }

    /** Runs the work in a transaction of its own. Returns after the commit. */
    public <T> T inTransaction(Work<T> work) throws SQLException {
        return NewTransactionCall.run(transaction::run, registry, () -> {
            try (Connection connection = connect()) {
                return work.run(connection);
            }
        });
    }
}
