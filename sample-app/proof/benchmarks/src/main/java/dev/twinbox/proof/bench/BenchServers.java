package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.KafkaBroker;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.proof.bench.report.Console;
import dev.twinbox.proof.bench.report.Report;
import dev.twinbox.proof.landscape.Installation;
import dev.twinbox.proof.landscape.Servers;
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

/** The servers of one benchmark: one PostgreSQL server with one database, one broker, and a folder for files. */
final class BenchServers implements AutoCloseable {

    static final String DATABASE = "bench";

    private static final Map<String, String> SETTINGS =
            Map.of("fsync", "on", "synchronous_commit", "on", "shared_buffers", "1GB", "max_wal_size", "8GB");

    private final Map<String, String> settings;
    private final Servers servers;
    private final Topics topics;
    private final Deadline deadline;
    private final Path folder;

    private BenchServers(Map<String, String> settings, Servers servers, Deadline deadline) throws IOException {
        this.settings = settings;
        this.servers = servers;
        this.topics = new Topics(servers.bootstrapServers(), deadline);
        this.deadline = deadline;
        this.folder = Files.createTempDirectory("twinbox-bench");
    }

    static BenchServers start(Installation files, Deadline deadline) throws SQLException, IOException {
        return start(files, Map.of(), deadline);
    }

    /** @param more settings of PostgreSQL beside the usual ones */
    static BenchServers start(Installation files, Map<String, String> more, Deadline deadline)
            throws SQLException, IOException {
        Console.say("starting PostgreSQL and Kafka");
        Map<String, String> settings = new TreeMap<>(SETTINGS);
        settings.putAll(more);
        Servers servers = Servers.of(files, 1);
        settings.forEach(servers.postgres()::withSetting);
        servers.kafka()
                .withMaxHeap("1g")
                // A topic that keeps only its newest records is to be truncated while it is written.
                .withSetting("log.retention.check.interval.ms", "5000");
        try {
            servers.start();
            servers.postgres().createDatabase(DATABASE);
            return new BenchServers(settings, servers, deadline);
        } catch (SQLException | IOException | RuntimeException | Error e) {
            servers.close();
            throw e;
        }
    }

    /** The servers themselves, to start relays and applications on them. */
    Servers servers() {
        return servers;
    }

    PostgresServer postgres() {
        return servers.postgres();
    }

    KafkaBroker kafka() {
        return servers.kafka();
    }

    String bootstrapServers() {
        return servers.bootstrapServers();
    }

    Topics topics() {
        return topics;
    }

    /** For files of this benchmark. */
    Path folder() {
        return folder;
    }

    Relays relays() {
        return new Relays(servers, DATABASE);
    }

    /** Empties the database by creating it anew. Nobody may be connected. */
    void recreateDatabase() throws SQLException {
        try (Connection connection = postgres().connect("postgres");
                Statement statement = connection.createStatement()) {
            statement.execute("drop database " + DATABASE);
        }
        postgres().createDatabase(DATABASE);
    }

    Connection connect() throws SQLException {
        return postgres().connect(DATABASE);
    }

    /** Runs a statement, at most until the benchmark's time is over. */
    void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.setQueryTimeout((int) Math.max(1, deadline.remaining(sql).toSeconds()));
            statement.execute(sql);
        }
    }

    /** Versions and settings of PostgreSQL, for a report. */
    JsonObjectBuilder postgresJson() throws SQLException {
        return Report.postgres(postgres(), DATABASE, settings);
    }

    @Override
    public void close() throws IOException {
        try {
            topics.close();
            servers.close();
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
