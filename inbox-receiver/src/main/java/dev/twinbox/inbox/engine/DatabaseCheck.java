package dev.twinbox.inbox.engine;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.config.InboxSettings;
import dev.twinbox.inbox.jdbc.Faults;
import dev.twinbox.inbox.jdbc.InboxSchema;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.jdbc.FailureSubject;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.jspecify.annotations.Nullable;

/** Checks, before any event is handled, that the data source can do what the inbox relies on. */
final class DatabaseCheck {

    private static final Logger LOG = System.getLogger(DatabaseCheck.class.getName());

    /** Assigns a transaction id if there is none, so two transactions never return the same id. */
    private static final String TRANSACTION = """
            -- inbox: check that the data source takes part in the JTA transaction
            select pg_current_xact_id()::text""";

    private final JtaDatabase database;
    private final String dataSourceName;
    private final InboxSchema schema;

    DatabaseCheck(JtaDatabase database, String dataSourceName, InboxSchema schema) {
        this.database = database;
        this.dataSourceName = dataSourceName;
        this.schema = schema;
    }

    /**
     * Looks once.
     *
     * @throws SchemaException if an operator has to change something; the message says what
     * @throws SQLException if the database cannot be reached now
     */
    void run() throws SQLException {
        Inquiry inquiry = new Inquiry();
        try {
            database.transaction().run(inquiry);
        } catch (RuntimeException e) { // the connections of a pool may be older than an outage
            inquiry.note(new SQLException("the transaction failed: " + e, e));
        }
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

        /** The first failure is the one to report. */
        void note(SQLException failure) {
            if (thrown == null) {
                thrown = failure;
            }
        }

        private void inspect() throws SQLException {
            try (Connection connection = database.connect()) {
                String advice = schema.check(connection);
                if (!advice.isEmpty()) {
                    LOG.log(Level.WARNING, advice);
                }
            }
            if (!transactionId().equals(transactionId())) {
                throw new SchemaException("Data source " + dataSourceName
                        + " does not take part in JTA transactions: two of its connections in one JTA transaction "
                        + "are two transactions of the database. An inbox row would stay when a handler's effect is "
                        + "rolled back. Configure a JTA data source (\"jta=true\", not \"non-transactional\")");
            }
        }

        private String transactionId() throws SQLException {
            try (Connection connection = database.connect();
                    Statement statement = connection.createStatement();
                    ResultSet row = statement.executeQuery(TRANSACTION)) {
                row.next();
                return row.getString(1);
            }
        }

        void rethrow() throws SQLException {
            if (thrown instanceof SQLException e) {
                if (Faults.subjectOf(e) == FailureSubject.CONFIGURATION) {
                    throw new SchemaException(
                            "Data source " + dataSourceName + " (" + InboxSettings.DATA_SOURCE.key()
                                    + ") cannot be used for the inbox, correct it: " + e.getMessage(),
                            e);
                }
                throw e;
            }
            if (thrown instanceof RuntimeException e) {
                throw e;
            }
        }
    }
}
