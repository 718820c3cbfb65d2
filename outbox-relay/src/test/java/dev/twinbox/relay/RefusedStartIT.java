package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.config.ExitCode;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A fault that only an operator can fix ends the start with one clear message and an exit code of its own. */
class RefusedStartIT {
    private static final Duration SOON = Duration.ofMinutes(2);

    private static RelayRig rig;

    @BeforeAll
    static void tables() throws SQLException {
        rig = RelayRig.create();
    }

    @AfterAll
    static void close() {
        rig.close();
    }

    @Test
    void aWrongPassword() {
        refused(Map.of("twinbox.relay.database.password", "wr0ng"), ExitCode.DATABASE)
                .contains("password authentication failed", "twinbox.relay.database")
                .doesNotContain("wr0ng");
    }

    @Test
    void anUnknownDatabase() {
        refused(Map.of("twinbox.relay.database.url", RelayRig.POSTGRES.jdbcUrl("nowhere")), ExitCode.DATABASE)
                .contains("\"nowhere\" does not exist", "twinbox.relay.database.url");
    }

    @Test
    void allMissingTablesAtOnce() {
        refused(Map.of("twinbox.outbox.schema", "nowhere"), ExitCode.SCHEMA)
                .contains("migrate", "\"nowhere\".\"outbox_event\"", "\"nowhere\".\"outbox_position\"")
                .contains("\"nowhere\".\"outbox_lease\"");
    }

    @Test
    void allMissingColumnsAndPrivilegesAtOnce() throws SQLException {
        try (RelayRig broken = RelayRig.create();
                Connection connection = broken.connect();
                Statement statement = connection.createStatement()) {
            String role = "\"weak of " + broken.database() + "\"";
            statement.execute("alter table outbox_event drop column subject");
            statement.execute("alter table outbox_lease drop column ends_at");
            statement.execute("create role " + role + " login password 'weak'");
            statement.execute("grant select on outbox_event, outbox_position to " + role);
            statement.execute("grant select, insert on outbox_lease to " + role);

            RelayProcess relay = broken.relay(Map.of(
                            "twinbox.relay.database.user",
                            "weak of " + broken.database(),
                            "twinbox.relay.database.password",
                            "weak"))
                    .start();
            assertThat(relay.awaitExit(SOON)).as(relay.log()).isEqualTo(ExitCode.SCHEMA.number());
            assertThat(relay.log())
                    .contains("no column subject", "no column ends_at")
                    .contains("grant insert on table \"outbox_position\"", "grant update on table \"outbox_lease\"")
                    .doesNotContain("\tat ");
        }
    }

    @Test
    void aPositionOfAnotherCluster() throws SQLException {
        try (RelayRig restored = RelayRig.create();
                Connection connection = restored.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("insert into outbox_lease (relay, epoch, ends_at, system_identifier)"
                    + " values ('relay', 1, clock_timestamp(), 42)");

            RelayProcess relay = restored.relay(Map.of()).start();
            assertThat(relay.awaitExit(SOON)).as(relay.log()).isEqualTo(ExitCode.DATABASE.number());
            assertThat(relay.log()).contains("system identifier 42", "restore").doesNotContain("\tat ");
        }
    }

    @Test
    void aHotStandby(@TempDir Path folder) throws IOException, SQLException {
        // PostgreSQL does not run as root, so it cannot read root's temporary folders.
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        Path data = folder.resolve("data");
        PostgresServer primary = PostgresServer.create().withDataDirectory(data).start();
        primary.createDatabase("shop");
        primary.stop();
        Files.createFile(data.resolve("standby.signal"));
        try (PostgresServer standby = PostgresServer.create()
                .withDataDirectory(data)
                .withPort(primary.port())
                .start()) {
            refused(
                            Map.of(
                                    "twinbox.relay.database.url", standby.jdbcUrl("shop"),
                                    "twinbox.relay.database.user", standby.user(),
                                    "twinbox.relay.database.password", standby.password()),
                            ExitCode.DATABASE)
                    .contains("hot standby", "primary");
        }
    }

    @Test
    void aPortInUse() throws IOException {
        try (ServerSocket taken = new ServerSocket(0, 1, InetAddress.getByName("127.0.0.1"))) {
            String port = Integer.toString(taken.getLocalPort());
            refused(Map.of("twinbox.relay.http.port", port), ExitCode.USAGE)
                    .contains("127.0.0.1:" + port, "twinbox.relay.http.port");
        }
    }

    @Test
    void kafkaSettingsThatDoNotGoTogetherAndNoSecretIsShown() {
        refused(
                        Map.of(
                                "twinbox.relay.kafka.security.protocol", "SASL_SSL",
                                "twinbox.relay.kafka.sasl.mechanism", "PLAIN",
                                "twinbox.relay.kafka.ssl.truststore.location", "/nowhere/trust.jks",
                                "twinbox.relay.kafka.ssl.truststore.password", "s3cret",
                                "twinbox.relay.kafka.sasl.jaas.config",
                                        "org.apache.kafka.common.security.plain.PlainLoginModule required"
                                                + " username=\"u\" password=\"s3cret\";"),
                        ExitCode.USAGE)
                .contains("twinbox.relay.kafka", "/nowhere/trust.jks")
                .doesNotContain("s3cret");
    }

    @Test
    void aBadConfigurationListsEverything() {
        refused(Map.of("twinbox.relay.page.rows", "0", "twinbox.relay.nmae", "x"), ExitCode.USAGE)
                .contains("2 problems", "twinbox.relay.page.rows = \"0\"", "did you mean twinbox.relay.name?");
    }

    private static org.assertj.core.api.AbstractStringAssert<?> refused(
            Map<String, String> changes, ExitCode expected) {
        RelayProcess relay = rig.relay(changes).start();
        int code = relay.awaitExit(SOON);
        assertThat(code).as(relay.log()).isEqualTo(expected.number());
        return assertThat(relay.log()).doesNotContain("\tat ");
    }
}
