package dev.twinbox.relay.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.config.Secret;
import dev.twinbox.console.config.HttpConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.event.Level;

class ConfigurationReaderTest {

    private static final Map<String, String> NEEDED = Map.of(
            "twinbox.relay.database.url", "jdbc:postgresql://localhost/shop",
            "twinbox.relay.kafka.bootstrap.servers", "localhost:9092");

    @TempDir
    Path folder;

    @Test
    void twoKeysAreEnough() {
        RelayConfig config = read(Map.of());

        assertThat(config.name()).isEqualTo("relay");
        assertThat(config.tables().table()).isEqualTo("outbox_event");
        assertThat(config.tables().schema()).isNull();
        assertThat(config.lease()).isEqualTo(Duration.ofSeconds(5));
        assertThat(config.idle()).isEqualTo(new RelayConfig.Idle(Duration.ofMillis(2), Duration.ofMillis(50)));
        assertThat(config.http()).isEqualTo(new HttpConfig("127.0.0.1", 8480));
        assertThat(config.kafka().bootstrapServers()).isEqualTo("localhost:9092");
        assertThat(config.logLevel()).isEqualTo(Level.INFO);
    }

    @Test
    void theEnvironmentWinsOverTheFileAndASystemPropertyOverBoth() throws IOException {
        Path file = file("""
                twinbox.relay.database.url=jdbc:postgresql://file/shop
                twinbox.relay.kafka.bootstrap.servers=file:9092
                twinbox.relay.name=file
                twinbox.relay.kafka.client.id=file
                """);

        RelayConfig config = ConfigurationReader.read(
                file,
                Map.of(
                        "TWINBOX_RELAY_NAME", "environment",
                        "TWINBOX_RELAY_KAFKA_BOOTSTRAP_SERVERS", "environment:9092",
                        "TWINBOX_OUTBOX_TABLE", "how far"),
                Map.of("twinbox.relay.name", "property"));

        assertThat(config.name()).isEqualTo("property");
        assertThat(config.kafka().settings())
                .containsOnly(Map.entry("bootstrap.servers", "environment:9092"), Map.entry("client.id", "file"));
        assertThat(config.tables().position().name()).isEqualTo("how far_position");
        assertThat(config.database().url()).isEqualTo("jdbc:postgresql://file/shop");
    }

    @Test
    void anExpressionTakesItsValueFromTheEnvironment() {
        RelayConfig config = ConfigurationReader.read(
                null,
                Map.of("DB_PASSWORD", "s3cret"),
                with(Map.of("twinbox.relay.database.password", "${DB_PASSWORD}")));

        assertThat(config.database().password()).isEqualTo(new Secret("s3cret"));
    }

    @Test
    void aDollarSignInAFileCanBeEscaped() throws IOException {
        Path file = file("twinbox.relay.database.password=pa\\\\${ss}\n");

        assertThat(ConfigurationReader.read(file, Map.of(), NEEDED).database().password())
                .isEqualTo(new Secret("pa${ss}"));
    }

    @Test
    void allErrorsAreToldAtOnceEachWithKeyValuePlaceAndBound() throws IOException {
        Path file = file("""
                twinbox.relay.page.rows=0
                twinbox.relay.lease=5s

                twinbox.relay.kafka.linger.ms=soon
                twinbox.relay.kafka.acks=1
                twinbox.relay.nmae=x
                twinbox.relay.database.password=${NOWHERE}
                """);

        assertThatThrownBy(() -> ConfigurationReader.read(
                        file, Map.of("TWINBOX_RELAY_HTTP_PORT", "99999", "TWINBOX_RELAY_PAGE_ROW", "1"), Map.of()))
                .isInstanceOfSatisfying(
                        RelayException.class, e -> assertThat(e.exitCode()).isEqualTo(ExitCode.USAGE))
                .message()
                .contains("10 problems")
                .contains("twinbox.relay.database.url is missing")
                .contains("TWINBOX_RELAY_DATABASE_URL")
                .contains("twinbox.relay.kafka.bootstrap.servers is missing")
                .contains("twinbox.relay.page.rows = \"0\" (" + file + ":1) must be a whole number from 1 to 100000")
                .contains(
                        "twinbox.relay.lease = \"5s\" (" + file + ":2) must be an ISO-8601 duration from PT2S to PT10M")
                .contains("twinbox.relay.kafka.linger.ms = \"soon\" (" + file + ":4)")
                .contains("twinbox.relay.kafka.acks = \"1\" (" + file + ":5) is the relay's own choice")
                .contains("twinbox.relay.nmae (" + file + ":6) is unknown: did you mean twinbox.relay.name?")
                .contains("twinbox.relay.http.port = \"99999\" (environment)")
                .contains("TWINBOX_RELAY_PAGE_ROW")
                .contains("twinbox.relay.database.password (" + file + ":7) holds an expression");
    }

    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', quoteCharacter = '~', textBlock = """
            twinbox.relay.name | a b | must be 1 to 100 of the characters
            twinbox.relay.database.url | jdbc:mysql://localhost/shop | must be a URL such as jdbc:postgresql://
            twinbox.relay.database.url | jdbc:postgresql://localhost:port/shop | must be a URL such as jdbc:postgresql://
            twinbox.relay.database.url | jdbc:postgresql://localhost/shop?user=me | twinbox.relay.database.user
            twinbox.relay.database.url | jdbc:postgresql://localhost/shop?connectTimeout=0 | 1 to 300 seconds
            twinbox.relay.database.url | jdbc:postgresql://localhost/shop?loginTimeout=301 | 1 to 300 seconds
            twinbox.relay.database.url | jdbc:postgresql://localhost/shop?socketTimeout=601 | 1 to 600 seconds
            twinbox.relay.database.url | jdbc:postgresql://localhost/shop?socketTimeout=20s | not 20s
            twinbox.relay.database.connect-timeout | PT5S | it was dropped, remove it. connectTimeout and loginTimeout
            twinbox.relay.database.socket-timeout | PT20S | it was dropped, remove it. socketTimeout in
            twinbox.relay.position-topic | x | it was dropped, remove it. The topic is named after twinbox.relay.name
            twinbox.outbox.position-table | x | it was dropped, remove it. All tables are named after twinbox.outbox.table
            twinbox.relay.kafka.bootstrap.servers | localhost | must be host:port
            twinbox.relay.kafka.bootstrap.servers | a:1,,b:2 | must be host:port
            twinbox.relay.kafka.bootstrap.servers | a:0 | must be host:port
            twinbox.relay.kafka.bootstrap.servers | a:70000 | must be host:port
            twinbox.relay.kafka.compression.type | zip | zip
            twinbox.relay.kafka.batch.size | many | Not a number
            twinbox.relay.kafka.enable.idempotence | false | remove the key
            twinbox.relay.kafka.max.in.flight.requests.per.connection | 1 | remove the key
            twinbox.relay.kafka.transactional.id | x | remove the key
            twinbox.relay.kafka.delivery.timeout.ms | 1000 | remove the key
            twinbox.relay.kafka.lingerms | 5 | did you mean twinbox.relay.kafka.linger.ms?
            twinbox.relay.page.rows | 100001 | 1 to 100000
            twinbox.relay.page.rows | 1e3 | 1 to 100000
            twinbox.relay.page.bytes | 4MB | 1024 to 536870912
            twinbox.relay.page.in-flight | 0 | 1 to 64
            twinbox.relay.lease | PT1S | PT2S to PT10M
            twinbox.relay.lease | P1Y | PT2S to PT10M
            twinbox.relay.idle.min | PT0.01S | it was dropped, remove it
            twinbox.relay.idle.max | PT1S | it was dropped, remove it
            twinbox.relay.retry | PT1S | it was dropped, remove it
            twinbox.relay.http.port | -1 | 0 to 65535
            twinbox.relay.ready-timeout | PT10S | it was dropped, remove it
            twinbox.relay.shutdown-timeout | PT0S | PT1S to PT10M
            twinbox.relay.log.level | LOUD | must be one of ERROR, WARN, INFO, DEBUG, TRACE
            twinbox.outbox.table | ~a234567890123456789012345678901234567890123456789012345678901234~ | 63
            twinbox.outbox.lease-table | outbox_lease | it was dropped, remove it. All tables are named after
            twinbox.relay.delivery | EXACTLY-ONCE | must be at-least-once or exactly-once
            twinbox.relay.log.format | JSON | must be text or json
            twinbox.outbox.tabel | x | did you mean twinbox.outbox.table?
            twinbox.relay.parked | x | is unknown
            twinbox.relays.name | x | did you mean twinbox.relay.name?
            """)
    void aBadValueIsRefusedWithItsKeyAndWhatWouldBeLegal(String key, String value, String expected) {
        assertThatThrownBy(() -> read(Map.of(key, value)))
                .isInstanceOfSatisfying(
                        RelayException.class, e -> assertThat(e.exitCode()).isEqualTo(ExitCode.USAGE))
                .message()
                .contains("1 problem\n")
                .contains(key)
                .contains(expected);
    }

    /** One beyond the limit is refused: no bound is off by one. */
    @ParameterizedTest(name = "{0} = {1}")
    @CsvSource(delimiter = '|', textBlock = """
            twinbox.relay.page.rows | 1 | 0
            twinbox.relay.page.rows | 100000 | 100001
            twinbox.relay.page.bytes | 1024 | 1023
            twinbox.relay.page.in-flight | 64 | 65
            twinbox.relay.lease | PT2S | PT1.999S
            twinbox.relay.lease | PT10M | PT10M0.001S
            twinbox.relay.database.url | jdbc:postgresql://h/d?connectTimeout=300 | jdbc:postgresql://h/d?connectTimeout=301
            twinbox.relay.database.url | jdbc:postgresql://h/d?loginTimeout=1 | jdbc:postgresql://h/d?loginTimeout=0
            twinbox.relay.database.url | jdbc:postgresql://h/d?socketTimeout=600 | jdbc:postgresql://h/d?socketTimeout=601
            twinbox.relay.http.port | 65535 | 65536
            twinbox.relay.kafka.bootstrap.servers | a:1 | a:0
            twinbox.relay.kafka.bootstrap.servers | a:65535 | a:65536
            """)
    void theBoundIsWithinAndWhatIsBeyondItIsNot(String key, String within, String beyond) {
        assertThat(read(Map.of(key, within))).isNotNull();
        assertThatThrownBy(() -> read(Map.of(key, beyond))).message().contains("1 problem\n");
    }

    @Test
    void telemetryHasASwitchAndTheRestOfItIsItsOwnToKnow() {
        RelayConfig config = read(Map.of("otel.sdk.disabled", "FALSE", "otel.service.name", "r", "other.key", "x"));

        assertThat(config.telemetry().settings())
                .containsOnly(Map.entry("otel.sdk.disabled", "FALSE"), Map.entry("otel.service.name", "r"));
        assertThat(config.telemetry().isOn()).isTrue();
        assertThat(read(Map.of("otel.sdk.disabled", "true")).telemetry().isOn()).isFalse();
        assertThatThrownBy(() -> read(Map.of("otel.sdk.disabled", "no")))
                .hasMessageContaining("otel.sdk.disabled = \"no\" (system properties) must be true or false");
    }

    @Test
    void aFolderIsNoConfigurationFile() {
        assertThatThrownBy(() -> ConfigurationReader.read(folder, Map.of(), Map.of()))
                .hasMessageContaining("it is a folder or its permissions forbid it");
    }

    @Test
    void aSecretPrintsAsStars() {
        assertThat(new Secret("m4rk3r")).hasToString(Secret.MASK);
    }

    @Test
    void whatIsNoTypingErrorIsNotGuessed() {
        assertThatThrownBy(() -> read(Map.of("twinbox.relay.lease.of.the.relay", "x")))
                .hasMessageContaining("is unknown: remove it (docs/reference/configuration.md lists all keys)");
        assertThatThrownBy(() -> read(Map.of("twinbox.relay.lea", "x")))
                .hasMessageContaining("did you mean twinbox.relay.lease?");
    }

    @Test
    void anEmptyValueCountsAsUnset() {
        assertThat(read(Map.of("twinbox.relay.name", "", "twinbox.outbox.schema", ""))
                        .name())
                .isEqualTo("relay");
        assertThatThrownBy(() -> read(Map.of("twinbox.relay.database.url", "")))
                .hasMessageContaining("twinbox.relay.database.url (system properties) is missing");
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "twinbox.outbox.data-source",
                "twinbox.outbox.max-payload-bytes",
                "twinbox.inbox.group",
                "quarkus.http.port"
            })
    void keysOfApplicationsMayStandInTheSameFile(String key) {
        assertThat(read(Map.of(key, "x"))).isNotNull();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "TWINBOX_RELAY_SERVICE_HOST",
                "TWINBOX_RELAY_SERVICE_PORT_HTTP",
                "TWINBOX_RELAY_PORT",
                "TWINBOX_RELAY_PORT_8480_TCP_ADDR"
            })
    void whatKubernetesAddsForAServiceOfOurNameIsNotAMistake(String variable) {
        assertThat(ConfigurationReader.read(null, Map.of(variable, "tcp://10.0.0.1:8480"), NEEDED))
                .isNotNull();
    }

    @ParameterizedTest
    @ValueSource(strings = {"TWINBOX_RELAY_DATABASE_PASWORD", "TWINBOX_OUTBOX_TABEL", "TWINBOX_RELAY_KAFKA_LINGER"})
    void aMistypedEnvironmentVariableIsRefused(String variable) {
        assertThatThrownBy(() -> ConfigurationReader.read(null, Map.of(variable, "x"), NEEDED))
                .hasMessageContaining(variable)
                .hasMessageContaining("no known key");
    }

    @ParameterizedTest
    @CsvSource({
        "twinbox.outbox.lease-table, TWINBOX_OUTBOX_LEASE_TABLE",
        "twinbox.relay.idle.max, TWINBOX_RELAY_IDLE_MAX",
        "twinbox.relay.position-topic, TWINBOX_RELAY_POSITION_TOPIC"
    })
    void aDroppedKeyIsRefusedInTheEnvironmentToo(String key, String variable) {
        assertThatThrownBy(() -> ConfigurationReader.read(null, Map.of(variable, "x"), NEEDED))
                .message()
                .contains("1 problem\n", "environment variable " + variable + " is unknown: it was dropped, remove it")
                .doesNotContain(key);
    }

    @Test
    void thePositionTopicIsNamedAfterTheRelay() {
        assertThat(read(Map.of("twinbox.relay.name", "orders")).delivery().positionTopic())
                .isEqualTo("orders-position");
    }

    @Test
    void secretsShowNeitherInTheRecordNorInErrors() {
        String marker = "m4rk3r";
        Map<String, String> secrets = Map.of(
                "twinbox.relay.database.password", marker,
                "twinbox.relay.database.url", "jdbc:postgresql://localhost/shop?sslpassword=" + marker,
                "twinbox.relay.kafka.ssl.keystore.password", marker,
                "twinbox.relay.kafka.ssl.key.password", marker,
                "twinbox.relay.kafka.ssl.truststore.password", marker,
                "twinbox.relay.kafka.ssl.keystore.key", marker,
                "twinbox.relay.kafka.sasl.jaas.config", "x required password=\"" + marker + "\";");

        RelayConfig config = read(secrets);

        assertThat(config.toString()).doesNotContain(marker).contains(Secret.MASK, "sasl.jaas.config");
        assertThat(config.database().password()).isEqualTo(new Secret(marker));
        assertThat(config.kafka().settings()).containsEntry("ssl.key.password", marker);

        Map<String, String> bad = new HashMap<>(secrets);
        bad.put("twinbox.relay.database.url", "jdbc:postgresql://localhost/shop?user=a&password=" + marker);
        bad.put("twinbox.relay.page.rows", "0");
        assertThatThrownBy(() -> read(bad)).message().doesNotContain(marker).contains("page.rows", "database.url");
        bad.put("twinbox.relay.database.url", "postgresql://me:" + marker + "@localhost/shop");
        assertThatThrownBy(() -> read(bad)).message().doesNotContain(marker).contains("//me:" + Secret.MASK + "@");
    }

    @Test
    void aFileThatCannotBeReadIsAUsageErrorNamingIt() throws IOException {
        Path missing = folder.resolve("none.properties");
        assertThatThrownBy(() -> ConfigurationReader.read(missing, Map.of(), Map.of()))
                .isInstanceOfSatisfying(
                        RelayException.class, e -> assertThat(e.exitCode()).isEqualTo(ExitCode.USAGE))
                .hasMessageContaining(missing.toString())
                .hasMessageContaining("--config");
        Path broken = folder.resolve("broken.properties");
        Files.write(broken, new byte[] {'a', '=', '\\', 'u', 'x'});
        assertThatThrownBy(() -> ConfigurationReader.read(broken, Map.of(), Map.of()))
                .isInstanceOf(RelayException.class)
                .hasMessageContaining(broken.toString());
    }

    private Path file(String text) throws IOException {
        return Files.writeString(folder.resolve("relay.properties"), text);
    }

    private static RelayConfig read(Map<String, String> more) {
        return ConfigurationReader.read(null, Map.of(), with(more));
    }

    private static Map<String, String> with(Map<String, String> more) {
        Map<String, String> all = new HashMap<>(NEEDED);
        all.putAll(more);
        return all;
    }
}
