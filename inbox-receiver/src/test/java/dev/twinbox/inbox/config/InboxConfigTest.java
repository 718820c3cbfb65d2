package dev.twinbox.inbox.config;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.ParkedEvent;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.jdbc.SqlIdentifier;
import io.smallrye.config.EnvConfigSource;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class InboxConfigTest {

    private static final Map<String, String> REQUIRED = Map.of(
            "twinbox.inbox.group", "shipping",
            "twinbox.inbox.data-source", "java:app/jdbc/shipping",
            "twinbox.inbox.kafka.bootstrap.servers", "localhost:9092");

    @Test
    void theRequiredKeysAreEnough() {
        InboxConfig config = read(REQUIRED, Map.of());

        assertThat(config.group()).isEqualTo("shipping");
        assertThat(config.table().sql()).isEqualTo("\"inbox_event\"");
        assertThat(config.batch()).isEqualTo(new InboxConfig.Batch(500, Duration.ofSeconds(5)));
        assertThat(config.kafka()).containsExactly(Map.entry("bootstrap.servers", "localhost:9092"));
    }

    /** A key of an index holds 2,704 bytes. A longer group would have made each claim fail, for ever. */
    @Test
    void fault01AGroupThatNoIndexCanHoldIsRefused() {
        Map<String, String> values = new HashMap<>(REQUIRED);
        values.put("twinbox.inbox.group", "€".repeat(85));
        assertThat(read(values, Map.of()).group()).hasSize(85);

        values.put("twinbox.inbox.group", "€".repeat(86));
        assertThatThrownBy(() -> read(values, Map.of()))
                .isInstanceOf(InvalidConfigurationException.class)
                .hasMessageContaining("must have 1 to 255 bytes");
    }

    @Test
    void allProblemsAreNamedAtOnce() {
        Map<String, String> values = Map.of(
                "twinbox.inbox.batch.size", "0",
                "twinbox.inbox.batch.max-time", "5 seconds",
                "twinbox.inbox.parked.retry.initial", "PT1H",
                "twinbox.inbox.batchsize", "10",
                "twinbox.inbox.kafka.group.id", "other",
                "twinbox.inbox.kafka.boostrap.servers", "localhost:9092",
                "twinbox.inbox.kafka.fetch.max.bytes", "many",
                "twinbox.inbox.table", "x".repeat(64));

        assertThatThrownBy(() -> read(values, Map.of("TWINBOX_INBOX_WORKER", "2")))
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        e -> assertThat(e.problems())
                                .anySatisfy(p -> assertThat(p).startsWith("twinbox.inbox.group is missing"))
                                .anySatisfy(p -> assertThat(p).startsWith("twinbox.inbox.data-source is missing"))
                                .anySatisfy(p ->
                                        assertThat(p).contains("twinbox.inbox.batch.size = \"0\"", "from 1 to 10000"))
                                .anySatisfy(p -> assertThat(p).contains("twinbox.inbox.batch.max-time = \"5 seconds\""))
                                .anySatisfy(
                                        p -> assertThat(p)
                                                .contains(
                                                        "twinbox.inbox.parked.retry.initial = \"PT1H\" must not exceed twinbox.inbox.parked.retry.max"))
                                .anySatisfy(p -> assertThat(p).startsWith("twinbox.inbox.batchsize is unknown"))
                                .anySatisfy(p -> assertThat(p).contains("TWINBOX_INBOX_WORKER stands for no known key"))
                                .anySatisfy(
                                        p -> assertThat(p)
                                                .contains(
                                                        "twinbox.inbox.kafka.group.id = \"other\" cannot be set: it is twinbox.inbox.group"))
                                .anySatisfy(
                                        p -> assertThat(p)
                                                .contains(
                                                        "twinbox.inbox.kafka.boostrap.servers is unknown: did you mean twinbox.inbox.kafka.bootstrap.servers?"))
                                .anySatisfy(
                                        p -> assertThat(p).contains("twinbox.inbox.kafka.bootstrap.servers is missing"))
                                .anySatisfy(p -> assertThat(p).contains("fetch.max.bytes", "many"))
                                .anySatisfy(p -> assertThat(p).contains("twinbox.inbox.table", "64 bytes"))
                                .hasSize(12));
    }

    @Test
    void whatBecomesOfAFailingEventCanBeSetAndIsChecked() {
        assertThat(read(REQUIRED, Map.of()).parking())
                .isEqualTo(new InboxConfig.Parking(
                        new SqlIdentifier(null, "inbox_parked"),
                        3,
                        20,
                        new Backoff(Duration.ofSeconds(1), Duration.ofMinutes(10)),
                        ParkedEvent.State.DEAD));

        Map<String, String> values = new HashMap<>(REQUIRED);
        values.put("twinbox.inbox.parked.when-dead", "pass-key");
        assertThat(read(values, Map.of()).parking().whenDead()).isEqualTo(ParkedEvent.State.PASSED);

        assertThat(read(values, Map.of()).unknownType()).isEqualTo(UnknownType.SKIP);
        values.put("twinbox.inbox.unknown-type", "park");
        assertThat(read(values, Map.of()).unknownType()).isEqualTo(UnknownType.PARK);

        values.put("twinbox.inbox.unknown-type", "drop");
        values.put("twinbox.inbox.parked.when-dead", "skip");
        values.put("twinbox.inbox.parked.attempts", "0");
        values.put("twinbox.inbox.parked.retry.initial", "PT11M");
        assertThatThrownBy(() -> read(values, Map.of()))
                .hasMessageContainingAll(
                        "twinbox.inbox.parked.when-dead = \"skip\" must be one of block-key, pass-key",
                        "twinbox.inbox.unknown-type = \"drop\" must be one of skip, park",
                        "twinbox.inbox.parked.attempts = \"0\" must be a whole number from 1 to 1000000",
                        "twinbox.inbox.parked.retry.initial = \"PT11M\" must not exceed twinbox.inbox.parked.retry.max (PT10M)");
    }

    @Test
    void whereIdTypeAndValueOfATopicsEventsAreCanBeSetForAllTopicsOrForOne() {
        assertThat(read(REQUIRED, Map.of()).formats()).isEqualTo(TopicFormat.OfTopics.CLOUD_EVENTS);

        Map<String, String> values = new HashMap<>(REQUIRED);
        values.put("twinbox.inbox.event-id", "header:id");
        values.put("twinbox.inbox.topic.orders.event-type", "fixed:order.placed");
        TopicFormat.OfTopics formats = read(values, Map.of("TWINBOX_INBOX_TOPIC_ORDERS_VALUE_FORMAT", "connect-json"))
                .formats();

        assertThat(formats.of("orders"))
                .hasToString("(event-id=header:id, event-type=fixed:order.placed, value-format=connect-json)");
        assertThat(formats.of("other")).hasToString("(event-id=header:id, event-type=cloudevent, value-format=plain)");
    }

    @Test
    void aPlaceThatIsNoneAndATopicThatNobodyReadsAreRefused() {
        Map<String, String> values = new HashMap<>(REQUIRED);
        values.put("twinbox.inbox.event-id", "ce_id");
        values.put("twinbox.inbox.topic.orders.event-id", "json-pointer:id");
        values.put("twinbox.inbox.topic.orders.event-type", "coordinates");
        values.put("twinbox.inbox.topic.orders.value-format", "xml");
        values.put("twinbox.inbox.topic.oders.event-id", "key");

        assertThatThrownBy(() -> read(values, Map.of()))
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        e -> assertThat(e.problems()).hasSize(5))
                .hasMessageContainingAll(
                        "twinbox.inbox.event-id = \"ce_id\" must be cloudevent, header:NAME, key, coordinates",
                        "twinbox.inbox.topic.orders.event-id = \"json-pointer:id\" must be",
                        "twinbox.inbox.topic.orders.event-type = \"coordinates\" must be cloudevent, header:NAME, fixed:TYPE",
                        "twinbox.inbox.topic.orders.value-format = \"xml\" must be one of plain, connect-json",
                        "twinbox.inbox.topic.oders.event-id is unknown",
                        "the topics of this application's handlers are [orders]");
    }

    @Test
    void oneLaneIsTheDefaultAndMoreThanThereAreWorkersAreRefused() {
        assertThat(read(REQUIRED, Map.of()).lanes()).isEqualTo(new InboxConfig.Lanes(1, 5000));
        assertThat(read(REQUIRED, Map.of()).buffer()).isEqualTo(new InboxConfig.Buffer(32 << 20, 128 << 20));

        Map<String, String> values = new HashMap<>(REQUIRED);
        values.put("twinbox.inbox.lanes", "5");
        assertThatThrownBy(() -> read(values, Map.of()))
                .hasMessageContaining("twinbox.inbox.lanes = \"5\" must not exceed twinbox.inbox.workers (4)");
    }

    @Test
    void aValueThatIsNoneIsNotComparedWithAnother() {
        Map<String, String> values = new HashMap<>(REQUIRED);
        values.put("twinbox.inbox.parked.retry.max", "5 seconds");
        assertThatThrownBy(() -> read(values, Map.of()))
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        e -> assertThat(e.problems())
                                .singleElement()
                                .asString()
                                .startsWith("twinbox.inbox.parked.retry.max = \"5 seconds\""));
    }

    @Test
    void anAddressOfABrokerHasAPort() {
        Map<String, String> values = new HashMap<>(REQUIRED);
        values.put("twinbox.inbox.kafka.bootstrap.servers", "kafka-1:9092, kafka-2");
        assertThatThrownBy(() -> read(values, Map.of()))
                .hasMessageContaining(
                        "twinbox.inbox.kafka.bootstrap.servers = \"kafka-1:9092, kafka-2\" must be host:port")
                .hasMessageContaining("\"kafka-2\" is not");
    }

    @Test
    void theEnvironmentSetsKafkasKeysToo() {
        InboxConfig config = read(
                Map.of("twinbox.inbox.group", "g", "twinbox.inbox.data-source", "d"),
                Map.of(
                        "TWINBOX_INBOX_KAFKA_BOOTSTRAP_SERVERS", "kafka:9092",
                        "TWINBOX_INBOX_BATCH_SIZE", "7"));

        assertThat(config.kafka()).containsEntry("bootstrap.servers", "kafka:9092");
        assertThat(config.batch().size()).isEqualTo(7);
    }

    @Test
    void aKeyThatIsGoneIsRefusedInTheEnvironmentToo() {
        assertThatThrownBy(() -> read(REQUIRED, Map.of("TWINBOX_INBOX_STOP_TIMEOUT", "PT5S")))
                .isInstanceOfSatisfying(
                        InvalidConfigurationException.class,
                        e -> assertThat(e.problems())
                                .containsExactly(
                                        "environment variable TWINBOX_INBOX_STOP_TIMEOUT is unknown: it was dropped, "
                                                + "set twinbox.inbox.shutdown-timeout instead"));
    }

    @Test
    void theTableOfParkedEventsIsNamedAfterTheInbox() {
        Map<String, String> values = new HashMap<>(REQUIRED);
        values.put("twinbox.inbox.schema", "Sales");
        values.put("twinbox.inbox.table", "order_event");
        assertThat(read(values, Map.of()).parking().table()).isEqualTo(new SqlIdentifier("Sales", "order_parked"));

        values.put("twinbox.inbox.table", "Inbox");
        assertThat(read(values, Map.of()).parking().table()).isEqualTo(new SqlIdentifier("Sales", "Inbox_parked"));
    }

    @Test
    void whatKubernetesPutsIntoTheEnvironmentIsNoKey() {
        assertThat(read(REQUIRED, Map.of("TWINBOX_INBOX_SERVICE_HOST", "10.0.0.7", "TWINBOX_INBOX_PORT", "tcp://x"))
                        .group())
                .isEqualTo("shipping");
    }

    @Test
    void noValueOfKafkaIsPrinted() {
        Map<String, String> values = new HashMap<>(REQUIRED);
        values.put("twinbox.inbox.kafka.sasl.jaas.config", "password=\"marker\"");
        values.put("twinbox.inbox.kafka.ssl.key.password", "marker");

        assertThat(read(values, Map.of()).toString()).doesNotContain("marker").contains("sasl.jaas.config");
    }

    @Test
    void theConsumerIsSetUpAsTheGuaranteesNeedIt() {
        InboxConfig config = read(REQUIRED, Map.of());

        assertThat(ConsumerSettings.properties(config, "shipping"))
                .containsEntry("enable.auto.commit", "false")
                .containsEntry("auto.offset.reset", "none")
                .containsEntry("isolation.level", "read_committed")
                .containsEntry("allow.auto.create.topics", "false")
                .containsEntry("group.id", "shipping");
        assertThat(ConsumerSettings.properties(config, "shipping").get("client.id"))
                .isNotEqualTo(ConsumerSettings.properties(config, "shipping").get("client.id"));
    }

    @Test
    void aKilledInstancesPartitionsAreGivenAwayAfterTenSecondsUnlessSetOtherwise() {
        assertThat(ConsumerSettings.properties(read(REQUIRED, Map.of()), "shipping"))
                .containsEntry("session.timeout.ms", 10_000)
                .containsEntry("heartbeat.interval.ms", 3_333);

        Map<String, String> values = new HashMap<>(REQUIRED);
        values.put("twinbox.inbox.kafka.session.timeout.ms", "45000");
        assertThat(ConsumerSettings.properties(read(values, Map.of()), "shipping"))
                .containsEntry("session.timeout.ms", 45_000)
                .containsEntry("heartbeat.interval.ms", 15_000);
    }

    @Test
    void aHeartbeatThatIsTooSlowForItsSessionIsRefusedAtDeployment() {
        Map<String, String> values = new HashMap<>(REQUIRED);
        values.put("twinbox.inbox.kafka.heartbeat.interval.ms", "10000");

        assertThatThrownBy(() -> read(values, Map.of()))
                .hasMessageContaining("twinbox.inbox.kafka.heartbeat.interval.ms = \"10000\" must be less than "
                        + "twinbox.inbox.kafka.session.timeout.ms (10000)");
    }

    private static InboxConfig read(Map<String, String> values, Map<String, String> environment) {
        return InboxConfigReader.read(
                new SmallRyeConfigBuilder()
                        .withSources(
                                new PropertiesConfigSource(values, "values", 100),
                                new EnvConfigSource(environment, 300))
                        .build(),
                environment.keySet(),
                Set.of("orders"));
    }
}
