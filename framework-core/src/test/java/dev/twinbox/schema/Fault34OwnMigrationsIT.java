package dev.twinbox.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.SharedServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import org.flywaydb.core.Flyway;
import org.flywaydb.core.api.FlywayException;
import org.flywaydb.core.api.configuration.FluentConfiguration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.junit.jupiter.api.io.TempDir;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * {@code migrate}, then the application's own Flyway: it refused the schema that was no longer empty, and with its advice
 * it skipped the application's first migration.
 */
class Fault34OwnMigrationsIT {

    private final PostgresServer server = SharedServers.postgres();
    private String database;

    @TempDir
    Path migrations;

    @BeforeEach
    void createDatabase(TestInfo test) throws Exception {
        database = "own_" + Integer.toHexString(test.getDisplayName().hashCode());
        server.createDatabase(database);
        Files.writeString(migrations.resolve("V1__orders.sql"), "create table orders (id bigint);");
    }

    @Test
    void withASchemaOfItsOwnBothOrdersWork() throws Exception {
        OutboxSchema tables = new OutboxSchema("twinbox", "outbox_event");

        tables.migrate(owner());
        flyway().load().migrate();
        Files.writeString(migrations.resolve("V2__customers.sql"), "create table customers (id bigint);");
        flyway().load().migrate();
        tables.migrate(owner());

        assertThat(exists("orders")).isTrue();
        assertThat(exists("customers")).isTrue();
        assertThat(problems(tables)).isEmpty();
    }

    @Test
    void inOneSchemaTheApplicationsFlywayComesFirst() throws Exception {
        OutboxSchema tables = new OutboxSchema(null, "outbox_event");

        flyway().load().migrate();
        tables.migrate(owner());
        flyway().load().migrate();

        assertThat(exists("orders")).isTrue();
        assertThat(problems(tables)).isEmpty();
    }

    @Test
    void inOneSchemaAfterMigrateTheApplicationsFlywayNeedsABaselineOfZero() throws Exception {
        new OutboxSchema(null, "outbox_event").migrate(owner());

        assertThatThrownBy(() -> flyway().load().migrate())
                .isInstanceOf(FlywayException.class)
                .hasMessageContaining("non-empty schema");
        flyway().baselineOnMigrate(true).baselineVersion("0").load().migrate();

        assertThat(exists("orders")).isTrue();
    }

    @Test
    void thePrintedSqlAmongTheApplicationsMigrationsMakesTheTablesThatMigrateMakes() throws Exception {
        OutboxSchema tables = new OutboxSchema("Sales-EU 1", "Out\"Bo'x$ %\\");
        Files.writeString(
                migrations.resolve("V2__twinbox.sql"), tables.script(0, new Retention(Duration.ofMinutes(7))));

        flyway().placeholderReplacement(false).load().migrate();

        assertThat(problems(tables)).isEmpty();
        try (Connection connection = server.connect(database)) {
            assertThat(tables.version(connection)).isEqualTo(OutboxSchema.VERSION);
            assertThat(tables.retention(connection)).isEqualTo(new Retention(Duration.ofMinutes(7)));
        }
    }

    @Test
    void aLaterVersionIsPrintedByItself() throws Exception {
        OutboxSchema tables = new OutboxSchema(null, "outbox_event");
        execute(tables.script(0, null));

        assertThat(tables.script(OutboxSchema.VERSION, null)).isEmpty();
        assertThat(tables.script(OutboxSchema.VERSION - 1, null)).isNotEmpty();
        assertThat(tables.script(0, null)).doesNotContain("${", "create schema").endsWith("\n");
        assertThat(tables.script(0, null)).contains(tables.script(2, null)).isNotEqualTo(tables.script(2, null));
    }

    private FluentConfiguration flyway() {
        return Flyway.configure().dataSource(owner()).locations("filesystem:" + migrations);
    }

    private PGSimpleDataSource owner() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(server.jdbcUrl(database));
        dataSource.setUser(server.user());
        dataSource.setPassword(server.password());
        return dataSource;
    }

    private List<String> problems(OutboxSchema tables) throws SQLException {
        try (Connection connection = server.connect(database)) {
            return tables.problemsForWriting(connection);
        }
    }

    private boolean exists(String table) throws SQLException {
        try (Connection connection = server.connect(database);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select to_regclass('public." + table + "') is not null")) {
            row.next();
            return row.getBoolean(1);
        }
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = server.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
