package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.schema.OutboxSchema;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonReader;
import jakarta.json.JsonValue;
import java.io.StringReader;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The commands of the jar, as an operator types them. */
@Tag("proof")
class RelayCommandsIT {
    private static final Duration SOON = Duration.ofMinutes(2);

    @Test
    void migrateCreatesSchemaAndTablesAndRepeatingItChangesNothing() throws SQLException {
        OutboxSchema tables = new OutboxSchema("Sales-EU 1", "Out\"Box");
        try (RelayRig rig = RelayRig.withoutTables(tables)) {
            Map<String, String> names = Map.of(
                    "twinbox.outbox.schema", "Sales-EU 1",
                    "twinbox.outbox.table", "Out\"Box");
            RelayProcess migrate = rig.relay(names, "migrate").start();
            assertThat(migrate.awaitExit(SOON)).as(migrate.log()).isZero();
            assertThat(migrate.log()).contains("\"Sales-EU 1\".\"Out\"\"Box\"", "step(s) applied", "version ");

            RelayProcess again = rig.relay(names, "migrate").start();
            assertThat(again.awaitExit(SOON)).as(again.log()).isZero();
            assertThat(again.log()).contains("nothing to do", "version ");

            assertThat(rig.count("select count(*) from " + tables.events())).isZero();
        }
    }

    @Test
    void migrateSaysWhatTheDatabaseRefuses() throws SQLException {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess migrate = rig.relay(Map.of("twinbox.relay.database.password", "no"), "migrate")
                    .start();
            assertThat(migrate.awaitExit(SOON)).as(migrate.log()).isEqualTo(ExitCode.DATABASE.number());
            assertThat(migrate.log())
                    .contains("PostgreSQL at " + RelayRig.POSTGRES.jdbcUrl(rig.database()))
                    .contains("password authentication failed", "check twinbox.relay.database.url, user and password");
        }
    }

    @Test
    void migrateWaitsForADatabaseThatStarts() throws SQLException {
        try (RelayRig rig = RelayRig.create();
                TcpProxy proxy = TcpProxy.to("127.0.0.1", RelayRig.POSTGRES.port())) {
            proxy.cut();
            RelayProcess migrate = rig.relay(
                            Map.of("twinbox.relay.database.url", RelayRig.POSTGRES.jdbcUrl(rig.database(), proxy)),
                            "migrate")
                    .start();
            await("migrate finds no server")
                    .atMost(SOON)
                    .until(() -> migrate.log().contains("trying again"));
            proxy.heal();
            assertThat(migrate.awaitExit(SOON)).as(migrate.log()).isZero();
            assertThat(migrate.log()).contains("the tables have version");
        }
    }

    @Test
    void migrateWaitsForAKafkaThatStarts() throws SQLException {
        try (RelayRig rig = RelayRig.create();
                TcpProxy proxy = TcpProxy.to("127.0.0.1", RelayRig.KAFKA.port())) {
            proxy.cut();
            RelayProcess migrate = rig.relay(
                            Map.of(
                                    "twinbox.relay.delivery",
                                    "exactly-once",
                                    "twinbox.relay.name",
                                    rig.database(),
                                    "twinbox.relay.kafka.bootstrap.servers",
                                    "127.0.0.1:" + proxy.port()),
                            "migrate")
                    .start();
            await("migrate finds no broker")
                    .atMost(SOON)
                    .until(() -> migrate.log().contains("Kafka does not answer, trying again"));
            proxy.heal();
            assertThat(migrate.awaitExit(SOON)).as(migrate.log()).isZero();
            assertThat(migrate.log()).contains("topic " + rig.database() + "-position: created");
        }
    }

    @Test
    void statusTellsOnOneScreenHowTheRelayStands() throws SQLException {
        try (RelayRig rig = RelayRig.create()) {
            String before = status(rig);
            assertThat(before).contains("never taken", "nothing relayed yet", "0 events", "never");

            try (RelayProcess relay = rig.startRelay(Map.of())) {
                rig.insertAndCommit(25);
                rig.assertExact();
                assertThat(relay.terminate()).isZero();
            }
            rig.insertAndCommit(7);
            rig.count("with t as (update " + rig.tables().lease() + " set epoch = epoch returning 1) select 1 from t");

            String after = status(rig);
            assertThat(after)
                    .contains(
                            "7 events",
                            "no relay of this name is running",
                            "version " + OutboxSchema.VERSION + ", as this relay needs them")
                    .contains("missing topics  none")
                    .containsPattern("last save +\\d+\\.\\d s ago")
                    .containsPattern("oldest unsent +\\d+\\.\\d s")
                    .containsPattern("position +from \\d+:\\d+:");
            assertThat(after.lines().count()).as(after).isLessThanOrEqualTo(24);
            assertThat(statusJson(rig))
                    .containsEntry("unsent", Json.createValue(7))
                    .containsEntry("missingTopics", JsonValue.EMPTY_JSON_ARRAY)
                    .containsEntry("parked", JsonValue.EMPTY_JSON_ARRAY)
                    .containsEntry(
                            "stuck",
                            Json.createArrayBuilder()
                                    .add("no relay of this name is running")
                                    .build())
                    .containsKeys(
                            "relay",
                            "database",
                            "role",
                            "systemIdentifier",
                            "tables",
                            "retention",
                            "slots",
                            "lease",
                            "delivery",
                            "position",
                            "lastSaveSeconds",
                            "oldestUnsentSeconds");
        }
    }

    private static JsonObject statusJson(RelayRig rig) {
        try (JsonReader reader = Json.createReader(new StringReader(rig.command(Map.of(), "status", "--json")))) {
            return reader.readObject();
        }
    }

    private static String status(RelayRig rig) {
        RelayProcess status = rig.relay(Map.of(), "status").start();
        assertThat(status.awaitExit(SOON)).as(status.log()).isZero();
        return status.log();
    }
}
