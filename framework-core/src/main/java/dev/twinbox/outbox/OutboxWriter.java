package dev.twinbox.outbox;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.SchemaException;
import dev.twinbox.TwinboxException;
import dev.twinbox.jdbc.SqlState;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Writes events to the database of the configured data source. */
final class OutboxWriter {

    private final OutboxConfiguration configuration;
    private final OutboxInsert events;
    private final OutboxInsert scheduled;

    /** Written by the first thread that needs it; all would write the same. */
    private volatile @Nullable DataSource dataSource;

    /** True once the table of scheduled events has been found. */
    private volatile boolean schedulingChecked;

    OutboxWriter(OutboxConfiguration configuration) {
        this.configuration = configuration;
        this.events = OutboxInsert.ofEvents(configuration.schema().events());
        this.scheduled = OutboxInsert.ofScheduled(configuration.schema().scheduled());
    }

    /**
     * Checks tables and privileges, outside of a transaction.
     *
     * @throws InvalidConfigurationException if there is no such data source
     * @throws SchemaException if the database can be reached but not be used
     * @throws SQLException if it cannot be reached
     */
    void check() throws SQLException {
        try (Connection connection = dataSource().getConnection()) {
            refuse(configuration.schema().problemsForWriting(connection));
        } catch (SQLException e) {
            if (SqlState.isOutage(e)) {
                throw e;
            }
            throw new SchemaException(
                    "The outbox's database refuses the application (data source " + configuration.dataSource() + "): "
                            + e.getMessage() + ". Check the data source's URL, user and password",
                    e);
        }
    }

    /** Inserts in the current transaction, see {@link WriteWay}. */
    void insert(List<OutboxRow> rows) {
        try (Connection connection = dataSource().getConnection()) {
            insert(connection, rows);
        } catch (SQLException e) {
            throw new TwinboxException(
                    "The outbox could not insert " + rows.size() + " event(s) into "
                            + configuration.schema().events() + ": " + e.getMessage()
                            + ". Try the transaction again when the database works",
                    e);
        }
    }

    /** Into one table or the other: an event is to be sent now or later. A transaction seldom has both. */
    private void insert(Connection connection, List<OutboxRow> rows) throws SQLException {
        List<OutboxRow> later =
                rows.stream().filter(row -> row.deliverAt() != null).toList();
        if (later.isEmpty()) {
            events.insert(connection, rows);
            return;
        }
        if (!schedulingChecked) {
            checkScheduling(connection);
        }
        events.insert(
                connection, rows.stream().filter(row -> row.deliverAt() == null).toList());
        scheduled.insert(connection, later);
    }

    /** Only for applications that schedule. Others need neither the privilege nor the table, which version 2 lacks. */
    private void checkScheduling(Connection connection) throws SQLException {
        refuse(configuration.schema().problemsForScheduling(connection));
        schedulingChecked = true;
    }

    private void refuse(List<String> problems) {
        if (!problems.isEmpty()) {
            throw new SchemaException("The outbox cannot be written (data source " + configuration.dataSource() + "): "
                    + String.join("; ", problems)
                    + ". Create or update the tables as their owner, with the same twinbox.outbox.* names:"
                    + " java -jar twinbox-relay.jar migrate");
        }
    }

    /** @throws InvalidConfigurationException if there is no such data source */
    DataSource dataSource() {
        DataSource found = dataSource;
        if (found == null) {
            found = lookup(configuration.dataSource());
            dataSource = found;
        }
        return found;
    }

    @SuppressWarnings("BanJNDI") // the name is the deployer's, as in any @Resource(lookup = …)
    private static DataSource lookup(String name) {
        Object found;
        try {
            found = InitialContext.doLookup(name);
        } catch (NamingException e) {
            throw noDataSource(name, "names nothing in JNDI: " + e.getMessage());
        }
        if (found instanceof DataSource source) {
            return source;
        }
        throw noDataSource(name, "names a " + found.getClass().getTypeName() + ", not a data source");
    }

    private static InvalidConfigurationException noDataSource(String name, String what) {
        return new InvalidConfigurationException(
                "Configuration of the outbox",
                List.of(OutboxSettings.DATA_SOURCE.key() + " = " + name + " " + what
                        + "; define it on the server or by @DataSourceDefinition"));
    }
}
