package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.schema.OutboxSchema;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * SCHEMA: the tables may have any name, found by configuration or by search path alone. The roles have only the
 * privileges that they need.
 */
@Tag("proof")
class Scenario34SchemaIT {
    private static final String SCHEMA = "Sales-EU 1";
    private static final String TABLE = "Out\"B'ox";
    private static final String PASSWORD = "only-for-tests";
    private static final Duration SOON = Duration.ofMinutes(2);

    private static final Map<String, String> TABLE_NAMES = Map.of("twinbox.outbox.table", TABLE);

    @Test
    void byConfigurationTwoSchemasOfOneDatabaseHaveARelayEach() throws SQLException {
        try (RelayRig rig = RelayRig.withoutTables(tables(SCHEMA))) {
            Map<String, String> first = new LinkedHashMap<>(TABLE_NAMES);
            first.put("twinbox.outbox.schema", SCHEMA);
            Map<String, String> second = new LinkedHashMap<>(first);
            second.put("twinbox.outbox.schema", "other");
            migrate(rig, first);
            migrate(rig, second);
            createRoles(rig, SCHEMA, tables(SCHEMA));
            createRoles(rig, "other", tables("other"));
            turnTo(rig, 0);
            first.putAll(asRole(relayRole(rig, SCHEMA)));
            second.putAll(asRole(relayRole(rig, "other")));

            RelayProcess relay = rig.startRelay(first);
            RelayProcess other = rig.startRelay(second);
            write(rig, RelayRig.POSTGRES.jdbcUrl(rig.database()), SCHEMA, tables(SCHEMA), 30);
            rig.assertExact();
            write(rig, RelayRig.POSTGRES.jdbcUrl(rig.database()), "other", tables("other"), 20);
            rig.awaitRecords(50);

            assertThat(rig.recordCount()).isEqualTo(50);
            assertNothingElsewhere(rig, SCHEMA, "other");
            assertThat(status(rig, first)).contains("0 events", "\"" + SCHEMA + "\".\"Out\"\"B'ox\"");
            cleansUp(rig);
            assertThat(relay.terminate()).isZero();
            assertThat(other.terminate()).isZero();
        }
    }

    @Test
    void byTheSearchPathAloneAllStatementsFindTheirTables() throws SQLException {
        try (RelayRig rig = RelayRig.withoutTables(tables(SCHEMA))) {
            try (Connection connection = rig.connect()) {
                execute(connection, "create schema \"" + SCHEMA + "\"");
            }
            String url = RelayRig.POSTGRES.jdbcUrl(rig.database()) + "?currentSchema="
                    + URLEncoder.encode('"' + SCHEMA + '"', StandardCharsets.UTF_8)
                            .replace("+", "%20");
            Map<String, String> config = new HashMap<>(TABLE_NAMES);
            config.put("twinbox.relay.database.url", url);
            migrate(rig, config);
            createRoles(rig, SCHEMA, tables(SCHEMA));
            turnTo(rig, 0);
            config.putAll(asRole(relayRole(rig, SCHEMA)));

            RelayProcess relay = rig.startRelay(config);
            write(rig, url, SCHEMA, tables(null), 30);
            rig.assertExact();

            assertNothingElsewhere(rig, SCHEMA);
            assertThat(status(rig, config)).contains("0 events");
            assertThat(relay.terminate()).isZero();
        }
    }

    /** Inactive slots are emptied, whatever their names are. */
    private static void cleansUp(RelayRig rig) throws SQLException {
        turnTo(rig, 2);
        await("slots are emptied")
                .atMost(SOON)
                .until(() -> rig.count("select count(*) from " + tables(SCHEMA).events()) == 0);
    }

    /**
     * Normally the hour decides which of three slots is active. Here it must not decide whether a slot can be emptied.
     */
    private static void turnTo(RelayRig rig, int slot) throws SQLException {
        try (Connection connection = rig.connect()) {
            execute(connection, "alter table " + tables(SCHEMA).events() + " alter column slot set default " + slot);
        }
    }

    private static OutboxSchema tables(String schema) {
        return new OutboxSchema(schema, TABLE);
    }

    private static void migrate(RelayRig rig, Map<String, String> config) {
        RelayProcess migrate = rig.relay(config, "migrate").start();
        assertThat(migrate.awaitExit(SOON)).as(migrate.log()).isZero();
    }

    private static String status(RelayRig rig, Map<String, String> config) {
        RelayProcess status = rig.relay(config, "status").start();
        assertThat(status.awaitExit(SOON)).as(status.log()).isZero();
        return status.log();
    }

    /** The minimal privileges of an application and a relay in docs/how-to/security.md. */
    private static void createRoles(RelayRig rig, String schema, OutboxSchema tables) throws SQLException {
        try (Connection connection = rig.connect()) {
            String application = quoted(applicationRole(rig, schema));
            String relay = quoted(relayRole(rig, schema));
            for (String role : new String[] {application, relay}) {
                execute(connection, "create role " + role + " login password '" + PASSWORD + "'");
                execute(connection, "grant usage on schema " + quoted(schema) + " to " + role);
            }
            execute(connection, "grant insert on " + tables.events() + " to " + application);
            execute(connection, "grant usage on sequence " + tables.eventsSequence() + " to " + application);
            execute(connection, "grant select on " + tables.events() + " to " + relay);
            execute(connection, "grant select, insert on " + tables.position() + " to " + relay);
            execute(connection, "grant select, insert, update on " + tables.lease() + " to " + relay);
            execute(connection, "grant select, insert, update, delete on " + tables.parked() + " to " + relay);
            execute(
                    connection,
                    "grant select, insert, update (events), delete on " + tables.actions() + " to " + relay);
            execute(connection, "grant select, insert, delete on " + tables.paused() + " to " + relay);
            execute(connection, "grant select, update on " + tables.resend() + " to " + relay);
            for (int slot = 0; slot < OutboxSchema.EVENT_SLOTS; slot++) {
                execute(connection, "grant truncate on " + tables.eventsSlot(slot) + " to " + relay);
            }
        }
    }

    /** Roles belong to all databases of the server. */
    private static String applicationRole(RelayRig rig, String schema) {
        return rig.database() + " app of " + schema;
    }

    private static String relayRole(RelayRig rig, String schema) {
        return rig.database() + " relay of " + schema;
    }

    private static Map<String, String> asRole(String role) {
        return Map.of("twinbox.relay.database.user", role, "twinbox.relay.database.password", PASSWORD);
    }

    private static void write(RelayRig rig, String url, String schema, OutboxSchema tables, int events)
            throws SQLException {
        try (Connection connection = DriverManager.getConnection(url, applicationRole(rig, schema), PASSWORD)) {
            for (int i = 0; i < events; i++) {
                rig.insert(connection, tables, "key" + i % 10);
            }
        }
    }

    private static void assertNothingElsewhere(RelayRig rig, String... schemas) throws SQLException {
        String list = "'" + String.join("','", schemas) + "'";
        assertThat(rig.count("select count(*) from pg_class c join pg_namespace n on n.oid = relnamespace"
                        + " where n.nspname not in ('pg_catalog', 'information_schema', 'pg_toast', " + list + ")"))
                .as("relations outside of " + list)
                .isZero();
    }

    private static String quoted(String name) {
        return '"' + name + '"';
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
