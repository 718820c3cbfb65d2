package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.proof.landscape.Installation;
import jakarta.json.JsonObjectBuilder;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Comparator;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** The PostgreSQL server and the Kafka broker of one benchmark, with one database, and a folder that goes with them. */
final class Servers implements AutoCloseable {

    static final String DATABASE = "bench";

    private static final Map<String, String> SETTINGS =
            Map.of("fsync", "on", "synchronous_commit", "on", "shared_buffers", "1GB", "max_wal_size", "8GB");

    private final Map<String, String> settings;
    private final PostgresServer postgres;
    private final KafkaBroker kafka;
    private final Topics topics;
    private final Deadline deadline;
    private final Path folder;

    private Servers(Map<String, String> settings, PostgresServer postgres, KafkaBroker kafka, Deadline deadline)
            throws IOException {
        this.settings = settings;
        this.postgres = postgres;
        this.kafka = kafka;
        this.topics = new Topics(kafka.bootstrapServers(), deadline);
        this.deadline = deadline;
        this.folder = Files.createTempDirectory("twinbox-bench");
    }

    static Servers start(Deadline deadline) throws SQLException, IOException {
        return start(Map.of(), deadline);
    }

    /** @param more settings of PostgreSQL beside the usual ones */
    static Servers start(Map<String, String> more, Deadline deadline) throws SQLException, IOException {
        Console.say("starting PostgreSQL and Kafka");
        Map<String, String> settings = new TreeMap<>(SETTINGS);
        settings.putAll(more);
        PostgresServer postgres = PostgresServer.create();
        settings.forEach(postgres::withSetting);
        KafkaBroker kafka = KafkaBroker.create()
                .withMaxHeap("1g")
                // A topic that keeps only its newest records is to be cut while it is written.
                .withSetting("log.retention.check.interval.ms", "5000");
        try {
            postgres.start();
            kafka.start();
            postgres.createDatabase(DATABASE);
            return new Servers(settings, postgres, kafka, deadline);
        } catch (SQLException | IOException | RuntimeException | Error e) {
            kafka.close();
            postgres.close();
            throw e;
        }
    }

    PostgresServer postgres() {
        return postgres;
    }

    KafkaBroker kafka() {
        return kafka;
    }

    String bootstrapServers() {
        return kafka.bootstrapServers();
    }

    Topics topics() {
        return topics;
    }

    /** For files of this benchmark. */
    Path folder() {
        return folder;
    }

    Relays relays(Installation files) {
        return new Relays(files.relay(), postgres, DATABASE, bootstrapServers());
    }

    Connection connect() throws SQLException {
        return postgres.connect(DATABASE);
    }

    /** Ends with the benchmark's time at the latest. */
    void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.setQueryTimeout((int) Math.max(1, deadline.remaining(sql).toSeconds()));
            statement.execute(sql);
        }
    }

    /** Versions and settings of PostgreSQL, for a report. */
    JsonObjectBuilder postgresJson() throws SQLException {
        return Report.postgres(postgres, DATABASE, settings);
    }

    @Override
    public void close() throws IOException {
        try {
            topics.close();
            kafka.close();
            postgres.close();
        } finally {
            delete(folder);
        }
    }

    private static void delete(Path folder) throws IOException {
        try (Stream<Path> files = Files.walk(folder)) {
            for (Path file : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(file);
            }
        }
    }
}
