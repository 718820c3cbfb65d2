package dev.twinbox.inbox.jdbc;

import jakarta.transaction.Status;
import jakarta.transaction.Synchronization;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

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
        Call<T> call = new Call<>(work);
        try {
            transaction.run(call);
        } catch (RuntimeException e) {
            call.note(e);
        }
        return call.result();
    }

    private final class Call<T> implements Runnable, Synchronization {
        private final Work<T> work;
        private @Nullable T result;
        private @Nullable Exception thrown;
        private volatile boolean committed; // a server may end the transaction on another thread

        Call(Work<T> work) {
            this.work = work;
        }

        @Override
        public void run() {
            try {
                registry.registerInterposedSynchronization(this);
                try (Connection connection = connect()) {
                    result = work.run(connection);
                }
            } catch (SQLException | RuntimeException e) {
                note(e);
                rollBack();
            }
        }

        private void rollBack() {
            try {
                registry.setRollbackOnly();
            } catch (RuntimeException e) {
                note(e);
            }
        }

        void note(Exception e) {
            if (thrown == null) {
                thrown = e;
            } else if (thrown != e) {
                thrown.addSuppressed(e);
            }
        }

        T result() throws SQLException {
            if (thrown instanceof SQLException e) {
                throw e;
            }
            T value = result;
            if (thrown != null || !committed || value == null) {
                throw new SQLException("the transaction was rolled back", thrown);
            }
            return value;
        }

        @Override
        public void beforeCompletion() {}

        @Override
        public void afterCompletion(int status) {
            committed = status == Status.STATUS_COMMITTED;
        }
    }
}
