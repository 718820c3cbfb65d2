package dev.twinbox.outbox;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.SchemaException;
import dev.twinbox.TwinboxException;
import dev.twinbox.jdbc.SqlState;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Writes events to the database of the configured data source.
 *
 * <p>The database is checked once, when the application starts: missing tables, columns or privileges fail the
 * deployment. A database that cannot be reached then is an outage, not a mistake. The application starts with a
 * warning, and the first transaction that publishes does the check, in its own connection.
 */
final class OutboxWriter {

    private static final Logger LOG = System.getLogger(OutboxWriter.class.getName());

    private final OutboxConfiguration configuration;
    private final OutboxInsert events;
    private final OutboxInsert scheduled;

    /** Written by the first thread that needs it; all would write the same. */
    private volatile @Nullable DataSource dataSource;

    /** True once a check has passed. */
    private volatile boolean checked;

    /** True once the table of scheduled events has been found. */
    private volatile boolean schedulingChecked;

    OutboxWriter(OutboxConfiguration configuration) {
        this.configuration = configuration;
        this.events = OutboxInsert.ofEvents(configuration.schema().events());
        this.scheduled = OutboxInsert.ofScheduled(configuration.schema().scheduled());
    }

    /**
     * Checks the database, outside of a transaction.
     *
     * @throws InvalidConfigurationException if there is no such data source
     * @throws SchemaException if the database can be reached but not be used
     */
    void start() {
        try (Connection connection = dataSource().getConnection()) {
            check(connection);
            LOG.log(Level.INFO, () -> "Outbox started: " + configuration);
        } catch (SQLException e) {
            if (!SqlState.isOutage(e)) {
                throw new SchemaException(
                        "The outbox's database refuses the application (data source " + configuration.dataSource()
                                + "): " + e.getMessage() + ". Check the data source's URL, user and password",
                        e);
            }
            LOG.log(
                    Level.WARNING,
                    () -> "The outbox's database cannot be reached (data source "
                            + configuration.dataSource() + "): " + e.getMessage()
                            + ". The application starts; the first event checks the tables.");
        }
    }

    /** Inserts in the current transaction. Must run inside an EJB's invocation, see {@link OutboxDrain}. */
    void insert(List<OutboxRow> rows) {
        try (Connection connection = dataSource().getConnection()) {
            if (!checked) {
                check(connection);
            }
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

    private void check(Connection connection) throws SQLException {
        refuse(configuration.schema().problemsForWriting(connection));
        checked = true;
    }

    private void refuse(List<String> problems) {
        if (!problems.isEmpty()) {
            throw new SchemaException("The outbox cannot be written (data source " + configuration.dataSource() + "): "
                    + String.join("; ", problems)
                    + ". Create or update the tables as their owner, with the same twinbox.outbox.* names:"
                    + " java -jar twinbox-relay.jar migrate");
        }
    }

    private DataSource dataSource() {
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
