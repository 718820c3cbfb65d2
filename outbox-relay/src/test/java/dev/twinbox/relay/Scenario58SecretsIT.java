package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** SECRETS: in no situation does the relay show a secret, or the payload or headers of an event. */
@Tag("proof")
class Scenario58SecretsIT {
    private static final String SECRET = "mArKeR-s3cret";
    private static final String PERSONAL = "mArKeR-personal";
    private static final Duration SOON = Duration.ofSeconds(60);

    @Test
    void noSecretIsShownByLogHealthMetricsCommandsOrRefusals() throws Exception {
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            connection.createStatement().execute("create role secretive superuser login password '" + SECRET + "'");
            Map<String, String> config = secrets();
            RelayProcess relay = rig.startRelay(config);
            insert(connection, "no-such-topic");
            insert(connection, rig.topic());
            rig.awaitRecords(1);
            await("an event without a topic is parked")
                    .atMost(SOON)
                    .until(() -> rig.count("select count(*) from outbox_parked") == 1);
            connection.createStatement().execute("alter role secretive password 'another'");
            RelayRig.POSTGRES.restart();
            await("a wrong password").atMost(SOON).until(() -> relay.log().contains("password authentication failed"));

            String shown = relay.log()
                    + RelayMetrics.get(relay, "/metrics").body()
                    + RelayMetrics.get(relay, "/health/ready").body();
            assertShowsNoSecret(shown);
            assertThat(shown).contains("sasl.jaas.config", "otel.exporter.otlp.headers");
            assertThat(relay.terminate()).as("stopped").isNotNegative();
            assertShowsNoSecret(relay.log());
            Map<String, String> known = new HashMap<>(config);
            known.put("twinbox.relay.database.user", RelayRig.POSTGRES.user());
            known.put("twinbox.relay.database.password", RelayRig.POSTGRES.password());
            assertShowsNoSecret(run(rig, known, "status"));
            String listed = run(rig, known, "parked", "list");
            assertShowsNoSecret(listed);
            assertThat(listed).contains("no-such-topic");
            // The operator who asks for an event gets it.
            assertThat(run(rig, known, "parked", "show", number(rig)))
                    .contains("no-such-topic", PERSONAL)
                    .doesNotContain(SECRET);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "jdbc:postgresql://me:" + SECRET + "@h/db?password=" + SECRET,
                "jdbc:postgresql://h?password=" + SECRET
            })
    void refusedStartsDoNotShowThemEither(String url) throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            Map<String, String> wrong = secrets();
            wrong.put("twinbox.relay.database.url", url);
            wrong.put("twinbox.relay.kafka.acks", "1");
            wrong.put("twinbox.relay.pasword", SECRET);

            String shown = run(rig, wrong, "run");

            assertThat(shown).contains("problems", "twinbox.relay.database.url", "twinbox.relay.pasword");
            assertThat(shown).doesNotContain(SECRET);
        }
    }

    private static Map<String, String> secrets() {
        Map<String, String> config = new HashMap<>();
        config.put("twinbox.relay.database.user", "secretive");
        config.put("twinbox.relay.database.password", SECRET);
        config.put(
                "twinbox.relay.kafka.sasl.jaas.config",
                "org.apache.kafka.common.security.plain.PlainLoginModule required username=\"u\" password=\"" + SECRET
                        + "\";");
        config.put("twinbox.relay.kafka.ssl.truststore.password", SECRET);
        config.put("twinbox.relay.kafka.ssl.keystore.password", SECRET);
        config.put("twinbox.relay.kafka.ssl.key.password", SECRET);
        config.put("twinbox.relay.log.level", "DEBUG");
        config.put("otel.sdk.disabled", "false");
        config.put("otel.traces.exporter", "none");
        config.put("otel.exporter.otlp.headers", "authorization=" + SECRET);
        return config;
    }

    private static void assertShowsNoSecret(String shown) {
        assertThat(shown).isNotEmpty().doesNotContain(SECRET).doesNotContain(PERSONAL);
    }

    private static String number(RelayRig rig) throws Exception {
        return Long.toString(rig.count("select max(number) from outbox_parked"));
    }

    private static String run(RelayRig rig, Map<String, String> config, String... command) {
        RelayProcess process = rig.relay(config, command).start();
        process.awaitExit(SOON);
        return process.log();
    }

    private static void insert(Connection connection, String topic) throws Exception {
        try (PreparedStatement insert = connection.prepareStatement("insert into outbox_event"
                + " (id, topic, key, type, source, occurred_at, content_type, headers, payload)"
                + " values (?, ?, 'key', 'test.happened', '/test', clock_timestamp(), 'text/plain', ?, ?)")) {
            insert.setObject(1, UUID.randomUUID());
            insert.setString(2, topic);
            insert.setArray(3, connection.createArrayOf("text", new String[] {"name", PERSONAL}));
            insert.setBytes(4, PERSONAL.getBytes(StandardCharsets.UTF_8));
            insert.executeUpdate();
        }
    }
}
