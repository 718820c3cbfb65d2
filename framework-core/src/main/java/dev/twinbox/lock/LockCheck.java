package dev.twinbox.lock;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.SchemaException;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.schema.LockSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Looks at the database before the first lock. */
final class LockCheck {

    private static final String SUBJECT = "Configuration of the locks";

    private static final String LOCATE = """
            -- locks: where the table is
            select n.nspname, c.relname
              from pg_class c join pg_namespace n on n.oid = c.relnamespace
             where c.oid = %s::regclass""";

    private final LockConfiguration configuration;
    private final LockDatabase database;

    LockCheck(LockConfiguration configuration, LockDatabase database) {
        this.configuration = configuration;
        this.database = database;
    }

    /**
     * The tables that were found.
     *
     * @param tables under names that mean the same in each session, whatever its search path is
     * @param name of the table, quoted where needed
     */
    record Found(LockSchema tables, String name) {}

    private record Look(List<String> problems, @Nullable Found found) {}

    /**
     * Finds the tables.
     *
     * @throws SchemaException if they are missing or wrong, or the role may not use them
     * @throws InvalidConfigurationException if locks cannot work with this data source
     * @throws SQLException if the database cannot be reached
     */
    Found find() throws SQLException {
        try {
            Look look = database.inNewTransaction(this::look);
            Found found = look.found();
            if (found == null) {
                throw new SchemaException("The locks cannot be used (data source " + configuration.dataSource() + "): "
                        + String.join("; ", look.problems())
                        + ". Create or update the tables as their owner: java -jar twinbox-relay.jar migrate for an"
                        + " outbox, java -jar twinbox-inbox-cli.jar migrate for an inbox");
            }
            return found;
        } catch (SQLException e) {
            if (SqlState.isOutage(e)) {
                throw e;
            }
            throw new SchemaException(
                    "The locks' database refuses the application (data source " + configuration.dataSource() + "): "
                            + e.getMessage() + ". Check the data source's URL, user and password",
                    e);
        }
    }

    private Look look(Connection connection) throws SQLException {
        List<String> problems = configuration.tables().problems(connection);
        if (!problems.isEmpty()) {
            return new Look(problems, null);
        }
        LockSchema tables =
                new LockSchema(locate(connection, configuration.tables().table()));
        problems = tables.problems(connection); // the sequence may have been found in another schema
        if (!problems.isEmpty()) {
            return new Look(problems, null);
        }
        refuseAnotherTable(connection, tables);
        FenceTable fences = new FenceTable(tables);
        // The second one is what fence() gets in a transaction that has used a connection before.
        if (!fences.transaction(connection).equals(database.inCallersTransaction(fences::transaction))) {
            throw new InvalidConfigurationException(
                    SUBJECT,
                    List.of(LockSettings.DATA_SOURCE.key() + " is \"" + configuration.dataSource()
                            + "\", but two connections of one JTA transaction are not in one transaction of the"
                            + " database; define it as a JTA data source whose connections are shared within a"
                            + " transaction"));
        }
        return new Look(List.of(), new Found(tables, fences.name(connection)));
    }

    private static SqlIdentifier locate(Connection connection, SqlIdentifier table) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOCATE.formatted(table.sqlLiteral()));
                ResultSet row = statement.executeQuery()) {
            row.next();
            return new SqlIdentifier(row.getString(1), row.getString(2));
        }
    }

    /** The choice depends on other keys. If it changed while locks are held, two would hold one key. */
    private void refuseAnotherTable(Connection connection, LockSchema tables) throws SQLException {
        LockSchema other = configuration.other();
        if (other != null && OtherTable.isUsed(connection, other, tables)) {
            throw new InvalidConfigurationException(
                    SUBJECT,
                    List.of(LockSettings.TABLE.key() + " is unset, which means " + tables.table()
                            + " here, but locks were taken in " + other.table()
                            + " of the same database; holders in two tables do not exclude each other: set it to the "
                            + "table that all instances use"));
        }
    }
}
