package dev.twinbox.schema;

import dev.twinbox.SchemaException;
import java.util.Map;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.flywaydb.core.api.output.MigrateResult;

/**
 * Applies numbered SQL files by Flyway. For command lines: Flyway is an optional dependency of this module and does not
 * get into an application.
 */
public final class SchemaMigration {

    private SchemaMigration() {}

    /**
     * What a migration did.
     *
     * @param applied number of files applied; 0 when all was up to date
     * @param version schema version afterwards
     */
    public record Result(int applied, String version) {}

    /**
     * Applies what is missing. Runs of several processes wait for each other.
     *
     * @param dataSource connects as the owner of the tables to be
     * @param location folder on the class path with files {@code V<n>__<name>.sql}
     * @param history name of the table that remembers what was applied; its schema, if any, is created when missing
     * @param placeholders values for <code>${name}</code> in the files, names already quoted
     * @throws SchemaException if a file can not be applied; what it did is rolled back
     */
    public static Result migrate(
            DataSource dataSource, String location, SqlIdentifier history, Map<String, String> placeholders) {
        FluentConfiguration configuration = Flyway.configure()
                .dataSource(dataSource)
                .locations("classpath:" + location)
                .table(history.name())
                .placeholders(placeholders)
                // The schema is the application's and already holds its tables.
                .baselineOnMigrate(true)
                .baselineVersion("0");
        if (history.schema() != null) {
            configuration.schemas(history.schema()).createSchemas(true);
        } else {
            // Whatever comes first in the search path; no schema is to be created from a guess.
            configuration.createSchemas(false);
        }
        try {
            MigrateResult result = configuration.load().migrate();
            String version = result.targetSchemaVersion;
            return new Result(result.migrationsExecuted, version == null ? result.initialSchemaVersion : version);
        } catch (FlywayException e) {
            throw new SchemaException("Migration of the tables " + location + " failed: " + e.getMessage(), e);
        }
    }
}
