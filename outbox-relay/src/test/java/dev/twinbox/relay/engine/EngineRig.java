package dev.twinbox.relay.engine;

import static org.awaitility.Awaitility.await;

import dev.twinbox.console.config.HttpConfig;
import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.Ledger;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.RelayRig;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.LogFormat;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.kafka.ProducerSettings;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.common.config.ConfigResource;
import org.slf4j.event.Level;

/** A relay's engine in this JVM, between a database and a topic of its own on real servers. */
public final class EngineRig implements AutoCloseable {
    static final KafkaBroker KAFKA = RelayRig.KAFKA;

    private static final AtomicInteger NUMBER = new AtomicInteger();

    final OutboxDatabaseFixture database;
    final String topic = "engine-" + NUMBER.incrementAndGet();
    final Map<String, String> kafka = new HashMap<>();
    /** Settings that replace the relay's own choice. */
    final Map<String, Object> producerSettings = new HashMap<>();

    RelayConfig.Page page = new RelayConfig.Page(100, 100_000, 4);
    DeliveryMode delivery = DeliveryMode.AT_LEAST_ONCE;
    String positionTopic = "engine-position-" + NUMBER.get();
    /** Longer than a machine stalls: only few tests check a relay that lost its lease. */
    Duration lease = Duration.ofSeconds(30);

    Duration stallTimeout = Duration.ofSeconds(30);
    Duration waitingLimit = Duration.ofHours(24);
    int pausedRows = 100_000;
    int pausedBytes = 1 << 30;
    OutboxDatabase relayDatabase;
    /** How often a producer was opened for pages. Parked events have other producers. */
    final AtomicInteger senders = new AtomicInteger();

    /** Wraps the relay's producers. */
    UnaryOperator<Producer<byte[], byte[]>> between = UnaryOperator.identity();

    private final List<Running> running = new ArrayList<>();

    /** One relay in its thread. */
    record Running(Relay relay, Progress progress, CompletableFuture<ExitCode> end) {
        /** Waits for the relay to end by itself. */
        RelayException refusal() throws Exception {
            try {
                throw new AssertionError("the relay ended with " + end.get(90, TimeUnit.SECONDS));
            } catch (java.util.concurrent.ExecutionException e) {
                return (RelayException) e.getCause();
            }
        }

        ExitCode stop() throws Exception {
            relay.stop();
            return end.get(90, TimeUnit.SECONDS);
        }
    }

    EngineRig(OutboxDatabaseFixture database) {
        KAFKA.start();
        this.database = database;
        this.relayDatabase = database.relayDatabase();
        kafka.put("bootstrap.servers", KAFKA.bootstrapServers());
    }

    static EngineRig create() throws SQLException {
        return new EngineRig(OutboxDatabaseFixture.create());
    }

    EngineRig withTopic(Map<String, String> settings) {
        KAFKA.createTopic(topic, 3, settings);
        return this;
    }

    EngineRig withTopic() {
        return withTopic(Map.of());
    }

    RelayConfig config() {
        return new RelayConfig(
                "relay",
                OutboxDatabaseFixture.SCHEMA,
                new RelayConfig.Database(database.url(), null, null, Duration.ofSeconds(5), Duration.ofSeconds(20)),
                new RelayConfig.Kafka(kafka),
                page,
                new RelayConfig.Delivery(delivery, positionTopic),
                lease,
                new RelayConfig.Idle(Duration.ofMillis(2), Duration.ofMillis(50)),
                Duration.ofMillis(200),
                new RelayConfig.Parking(stallTimeout, waitingLimit, pausedRows, pausedBytes),
                new HttpConfig("127.0.0.1", 0),
                Duration.ofSeconds(10),
                Duration.ofSeconds(10),
                Level.INFO,
                LogFormat.TEXT,
                new RelayConfig.Telemetry(Map.of()),
                null);
    }

    /** A relay that no thread runs yet. */
    Relay relay(Progress progress) {
        RelayConfig config = config();
        return new Relay(config, progress, relayDatabase, purpose -> {
            if (purpose.equals(ProducerSettings.SENDER)) {
                senders.incrementAndGet();
            }
            return between.apply(producer(config, purpose));
        });
    }

    Running start() {
        Progress progress = new Progress(System::nanoTime);
        Relay relay = relay(progress);
        CompletableFuture<ExitCode> end = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        end.complete(relay.run());
                    } catch (RuntimeException | Error e) {
                        end.completeExceptionally(e);
                    }
                },
                "relay-main");
        thread.start();
        Running started = new Running(relay, progress, end);
        running.add(started);
        return started;
    }

    private KafkaProducer<byte[], byte[]> producer(RelayConfig config, String purpose) {
        Map<String, Object> settings = ProducerSettings.of(config, purpose);
        settings.putAll(producerSettings);
        return new KafkaProducer<>(settings);
    }

    Connection connect() throws SQLException {
        return database.connect();
    }

    UUID insert(Connection connection, String key, String payload) throws SQLException {
        return OutboxDatabaseFixture.insert(connection, topic, key, payload.getBytes(StandardCharsets.UTF_8));
    }

    /** The payloads on the topic: ordered within each key, unordered between keys. */
    List<String> payloads() {
        List<String> payloads = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : records()) {
            payloads.add(new String(record.value(), StandardCharsets.UTF_8));
        }
        return payloads;
    }

    /** The payloads of one key on the topic, in order. */
    List<String> payloadsOf(String key) {
        return records().stream()
                .filter(record -> record.key() != null && key.equals(new String(record.key(), StandardCharsets.UTF_8)))
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }

    List<ConsumerRecord<byte[], byte[]>> records() {
        return KAFKA.readAll(topic);
    }

    long recordCount() {
        return KAFKA.endOffsets(topic).values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    void awaitRecords(long count) {
        await("records on " + topic).pollInterval(Duration.ofMillis(20)).until(() -> recordCount() >= count);
    }

    /** The number of saves so far. */
    long saves() throws SQLException {
        return number("select coalesce(max(number), 0) from outbox_position");
    }

    long number(String sql) throws SQLException {
        try (Connection connection = connect()) {
            return Long.parseLong(OutboxDatabaseFixture.query(connection, sql));
        }
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = connect()) {
            OutboxDatabaseFixture.execute(connection, sql);
        }
    }

    /** The parked events as an operator sees and changes them. */
    ParkedRows parked(Connection connection) {
        return new ParkedRows(connection, OutboxDatabaseFixture.SCHEMA, "relay");
    }

    /** How many parked rows are in this state. */
    long parkedIn(ParkedState state) throws SQLException {
        return number("select count(*) from outbox_parked where state = '" + state.sql() + "'");
    }

    void awaitParked(ParkedState state, long count) {
        await(count + " rows " + state).until(() -> parkedIn(state) == count);
    }

    void awaitNothingParked() {
        await("nothing parked").until(() -> number("select count(*) from outbox_parked") == 0);
    }

    /** Exactly-once publication needs it; {@code migrate} creates it. */
    void createPositionTopic() {
        KAFKA.createTopic(config().delivery().positionTopic(), 2);
    }

    public static void setTopic(String topic, String name, String value) throws Exception {
        ConfigResource resource = new ConfigResource(ConfigResource.Type.TOPIC, topic);
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", KAFKA.bootstrapServers()))) {
            admin.incrementalAlterConfigs(Map.of(
                            resource,
                            List.of(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET))))
                    .all()
                    .get(90, TimeUnit.SECONDS);
            await("the broker goes by it")
                    .until(() -> admin.describeConfigs(List.of(resource))
                            .all()
                            .get(90, TimeUnit.SECONDS)
                            .get(resource)
                            .get(name)
                            .value()
                            .equals(value));
        }
    }

    /** Checks that all committed events are on the topic, and per key in order of {@code seq}. */
    void assertExact() throws SQLException {
        assertExact("outbox_event");
    }

    /** @param committed a table with the committed events, for tests in which the outbox is emptied */
    void assertExact(String committed) throws SQLException {
        awaitRecords(number("select count(*) from " + committed));
        // The number of records may be reached while one is missing: another one may be repeated.
        await("the ledger").pollInterval(Duration.ofMillis(500)).untilAsserted(() -> checkLedger(committed));
    }

    private void checkLedger(String committed) throws SQLException {
        try (Connection connection = connect()) {
            Ledger.create()
                    .committed(connection, "select topic, key, id, payload from " + committed + " order by seq")
                    .published(KAFKA.bootstrapServers())
                    .assertExact();
        }
    }

    @Override
    public void close() {
        Collections.reverse(running);
        running.forEach(each -> each.relay().close());
    }
}
