package dev.twinbox.proof.bench;

import java.io.File;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Embedded Debezium with its outbox event router, on a table of its own. It reads the write-ahead log after a
 * replication slot. So the slot and its offset are created before the backlog is loaded, and each run gets a copy of
 * both.
 */
final class DebeziumSide implements PublishingSide {

    static final String LABEL = "debezium";

    private static final String MAIN_CLASS = "dev.twinbox.proof.bench.debezium.DebeziumMain";
    /** The name that DebeziumMain reads. */
    private static final String PASSWORD = "BENCH_DATABASE_PASSWORD";

    private static final String MARKER_TOPIC = "bench-debezium-marker";
    private static final String FIRST_SLOT = "bench_debezium";
    private static final String RUN_SLOT = "bench_debezium_run";

    private static final String IS_STREAMING = """
            -- bench: does Debezium stream
            select count(*) from pg_replication_slots where slot_name = 'bench_debezium' and active""";

    private static final String COPY_SLOT = """
            -- bench: put Debezium back to before the backlog
            select pg_copy_logical_replication_slot('bench_debezium', 'bench_debezium_run')""";

    private static final String DROP_SLOT = """
            -- bench: drop the slot of the last run
            select pg_drop_replication_slot(slot_name) from pg_replication_slots where slot_name = 'bench_debezium_run'""";

    private static final Map<String, String> ROUTER = Map.of(
            "transforms",
            "outbox",
            "transforms.outbox.type",
            "io.debezium.transforms.outbox.EventRouter",
            "transforms.outbox.route.topic.replacement",
            "${routedByValue}",
            "transforms.outbox.table.fields.additional.placement",
            "type:header:ce_type,source:header:ce_source,occurred_at:header:ce_time,content_type:header:content-type");

    private final BenchServers servers;
    private final long events;
    private final Path firstOffsets;
    private final Path runOffsets;
    private final Path producerSettings;
    private final JavaProgram program;

    /** @param jar the file {@code class-path} beside it has its class path */
    DebeziumSide(
            BenchServers servers, Path jar, long events, Map<String, String> producerSettings, List<String> jvmOptions)
            throws IOException {
        this.servers = servers;
        this.events = events;
        this.firstOffsets = servers.folder().resolve("debezium-offsets");
        this.runOffsets = servers.folder().resolve("debezium-offsets-run");
        this.producerSettings = servers.folder().resolve("debezium-producer.properties");
        ProducerSettings.write(producerSettings, this.producerSettings);
        String classPath = jar
                + File.pathSeparator
                + Files.readString(jar.resolveSibling("class-path")).trim();
        this.program = new JavaProgram(
                "debezium",
                classPath,
                MAIN_CLASS,
                jvmOptions,
                Map.of(PASSWORD, servers.postgres().password()),
                servers.folder());
    }

    /** Creates the table, lets Debezium create its slot, then loads the backlog. */
    void load(Workload workload, String topic, Deadline deadline)
            throws SQLException, IOException, InterruptedException {
        servers.execute(EventTable.DEBEZIUM.ddl());
        servers.topics().create(MARKER_TOPIC, 1);
        String settings = settings("debezium-first.properties", FIRST_SLOT, firstOffsets);
        try (JavaProgram.Running first = program.start(settings, producerSettings.toString(), "1")) {
            deadline.await("Debezium's slot", Duration.ofMillis(100), () -> {
                first.requireAlive();
                return isStreaming();
            });
            try (Connection connection = servers.connect()) {
                OutboxBacklog.load(connection, EventTable.DEBEZIUM, new Workload(1, 1, 0), MARKER_TOPIC);
            }
            first.awaitExit(deadline);
            first.result();
        }
        servers.execute("truncate debezium_outbox");
        try (Connection connection = servers.connect()) {
            OutboxBacklog.load(connection, EventTable.DEBEZIUM, workload, topic);
        }
    }

    private boolean isStreaming() {
        try (Connection connection = servers.connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(IS_STREAMING)) {
            return row.next() && row.getInt(1) == 1;
        } catch (SQLException e) {
            throw new InvalidRunException("cannot ask for Debezium's slot", e);
        }
    }

    @Override
    public String label() {
        return LABEL;
    }

    @Override
    public void prepare() throws SQLException, IOException {
        servers.execute(DROP_SLOT);
        servers.execute(COPY_SLOT);
        Files.copy(firstOffsets, runOffsets, StandardCopyOption.REPLACE_EXISTING);
        servers.execute("checkpoint");
    }

    @Override
    public Timed run(Deadline deadline) throws IOException, InterruptedException {
        return program.run(
                deadline,
                settings("debezium-run.properties", RUN_SLOT, runOffsets),
                producerSettings.toString(),
                Long.toString(events));
    }

    /** Writes the settings to a file and returns it. Batches are larger than Debezium's defaults, for speed. */
    private String settings(String file, String slot, Path offsets) throws IOException {
        Map<String, String> settings = new HashMap<>(ROUTER);
        settings.putAll(Map.of(
                "name", "bench",
                "connector.class", "io.debezium.connector.postgresql.PostgresConnector",
                "offset.storage", "org.apache.kafka.connect.storage.FileOffsetBackingStore",
                "offset.storage.file.filename", offsets.toString(),
                "offset.flush.interval.ms", "1000",
                "max.batch.size", "8192",
                "max.queue.size", "32768",
                "poll.interval.ms", "20"));
        settings.putAll(Map.of(
                "topic.prefix", "bench",
                "plugin.name", "pgoutput",
                "slot.name", slot,
                "publication.name", "bench_debezium",
                "publication.autocreate.mode", "filtered",
                "table.include.list", "public." + EventTable.DEBEZIUM.table(),
                "snapshot.mode", "no_data"));
        settings.putAll(Map.of(
                "database.hostname",
                "127.0.0.1",
                "database.port",
                Integer.toString(servers.postgres().port()),
                "database.user",
                servers.postgres().user(),
                "database.dbname",
                BenchServers.DATABASE));
        Path written = servers.folder().resolve(file);
        ProducerSettings.write(settings, written);
        return written.toString();
    }
}
