package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.schema.OutboxSchema;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The statements of docs/how-to/security.md are enough for an application and a relay. */
@Tag("proof")
class LeastPrivilegeIT {
    private static final String PASSWORD = "s3cret-of-a-role";
    private static final Path DOCUMENT = Path.of("..", "docs", "how-to", "security.md");

    @Test
    void anApplicationAndARelayDoAllTheyHaveToWithTheDocumentedPrivileges() throws Exception {
        try (RelayRig rig = RelayRig.withoutTables(new OutboxSchema("shop", "outbox_event"))) {
            rig.migrate();
            String app = rig.database() + "_app";
            String role = rig.database() + "_relay";
            grant(rig, app, role);
            turnTo(rig, 0);
            Map<String, String> config = Map.of(
                    "twinbox.outbox.schema",
                    "shop",
                    "twinbox.relay.database.user",
                    role,
                    "twinbox.relay.database.password",
                    PASSWORD,
                    "twinbox.relay.log.format",
                    "json");
            execute(
                    rig,
                    "insert into shop.outbox_action (relay, at, who, via, action)"
                            + " values ('relay', now() - interval '31 days', 'x', 'http', 'pause')");
            RelayProcess relay = rig.startRelay(config);
            write(rig, app);
            rig.awaitRecords(2);
            turnTo(rig, 2);
            await("the sent slots are emptied").until(() -> rig.count("select count(*) from shop.outbox_event") == 0);
            RelayMetrics metrics = RelayMetrics.of(relay);
            await("it is counted").until(() -> RelayMetrics.of(relay).value("twinbox_relay_slots_emptied_total") > 0);
            assertThat(metrics.value("twinbox_relay_scheduled_moved_total")).isEqualTo(1);
            assertThat(metrics.text()).doesNotContain(PASSWORD);
            pauses(rig, config, relay);
            assertThat(run(rig, config, "actions"))
                    .containsPattern(role + " \\(.+\\)\tcommand-line\tresume\t-\t-")
                    .containsPattern(role + " \\(.+\\)\tcommand-line\tpause\t-\t-");
            await("the old entry is removed").until(() -> rig.count("select count(*) from shop.outbox_action") == 2);
            assertThat(relay.terminate()).isZero();
            assertThat(relay.log())
                    .contains("{\"")
                    .doesNotContain("permission denied", "may not", PASSWORD)
                    .doesNotContain("\"level\":\"WARN\"", "\"level\":\"ERROR\"");
        }
    }

    /**
     * Normally the hour decides which of three slots is active. Here it must not decide whether a slot can be emptied.
     */
    private static void turnTo(RelayRig rig, int slot) throws SQLException {
        execute(rig, "alter table shop.outbox_event alter column slot set default " + slot);
    }

    private static void write(RelayRig rig, String app) throws SQLException {
        String url = RelayRig.POSTGRES.jdbcUrl(rig.database());
        try (Connection connection = DriverManager.getConnection(url, app, PASSWORD);
                Statement statement = connection.createStatement()) {
            rig.insert(connection, "now");
            statement.execute("insert into shop.outbox_scheduled"
                    + " (deliver_at, id, topic, key, type, source, occurred_at, content_type)"
                    + " values (clock_timestamp(), gen_random_uuid(), '" + rig.topic()
                    + "', 'later', 't', '/s', now(), 'text/plain')");
            assertThatThrownBy(() -> statement.execute("select from shop.outbox_event"))
                    .hasMessageContaining("permission denied");
        }
    }

    private static void pauses(RelayRig rig, Map<String, String> config, RelayProcess relay) {
        run(rig, config, "pause");
        await("the relay says that it is paused")
                .until(() -> RelayMetrics.get(relay, "/health/ready").body().contains("paused by an operator"));
        String status = run(rig, config, "status");
        assertThat(status)
                .containsPattern("stuck +an operator has paused the relay")
                .contains("version " + OutboxSchema.VERSION);
        run(rig, config, "resume");
        assertThat(run(rig, config, "status")).containsPattern("stuck +no");
    }

    private static void grant(RelayRig rig, String app, String role) throws IOException, SQLException {
        String document = Files.readString(DOCUMENT);
        int begin = document.indexOf("\n```sql") + "\n```sql".length();
        String grants = document.substring(begin, document.indexOf("```", begin))
                .lines()
                .map(line -> line.replaceAll("--.*", ""))
                .collect(Collectors.joining("\n"));
        assertThat(grants).contains("to app;", "to relay;");
        execute(rig, "create role " + app + " login password '" + PASSWORD + "'");
        execute(rig, "create role " + role + " login password '" + PASSWORD + "'");
        execute(rig, grants.replace("to app;", "to " + app + ";").replace("to relay;", "to " + role + ";"));
    }

    private static String run(RelayRig rig, Map<String, String> config, String command) {
        String printed = rig.command(config, command);
        assertThat(printed).doesNotContain(PASSWORD);
        return printed;
    }

    private static void execute(RelayRig rig, String sql) throws SQLException {
        try (Connection connection = rig.connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }
}
