package dev.twinbox.schema;

import dev.twinbox.SchemaException;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.Transactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.flywaydb.core.api.output.MigrateResult;
import org.jspecify.annotations.Nullable;

/**
 * Applies numbered SQL files by Flyway. It is for command lines: Flyway is an optional dependency of this module, and
 * applications do not get it.
 */
public final class SchemaMigration {

    private static final String SCHEMA_EXISTS = """
            -- migrate: schema exists
            select 1 from pg_catalog.pg_namespace where nspname = ?
            """;

    private static final String CURRENT_SCHEMA = """
            -- migrate: current schema
            select current_schema(), current_setting('search_path')
            """;

    /**
     * One migration at a time per database. Flyway's own lock is on the history table and does not cover its creation.
     * A transaction holds this lock, not the session, so that it works behind a pooler.
     */
    private static final String LOCK = """
            -- migrate: wait for others
            select pg_advisory_xact_lock(hashtextextended('dev.twinbox.migrate', 0))
            """;

    private SchemaMigration() {}

    /**
     * What a migration did.
     *
     * @param applied number of files applied; 0: the tables were up to date
     * @param version schema version afterwards
     */
    public record Result(int applied, String version) {}

    /**
     * Applies what is missing. Several processes wait for each other. Up to three connections are used at a time.
     *
     * @param dataSource connects as the future owner of the tables
     * @param location folder on the class path with files {@code V<n>__<name>.sql}
     * @param history name of the table that records what was applied; its schema, if any, is created if missing
     * @param placeholders values for <code>${name}</code> in the files, names already quoted
     * @throws SchemaException if a file cannot be applied; what it did is rolled back
     */
    public static Result migrate(
            DataSource dataSource, String location, SqlIdentifier history, Map<String, String> placeholders) {
        try (Connection connection = dataSource.getConnection();
                Statement lock = connection.createStatement()) {
            return Transactions.inRolledBackTransaction(connection, () -> {
                lock.execute(LOCK);
                refuse(new SchemaCheck(connection).server().problems());
                return migrateAlone(dataSource, location, history, placeholders);
            });
        } catch (SQLException e) {
            throw new SchemaException(
                    "Migration of the tables " + location + " failed: " + e.getMessage()
                            + ". Run migrate again as the tables' owner",
                    e);
        }
    }

    /** <b>Remedy.</b> Each problem names it. */
    private static void refuse(List<String> problems) {
        if (!problems.isEmpty()) {
            throw new SchemaException("The tables cannot be created here: " + String.join("; ", problems));
        }
    }

    private static Result migrateAlone(
            DataSource dataSource, String location, SqlIdentifier history, Map<String, String> placeholders) {
        FluentConfiguration configuration = Flyway.configure()
                .dataSource(dataSource)
                .locations("classpath:" + location)
                .table(flywayName(history.name()))
                .placeholders(placeholders)
                // The schema is the application's and already holds its tables.
                .baselineOnMigrate(true)
                .baselineVersion("0");
        configuration.defaultSchema(existingSchema(dataSource, history.schema()));
        try {
            MigrateResult result = configuration.load().migrate();
            String version = result.targetSchemaVersion;
            return new Result(result.migrationsExecuted, version == null ? result.initialSchemaVersion : version);
        } catch (FlywayException e) {
            throw new SchemaException(
                    "Migration of the tables " + location + " failed: " + e.getMessage()
                            + ". Run migrate again as the tables' owner",
                    e);
        }
    }

    /**
     * Flyway 13 creates a schema in one connection, and its history table in another one that does not see the schema
     * yet. So the schema has to exist before. {@code create schema if not exists} needs the privilege to create even if
     * the schema exists, hence the question first.
     */
    private static String existingSchema(DataSource dataSource, @Nullable String schema) {
        try (Connection connection = dataSource.getConnection()) {
            if (schema == null) {
                return currentSchema(connection);
            }
            if (!exists(connection, schema)) {
                try (Statement create = connection.createStatement()) {
                    create.execute("create schema if not exists " + SqlIdentifier.quote(schema));
                }
            }
            return schema;
        } catch (SQLException e) {
            String what = schema == null ? "The schema to use" : "Schema " + SqlIdentifier.quote(schema);
            throw new SchemaException(what + " cannot be found or created: " + e.getMessage() + ". Create it", e);
        }
    }

    private static boolean exists(Connection connection, String schema) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SCHEMA_EXISTS)) {
            statement.setString(1, schema);
            try (ResultSet rows = statement.executeQuery()) {
                return rows.next();
            }
        }
    }

    private static String currentSchema(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(CURRENT_SCHEMA)) {
            rows.next();
            String schema = rows.getString(1);
            if (schema == null) {
                throw new SchemaException("No schema is configured, and the connection's search_path \""
                        + rows.getString(2) + "\" names none that exists: create it, or configure a schema");
            }
            return schema;
        }
    }

    /**
     * Flyway 13 does not quote the names that it derives from its table. The escape keeps different names different.
     */
    private static String flywayName(String table) {
        return table.replace("%", "%25").replace("\"", "%22");
    }
}
