package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.Ledger;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.relay.log.Logging;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.Retention;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * The environment of a scenario. PostgreSQL and Kafka are started once for all tests of this JVM. Each test gets a
 * database with the outbox tables, a topic, and relays as child processes from the real jar.
 */
public final class RelayRig implements AutoCloseable {
    static final PostgresServer POSTGRES = PostgresServer.create().withSetting("max_connections", "300");
    public static final KafkaBroker KAFKA = KafkaBroker.create().withJvmOptions("-XX:TieredStopAtLevel=1");

    private static final Path JAR = Path.of("target", "twinbox-relay.jar");
    private static final AtomicInteger COUNT = new AtomicInteger();
    private static String sharedClasses;

    private final String name = "rig" + COUNT.incrementAndGet();
    private final OutboxSchema tables;
    private final List<AutoCloseable> open = new ArrayList<>();

    private RelayRig(OutboxSchema tables) {
        this.tables = tables;
        POSTGRES.start();
        KAFKA.start();
        KAFKA.createTopic(topic(), 3);
    }

    /** With the tables of the default names, in the default schema. */
    static RelayRig create() throws SQLException {
        RelayRig rig = new RelayRig(OutboxDatabaseFixture.SCHEMA);
        OutboxDatabaseFixture.createDatabase(POSTGRES, rig.name);
        return rig;
    }

    /** For a test that creates the tables itself. */
    static RelayRig withoutTables(OutboxSchema tables) throws SQLException {
        RelayRig rig = new RelayRig(tables);
        POSTGRES.createDatabase(rig.name);
        return rig;
    }

    void migrate() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(POSTGRES.jdbcUrl(name));
        source.setUser(POSTGRES.user());
        source.setPassword(POSTGRES.password());
        tables.migrate(source);
        tables.retain(source, Retention.FOREVER); // Sent events are compared with the table, also after a full hour.
    }

    String database() {
        return name;
    }

    String topic() {
        return "events-" + name;
    }

    OutboxSchema tables() {
        return tables;
    }

    /** The configuration of each relay of this rig, which the test may change. */
    Map<String, String> config() {
        Map<String, String> config = new LinkedHashMap<>();
        config.put("twinbox.relay.database.url", POSTGRES.jdbcUrl(name));
        config.put("twinbox.relay.database.user", POSTGRES.user());
        config.put("twinbox.relay.database.password", POSTGRES.password());
        config.put("twinbox.relay.kafka.bootstrap.servers", KAFKA.bootstrapServers());
        // With this lease, a machine that stalls for some seconds costs no relay its lease in tests of other things.
        config.put("twinbox.relay.lease", "PT30S");
        return config;
    }

    /** A relay that is not started yet and ends with this rig. */
    RelayProcess relay(Map<String, String> changes, String... arguments) {
        return relay("256m", changes, arguments);
    }

    /**
     * As {@link #relay(Map, String...)}, with another heap limit.
     *
     * @param maxHeap as after {@code -Xmx}
     */
    RelayProcess relay(String maxHeap, Map<String, String> changes, String... arguments) {
        Map<String, String> config = config();
        config.putAll(changes);
        RelayProcess.Builder builder = RelayProcess.builder(JAR)
                .config(config)
                .jvmOptions("-Xmx" + maxHeap, "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", sharedClasses());
        if (arguments.length > 0) {
            builder.arguments(arguments);
        }
        RelayProcess relay = builder.build();
        open.add(relay);
        return relay;
    }

    /**
     * The JVM option for class data sharing (JEP 350). It saves two fifths of the CPU time of a start, and these tests
     * start a hundred relays. The first relay of this JVM writes the archive.
     */
    private static synchronized String sharedClasses() {
        if (sharedClasses == null) {
            // A JVM that runs at the same time starts relays of its own.
            Path archive = Path.of("target", "relay-" + ProcessHandle.current().pid() + ".jsa")
                    .toAbsolutePath();
            sharedClasses = "-XX:ArchiveClassesAtExit=" + archive;
            try (RelayRig rig = create()) {
                Files.deleteIfExists(archive);
                archive.toFile().deleteOnExit();
                RelayProcess first = rig.startRelay(Map.of());
                rig.insertAndCommit(1);
                rig.awaitRecords(1);
                first.terminate();
            } catch (SQLException | IOException e) {
                throw new IllegalStateException(e);
            }
            sharedClasses = "-XX:SharedArchiveFile=" + archive;
        }
        return sharedClasses;
    }

    /** Starts a relay and waits until it is ready. */
    RelayProcess startRelay(Map<String, String> changes) {
        return relay(changes).start().awaitReady();
    }

    /**
     * The output of a command of the jar that ends with 0. It runs in this JVM, because another JVM takes seconds to
     * start.
     */
    String command(Map<String, String> changes, String... arguments) {
        Map<String, String> config = config();
        config.putAll(changes);
        Properties file = new Properties();
        file.putAll(config);
        StringWriter printed = new StringWriter();
        // With this setting the command does not change the logging of the tests.
        System.setProperty(Logging.OPERATORS_FILE, "logback-test.xml");
        try {
            Path path = Files.createTempFile("relay", ".properties");
            try (OutputStream out = Files.newOutputStream(path)) {
                file.store(out, null);
            }
            List<String> all = new ArrayList<>(List.of(arguments));
            all.addAll(List.of("--config", path.toString()));
            PrintWriter out = new PrintWriter(printed, true);
            int code = RelayMain.commandLine().setOut(out).setErr(out).execute(all.toArray(String[]::new));
            Files.delete(path);
            assertThat(code).as(printed.toString()).isZero();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return printed.toString();
    }

    /** A connection of the superuser, in auto-commit; the caller closes it. */
    Connection connect() throws SQLException {
        return POSTGRES.connect(name);
    }

    /** Writes one event in the connection's transaction. */
    UUID insert(Connection connection, String key) throws SQLException {
        return insert(connection, tables, key);
    }

    /** As {@link #insert(Connection, String)}, into an outbox with other names. */
    UUID insert(Connection connection, OutboxSchema into, String key) throws SQLException {
        UUID id = UUID.randomUUID();
        String sql =
                "insert into " + into.events() + " (id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " values (?, ?, ?, 'test.happened', '/test', clock_timestamp(), 'text/plain', ?)";
        try (PreparedStatement insert = connection.prepareStatement(sql)) {
            insert.setObject(1, id);
            insert.setString(2, topic());
            insert.setString(3, key);
            insert.setBytes(4, id.toString().getBytes(StandardCharsets.UTF_8));
            insert.executeUpdate();
        }
        return id;
    }

    /** Writes and commits events, one transaction each, spread over ten keys. */
    void insertAndCommit(int events) throws SQLException {
        try (Connection connection = connect()) {
            for (int i = 0; i < events; i++) {
                insert(connection, "key" + i % 10);
            }
        }
    }

    long count(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** How often the lease of the relay with the default name was taken. */
    long epoch() throws SQLException {
        return count("select coalesce(max(epoch), 0) from " + tables.lease());
    }

    /**
     * The relay that has the lease. An owner takes it again after each failure, so only the current epoch identifies
     * it.
     */
    RelayProcess owner(List<RelayProcess> relays) {
        RelayProcess[] found = new RelayProcess[1];
        await("an owner").until(() -> {
            String taken = ".*Took the lease of relay \"[^\"]+\", epoch " + epoch() + "( .*)?";
            for (RelayProcess relay : relays) {
                found[0] = relay.log().lines().anyMatch(line -> line.matches(taken)) ? relay : found[0];
            }
            return found[0] != null;
        });
        return found[0];
    }

    /** Number of positions saved by the relay with the default name. */
    long saves() throws SQLException {
        return count("select coalesce(max(number), 0) from " + tables.position());
    }

    List<ConsumerRecord<byte[], byte[]>> records() {
        return KAFKA.readAll(topic());
    }

    /** Records on the topic, repeated ones included. */
    long recordCount() {
        return KAFKA.endOffsets(topic()).values().stream()
                .mapToLong(Long::longValue)
                .sum();
    }

    void awaitRecords(long atLeast) {
        await("records on " + topic()).pollInterval(Duration.ofMillis(100)).until(() -> recordCount() >= atLeast);
    }

    static String id(ConsumerRecord<byte[], byte[]> record) {
        return new String(record.headers().lastHeader("ce_id").value(), StandardCharsets.UTF_8);
    }

    /** The ids on the topic, each at its first appearance: ordered within each key, unordered between keys. */
    List<String> firstAppearances() {
        return records().stream().map(RelayRig::id).distinct().toList();
    }

    /** Waits until all committed events are in Kafka, and checks that nothing else is, in order and complete. */
    void assertExact() throws SQLException {
        awaitRecords(count("select count(*) from " + tables.events()));
        // The number of records may be reached while one is missing: another one may be repeated.
        await("the ledger").pollInterval(Duration.ofMillis(500)).untilAsserted(this::checkLedger);
    }

    private void checkLedger() throws SQLException {
        try (Connection connection = connect()) {
            Ledger.create()
                    .committed(connection, "select topic, key, id, payload from " + tables.events() + " order by seq")
                    .published(KAFKA.bootstrapServers())
                    .assertExact();
        }
    }

    @Override
    public void close() {
        for (AutoCloseable each : open) {
            try {
                each.close();
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
        }
    }
}
