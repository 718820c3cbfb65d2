package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.Ledger;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.engine.Scenario24TooLargeIT;
import dev.twinbox.relay.jdbc.ParkedRows;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Pattern;
import org.apache.kafka.common.acl.AclOperation;
import org.apache.kafka.common.resource.ResourceType;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A broker with encryption, a password and ACLs. The rights of docs/how-to/security.md are enough, and faults are
 * reported.
 */
@Tag("proof")
class SecuredKafkaIT {
    private static final KafkaBroker KAFKA =
            KafkaBroker.create().withSecuredListener().withJvmOptions("-XX:TieredStopAtLevel=1");

    private static final Path DOCUMENT = Path.of("..", "docs", "how-to", "security.md");
    private static final String PASSWORD = "s3cret-of-kafka";
    private static final Duration SOON = Duration.ofSeconds(90);

    @BeforeAll
    static void start() {
        KAFKA.start();
    }

    @AfterAll
    static void end() {
        KAFKA.close();
    }

    @Test
    void aRelayWithTheDocumentedAclsPublishesAndReportsAMissingRight() throws Exception {
        KAFKA.createUser("relay", PASSWORD);
        KAFKA.createTopic("orders", 3, Map.of("max.message.bytes", "100000"));
        KAFKA.createTopic("forbidden", 1);
        KAFKA.createTopic("unlimited", 1);
        documentedRights().forEach(right -> KAFKA.allow("relay", right, ResourceType.TOPIC, "orders"));
        KAFKA.allow("relay", AclOperation.WRITE, ResourceType.TOPIC, "unlimited");
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            Map<String, String> config = config(KAFKA.securedClientSettings("relay", PASSWORD));
            config.put("twinbox.relay.kafka.compression.type", "none");
            RelayProcess relay = rig.startRelay(config);
            insert(connection, "orders", "1");
            insert(connection, "forbidden", "2");
            insert(connection, "orders", Scenario24TooLargeIT.incompressible(200_000));
            insert(connection, "unlimited", "3");
            insert(connection, "orders", "4");

            await("the allowed ones").atMost(SOON).until(() -> count("orders") >= 2 && count("unlimited") >= 1);
            await("the others").atMost(SOON).until(() -> parked(rig, "refused") == 2);
            assertThat(errors(connection, "forbidden")).contains("grant User:relay Write on topic \"forbidden\"");
            assertThat(errors(connection, "orders")).contains("max.message.bytes of its topic, 100000");
            assertThat(relay.log())
                    .contains(
                            "grant User:relay DescribeConfigs on it",
                            "The settings of topic \"unlimited\" may not be read")
                    .doesNotContain("The settings of topic \"orders\" may not be read");
            assertThat(RelayMetrics.of(relay).value("twinbox_relay_events_parked_total"))
                    .isEqualTo(2);
            findsRecordsWithTheRight(rig, connection, config);
            rightIsTakenAndGivenBack(rig, connection, config);

            KAFKA.allow("relay", AclOperation.WRITE, ResourceType.TOPIC, "forbidden");
            retry(rig, config, "forbidden");
            await("it is let through").atMost(SOON).until(() -> count("forbidden") >= 1);
            assertThat(RelayMetrics.of(relay).value("twinbox_relay_events_retried_total"))
                    .isPositive();
            await("the ledger")
                    .atMost(SOON)
                    .untilAsserted(() -> Ledger.create()
                            .committed(
                                    connection,
                                    "select topic, key, id from outbox_event"
                                            + " where length(payload) < 100000 order by seq")
                            .published(KAFKA.bootstrapServers())
                            .assertExact());
            tellsNoSecret(rig, config, relay);
        }
    }

    /** Takes the right away while the relay runs. The relay has asked before, so Kafka is the one that refuses. */
    private static void rightIsTakenAndGivenBack(RelayRig rig, Connection connection, Map<String, String> config)
            throws Exception {
        KAFKA.disallow("relay", AclOperation.WRITE, ResourceType.TOPIC, "orders");
        AtomicInteger tries = new AtomicInteger();
        await("the right is gone").atMost(SOON).until(() -> {
            insert(connection, "orders", "-".repeat(tries.incrementAndGet()));
            return errors(connection, "orders").contains("TopicAuthorizationException");
        });
        assertThat(errors(connection, "orders")).contains("grant User:relay Write on topic \"orders\"");
        long before = count("unlimited");
        insert(connection, "unlimited", "not concerned");
        await("others go on").atMost(SOON).until(() -> count("unlimited") > before);

        KAFKA.allow("relay", AclOperation.WRITE, ResourceType.TOPIC, "orders");
        assertThat(run(rig, config, "parked", "discard", numberOfTooLarge(connection)))
                .contains("iscard");
        ParkedRows operator = new ParkedRows(connection, rig.tables(), "relay");
        await("all of them").atMost(SOON).until(() -> {
            operator.retry(ParkedSelections.topic("orders"));
            return rig.count("select count(*) from outbox_parked where topic = 'orders'") == 0;
        });
    }

    private static String numberOfTooLarge(Connection connection) throws SQLException {
        return OutboxDatabaseFixture.query(
                connection, "select number from outbox_parked where error like '%max.message.bytes%'");
    }

    private static void tellsNoSecret(RelayRig rig, Map<String, String> config, RelayProcess relay) throws Exception {
        String everything = relay.log()
                + RelayMetrics.get(relay, "/metrics").body()
                + RelayMetrics.get(relay, "/health/ready").body()
                + run(rig, config, "status");
        assertThat(everything)
                .contains("sasl.jaas.config")
                .doesNotContain(PASSWORD, config.get("twinbox.relay.kafka.ssl.truststore.password"))
                .doesNotContain("ScramLoginModule required");
    }

    @Test
    void aWrongPasswordIsReportedAtStartAndLaterAndBlamesNoEvent() throws Exception {
        KAFKA.createTopic("guests", 1);
        KAFKA.createUser("guest", "another password");
        documentedRights().forEach(right -> KAFKA.allow("guest", right, ResourceType.TOPIC, "guests"));
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            Map<String, String> config = config(KAFKA.securedClientSettings("guest", PASSWORD));
            RelayProcess relay = rig.relay(config).start();
            String refusal = "Kafka does not let User:guest in: ";
            await("without any event").atMost(SOON).until(() -> relay.log().contains(refusal));
            assertThat(relay.log())
                    .containsOnlyOnce("Nothing can be sent: ")
                    .contains("twinbox.relay.kafka.sasl.jaas.config");
            assertThat(RelayMetrics.get(relay, "/health/ready").body()).contains("\"DOWN\"", refusal);
            insert(connection, "guests", "1");
            assertThat(run(rig, config, "status")).containsPattern("missing topics +not known, .*" + refusal);

            KAFKA.createUser("guest", PASSWORD);
            relay.awaitReady();
            await("the first").atMost(SOON).until(() -> count("guests") >= 1);
            KAFKA.createUser("guest", "yet another password");
            KAFKA.restart();
            double failures = failures(relay);
            insert(connection, "guests", "2");
            insert(connection, "guests", "3");
            await("more often than a record may fail").atMost(SOON).until(() -> failures(relay) >= failures + 5);
            assertThat(rig.count("select count(*) from outbox_parked")).isZero();
            KAFKA.createUser("guest", PASSWORD);
            await("the others")
                    .atMost(SOON)
                    .untilAsserted(() -> Ledger.create()
                            .committed(connection, "select topic, key, id from outbox_event order by seq")
                            .published(KAFKA.bootstrapServers())
                            .assertExact());
            assertThat(rig.count("select count(*) from outbox_parked")).isZero();
            tellsNoSecret(rig, config, relay);
        }
    }

    /** The rights of the table below "Exactly-once publication", in addition to those of every relay. */
    @Test
    void exactlyOncePublicationNeedsTheDocumentedAclsAndNoMore() throws Exception {
        KAFKA.createUser("once", PASSWORD);
        KAFKA.createTopic("payments", 1);
        KAFKA.createTopic("once-position", 2);
        for (String topic : List.of("payments", "refunds")) {
            documentedRights().forEach(right -> KAFKA.allow("once", right, ResourceType.TOPIC, topic));
        }
        assertThat(read(DOCUMENT))
                .contains(
                        "| `Write`, `Describe` | transactional ids `<relay name>` and `<relay name>:retry` |",
                        "| `Read` | the position topic |",
                        "| `Read` | the group of the same name |");
        for (String id : List.of("once", "once:retry")) {
            KAFKA.allow("once", AclOperation.WRITE, ResourceType.TRANSACTIONAL_ID, id);
            KAFKA.allow("once", AclOperation.DESCRIBE, ResourceType.TRANSACTIONAL_ID, id);
        }
        KAFKA.allow("once", AclOperation.READ, ResourceType.TOPIC, "once-position");
        KAFKA.allow("once", AclOperation.READ, ResourceType.GROUP, "once-position");
        try (RelayRig rig = RelayRig.create();
                Connection connection = rig.connect()) {
            Map<String, String> config = config(KAFKA.securedClientSettings("once", PASSWORD));
            config.put("twinbox.relay.name", "once");
            config.put("twinbox.relay.delivery", "exactly-once");
            insert(connection, "payments", "1");
            RelayProcess relay = rig.startRelay(config);
            insert(connection, "refunds", "for a topic that is to come");
            insert(connection, "payments", "2");
            await("it waits").atMost(SOON).until(() -> parked(rig, "waiting") == 1);
            KAFKA.createTopic("refunds", 1); // The producer for parked events has a transactional id of its own.
            await("all are sent")
                    .atMost(SOON)
                    .untilAsserted(() -> Ledger.create()
                            .committed(connection, "select topic, key, id from outbox_event order by seq")
                            .published(KAFKA.bootstrapServers())
                            .assertExact());
            tellsNoSecret(rig, config, relay);
        }
    }

    @Test
    void anUnknownCertificateIsToldAtTheStart() throws Exception {
        KAFKA.createUser("relay", PASSWORD);
        try (RelayRig rig = RelayRig.create()) {
            Map<String, String> settings = new HashMap<>(KAFKA.securedClientSettings("relay", PASSWORD));
            settings.keySet().removeIf(name -> name.startsWith("ssl."));
            RelayProcess relay = rig.relay(config(settings)).start();
            await("without any event").atMost(SOON).until(() -> relay.log().contains("Nothing can be sent: "));
            assertThat(relay.log())
                    .contains("no encrypted connection to Kafka: ", "unable to find valid certification path")
                    .contains("twinbox.relay.kafka.ssl.*")
                    .doesNotContain(PASSWORD);
        }
    }

    /** The operations in the document's command. */
    /** To look for a record is another right than to write it. */
    private static void findsRecordsWithTheRight(RelayRig rig, Connection connection, Map<String, String> config)
            throws SQLException {
        String id = OutboxDatabaseFixture.query(connection, "select id from outbox_event where topic = 'unlimited'");
        await("its position is saved")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(rig.command(config, "events", "show", id))
                        .containsPattern("state +passed")
                        .contains("topic unlimited: it may not be read: grant User:relay Read on it"));
        KAFKA.allow("relay", AclOperation.READ, ResourceType.TOPIC, "unlimited");
        await("the right is there")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(rig.command(config, "events", "show", id))
                        .containsPattern("state +sent")
                        .contains("partition 0 offset 0"));
    }

    private static List<AclOperation> documentedRights() {
        String document = read(DOCUMENT);
        int begin = document.indexOf("kafka-acls.sh");
        List<AclOperation> rights = Pattern.compile("--operation (\\w+)")
                .matcher(document.substring(begin, document.indexOf("```", begin)))
                .results()
                .map(match -> AclOperation.fromString(match.group(1).replaceAll("(?<=[a-z])(?=[A-Z])", "_")))
                .toList();
        assertThat(rights).contains(AclOperation.WRITE).doesNotContain(AclOperation.UNKNOWN);
        return rights;
    }

    private static String read(Path file) {
        try {
            return Files.readString(file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static Map<String, String> config(Map<String, String> kafka) {
        Map<String, String> config = new HashMap<>();
        kafka.forEach((name, value) -> config.put("twinbox.relay.kafka." + name, value));
        return config;
    }

    private static void insert(Connection connection, String topic, String payload) throws SQLException {
        OutboxDatabaseFixture.insert(
                connection, topic, "key of " + payload.length(), payload.getBytes(StandardCharsets.UTF_8));
    }

    private static long count(String topic) {
        return KAFKA.endOffsets(topic).values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    private static long parked(RelayRig rig, String state) throws SQLException {
        return rig.count("select count(*) from outbox_parked where state = '" + state + "'");
    }

    private static String errors(Connection connection, String topic) throws SQLException {
        String errors = OutboxDatabaseFixture.query(
                connection, "select string_agg(error, '; ') from outbox_parked where topic = '" + topic + "'");
        return String.valueOf(errors);
    }

    private static double failures(RelayProcess relay) throws Exception {
        return RelayMetrics.of(relay).value("twinbox_relay_kafka_failures_total");
    }

    private static void retry(RelayRig rig, Map<String, String> config, String topic) {
        run(rig, config, "parked", "retry", "--topic", topic);
    }

    private static String run(RelayRig rig, Map<String, String> config, String... command) {
        String printed = rig.command(config, command);
        assertThat(printed).doesNotContain(PASSWORD);
        return printed;
    }
}
