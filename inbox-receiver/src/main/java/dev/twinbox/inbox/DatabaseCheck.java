package dev.twinbox.inbox;

import dev.twinbox.SchemaException;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Finds out, before any event is handled, whether the data source can do what the inbox rests on. */
final class DatabaseCheck {

    private static final Logger LOG = System.getLogger(DatabaseCheck.class.getName());

    /** Assigns a transaction id where there is none, so two transactions never show the same. */
    private static final String TRANSACTION = """
            -- inbox: check that the data source takes part in the JTA transaction
            select pg_current_xact_id()::text""";

    private final NewTransaction transaction;
    private final DataSource dataSource;
    private final String dataSourceName;
    private final InboxTable table;
    private final ParkedTable parked;
    private final RetentionTable retention;

    DatabaseCheck(
            NewTransaction transaction,
            DataSource dataSource,
            String dataSourceName,
            InboxTable table,
            ParkedTable parked,
            RetentionTable retention) {
        this.transaction = transaction;
        this.dataSource = dataSource;
        this.dataSourceName = dataSourceName;
        this.table = table;
        this.parked = parked;
        this.retention = retention;
    }

    /**
     * @throws SchemaException if a person has to change something; the message says what
     * @throws SQLException if the database can not be asked now
     */
    void run() throws SQLException {
        Inquiry inquiry = new Inquiry();
        transaction.run(inquiry);
        inquiry.rethrow();
    }

    private final class Inquiry implements Runnable {
        private @Nullable Exception thrown;

        @Override
        public void run() {
            try {
                inspect();
            } catch (SQLException | RuntimeException e) {
                thrown = e;
            }
        }

        private void inspect() throws SQLException {
            try (Connection connection = dataSource.getConnection()) {
                String advice = table.check(connection);
                parked.check(connection, table.migrateCommand());
                retention.check(connection, table.migrateCommand());
                if (!advice.isEmpty()) {
                    LOG.log(Level.WARNING, advice);
                }
            }
            if (!transactionId().equals(transactionId())) {
                throw new SchemaException("Data source " + dataSourceName
                        + " does not take part in JTA transactions: two of its connections in one transaction are two transactions "
                        + "of the database, so inbox rows would stay when a handler's effect is rolled back. Configure a JTA data "
                        + "source (not non-transactional, \"jta=true\")");
            }
        }

        private String transactionId() throws SQLException {
            try (Connection connection = dataSource.getConnection();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(TRANSACTION)) {
                row.next();
                return row.getString(1);
            }
        }

        void rethrow() throws SQLException {
            if (thrown instanceof SQLException e) {
                if (needsAPerson(e)) {
                    throw new SchemaException(
                            "Data source " + dataSourceName + " (" + Setting.DATA_SOURCE.key()
                                    + ") can not be used for the inbox: " + e.getMessage(),
                            e);
                }
                throw e;
            }
            if (thrown instanceof RuntimeException e) {
                throw e;
            }
        }

        /** Wrong credentials (28), no such database (3D), no privilege or object (42): waiting does not help. */
        private boolean needsAPerson(SQLException e) {
            return Faults.hasState(e, "28") || Faults.hasState(e, "3D") || Faults.hasState(e, "42");
        }
    }
}
