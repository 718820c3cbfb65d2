package dev.twinbox.it;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.schema.OutboxSchema;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import org.junit.platform.launcher.LauncherSession;
import org.junit.platform.launcher.LauncherSessionListener;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Starts PostgreSQL before the first integration test and creates what the test applications expect. System properties
 * name it, and arquillian.xml passes them to the server.
 */
public final class TestDatabase implements LauncherSessionListener {

    static final OutboxSchema DEFAULT_NAMES = new OutboxSchema(null, "outbox_event");

    /** Scenario 34: names that survive only if they are quoted everywhere. */
    static final OutboxSchema ODD_NAMES = new OutboxSchema("Sales-EU 1", "Out\"B'o x");

    private static PostgresServer server;

    @Override
    public void launcherSessionOpened(LauncherSession session) {
        if (System.getProperty("twinbox.it.coreJar") == null) {
            return; // unit tests
        }
        server = SharedServers.postgres();
        try {
            createMain();
            createSecond();
            createLeast();
            System.setProperty("twinbox.it.user", server.user());
            System.setProperty("twinbox.it.password", server.password());
            // Payara unpacks itself there and does not clean up.
            System.setProperty(
                    "twinbox.it.folder",
                    Files.createDirectories(Path.of("target", "payara-tmp"))
                            .toAbsolutePath()
                            .toString());
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    static PostgresServer server() {
        return server;
    }

    /** Business tables and outbox side by side, everything by its default name. */
    private static void createMain() throws Exception {
        System.setProperty("twinbox.it.url", server.createDatabase("main"));
        migrate("main", DEFAULT_NAMES, "");
        execute("main", """
                create table account (
                  id      bigint primary key,
                  note    text not null,
                  changes bigint not null default 0
                );
                -- The order in which transactions held the lock of an account's row.
                create table account_change (
                  account bigint not null,
                  number  bigint not null,
                  tx      xid8   not null,
                  primary key (account, number)
                );
                create function number_change() returns trigger language plpgsql as $$
                begin
                  new.changes := old.changes + 1;
                  insert into account_change values (new.id, new.changes, pg_current_xact_id());
                  return new;
                end $$;
                create trigger number_change before update on account for each row execute function number_change();
                """);
    }

    /** A second resource, so that transactions have two. */
    private static void createSecond() throws Exception {
        server.createDatabase("second");
        System.setProperty("twinbox.it.second.url", server.jdbcUrl("second"));
        execute("second", "create table effect (id bigint primary key)");
    }

    /** Scenario 34: an odd schema, nothing in public, and a role that may insert and nothing else. */
    private static void createLeast() throws Exception {
        System.setProperty("twinbox.it.least.url", server.createDatabase("least"));
        migrate("least", ODD_NAMES, "");
        execute("least", """
                create role app login password 'twinbox';
                revoke all on schema public from public;
                grant usage on schema "Sales-EU 1" to app;
                grant insert on "Sales-EU 1"."Out""B'o x" to app;
                grant usage on sequence "Sales-EU 1"."Out""B'o x_seq" to app;
                create schema business;
                create table business.effect (id bigint primary key);
                grant usage on schema business to app;
                grant insert on business.effect to app;
                """);
    }

    static void migrate(String database, OutboxSchema schema, String urlParameters) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(server.jdbcUrl(database) + urlParameters);
        dataSource.setUser(server.user());
        dataSource.setPassword(server.password());
        schema.migrate(dataSource);
    }

    static void execute(String database, String sql) throws Exception {
        try (Connection connection = server.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
