package dev.twinbox.sample.bench;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.sample.demo.Installation;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerConfig;

/**
 * How much of a bare Kafka producer's rate is left when the same events come out of the outbox through the relay.
 *
 * <p>Both sides send the same records with the same producer settings, each time from a fresh JVM to a fresh topic, in turns.
 */
final class RelayBenchmark implements Benchmark {

    private static final int ROUNDS = 3;
    private static final int KEYS = 10_000;
    private static final int PARTITIONS = 8;
    private static final String TOPIC = "bench-relay";
    private static final String DATABASE = "bench";
    private static final String PRODUCER = "producer alone";
    private static final String RELAY = "relay";
    /** The bare producer holds the whole workload: a heap that has to grow, or is half full, would make it collect while it is timed. */
    private static final List<String> JVM_OPTIONS = List.of("-Xms2g", "-Xmx2g");

    private static final Map<String, String> POSTGRES_SETTINGS =
            Map.of("fsync", "on", "synchronous_commit", "on", "shared_buffers", "1GB", "max_wal_size", "8GB");
    private static final double REQUIRED_RATIO = 0.65;
    /** Makes Kafka's client print the settings it runs with, in the one relay that is not measured. */
    private static final String PRINT_SETTINGS = """
            <configuration>
              <appender name="OUT" class="ch.qos.logback.core.ConsoleAppender"><encoder><pattern>%msg%n</pattern></encoder></appender>
              <root level="INFO"><appender-ref ref="OUT"/></root>
            </configuration>
            """;

    private final Installation files;
    private final Workload workload;
    private final Deadline deadline;
    private final Runs runs = new Runs();

    RelayBenchmark(Installation files, int rows, Deadline deadline) {
        this.files = files;
        this.workload = new Workload(rows, KEYS, 1);
        this.deadline = deadline;
    }

    @Override
    public Report run() throws SQLException, IOException, InterruptedException {
        Path folder = Files.createTempDirectory("twinbox-bench");
        PostgresServer postgres = PostgresServer.create();
        POSTGRES_SETTINGS.forEach(postgres::withSetting);
        try (postgres;
                KafkaBroker kafka = KafkaBroker.create().withMaxHeap("1g")) {
            Console.say("starting PostgreSQL and Kafka");
            postgres.start();
            kafka.start();
            postgres.createDatabase(DATABASE);
            try (Topics topics = new Topics(kafka.bootstrapServers(), deadline)) {
                return measure(postgres, kafka, topics, folder);
            }
        } finally {
            delete(folder);
        }
    }

    private Report measure(PostgresServer postgres, KafkaBroker kafka, Topics topics, Path folder)
            throws SQLException, IOException, InterruptedException {
        RelaySide relay = new RelaySide(files.relay(), postgres, DATABASE, kafka.bootstrapServers());
        relay.migrate();
        Map<String, String> settings = producerSettings(relay, postgres, kafka, topics, folder);
        BareProducerSide producer = new BareProducerSide(workload, TOPIC, settings, JVM_OPTIONS, folder);
        load(postgres, workload);

        double load = Machine.load();
        for (int round = 1; round <= ROUNDS; round++) {
            topics.recreate(TOPIC, PARTITIONS);
            Duration bare = producer.run(deadline);
            requireLonger(PRODUCER, bare, check(kafka));
            runs.add(PRODUCER, round, workload.events(), bare);

            topics.recreate(TOPIC, PARTITIONS);
            Duration took = relay.run(workload.events(), JVM_OPTIONS, deadline);
            requireLonger(RELAY, took, check(kafka));
            runs.add(RELAY, round, workload.events(), took);
        }
        return report(postgres, settings, load);
    }

    /** Asks a relay that sends one event; it is not measured, and leaves an empty outbox. */
    private Map<String, String> producerSettings(
            RelaySide relay, PostgresServer postgres, KafkaBroker kafka, Topics topics, Path folder)
            throws SQLException, IOException {
        Console.say("asking the relay for its producer settings");
        topics.create(TOPIC, PARTITIONS);
        load(postgres, new Workload(1, KEYS, 0));
        Path logging = Files.writeString(folder.resolve("logback.xml"), PRINT_SETTINGS);
        try (RelayProcess asked = relay.start(List.of("-Dlogback.configurationFile=" + logging))) {
            deadline.await(
                    "the first event of the relay",
                    Duration.ofMillis(100),
                    () -> topics.records(TOPIC, PARTITIONS) == 1);
            asked.terminate();
            Map<String, String> settings = ProducerSettings.in(asked.log());
            // A list, which the log shows in brackets.
            settings.put(ProducerConfig.BOOTSTRAP_SERVERS_CONFIG, kafka.bootstrapServers());
            // Bounds a wait, costs no time. The relay tries again after it; the bare producer would give up.
            settings.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, "60000");
            return settings;
        } finally {
            try (Connection connection = postgres.connect(DATABASE);
                    Statement statement = connection.createStatement()) {
                statement.execute("truncate outbox_event");
            }
        }
    }

    private static void load(PostgresServer postgres, Workload workload) throws SQLException, IOException {
        Console.say(String.format(
                Locale.ROOT, "loading %,d committed rows of %d bytes", workload.events(), Workload.PAYLOAD_BYTES));
        try (Connection connection = postgres.connect(DATABASE)) {
            OutboxBacklog.load(connection, workload, TOPIC);
        }
    }

    private Duration check(KafkaBroker kafka) {
        return TopicCheck.check(kafka.bootstrapServers(), TOPIC, workload, deadline);
    }

    /** The records themselves bear witness: they were handed to the producer within the time that the side reports. */
    private static void requireLonger(String side, Duration reported, Duration span) {
        if (reported.compareTo(span) < 0) {
            throw new InvalidRunException(side + " reports " + reported.toMillis()
                    + " ms up to the last acknowledgement, but the timestamps of its records are " + span.toMillis()
                    + " ms apart");
        }
    }

    private Report report(PostgresServer postgres, Map<String, String> settings, double load) throws SQLException {
        double producerRate = runs.median(PRODUCER);
        double relayRate = runs.median(RELAY);
        double ratio = relayRate / producerRate;
        JsonObject figures = Json.createObjectBuilder()
                .add("producer_per_s", Math.round(producerRate))
                .add("relay_per_s", Math.round(relayRate))
                .add("ratio", Report.rounded(ratio))
                .add("ratio_required", REQUIRED_RATIO)
                .add("runs", runs.json())
                .add("rows", workload.events())
                .add("payload_bytes", Workload.PAYLOAD_BYTES)
                .add("record_bytes", EventRecord.of(workload, 0).bytes())
                .add("keys", KEYS)
                .add("partitions", PARTITIONS)
                .add("jvm_options", String.join(" ", JVM_OPTIONS))
                .add("producer_settings", Report.object(ProducerSettings.chosen(settings)))
                .add("postgresql", Report.postgres(postgres, DATABASE, POSTGRES_SETTINGS))
                .add("load_before", load)
                .build();
        return new Report(
                "relay",
                figures,
                runs.table(),
                List.of(new Report.Requirement("relay / producer", ratio, REQUIRED_RATIO)));
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
