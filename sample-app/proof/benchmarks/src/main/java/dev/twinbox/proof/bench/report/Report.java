package dev.twinbox.proof.bench.report;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.proof.landscape.Machine;
import jakarta.json.Json;
import jakarta.json.JsonObject;
import jakarta.json.JsonObjectBuilder;
import jakarta.json.JsonWriter;
import jakarta.json.stream.JsonGenerator;
import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DatabaseMetaData;
import java.sql.SQLException;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.KafkaProducer;

/**
 * The result of a benchmark.
 *
 * @param name of the benchmark
 * @param figures its own fields of the JSON file
 * @param table the figures as text
 * @param plot the figures as a picture
 * @param requirements what the figures must reach at full size
 */
public record Report(String name, JsonObject figures, String table, Plot plot, List<Requirement> requirements) {

    /** A figure and its bound. */
    public record Requirement(String what, double value, Bound bound, double limit) {

        /** Which side of the limit is required. */
        public enum Bound {
            AT_LEAST(">="),
            AT_MOST("<=");

            private final String sign;

            Bound(String sign) {
                this.sign = sign;
            }
        }

        public static Requirement atLeast(String what, double value, double limit) {
            return new Requirement(what, value, Bound.AT_LEAST, limit);
        }

        public static Requirement atMost(String what, double value, double limit) {
            return new Requirement(what, value, Bound.AT_MOST, limit);
        }

        /** Whether the figure reaches its limit; never if it is not a number. */
        public boolean met() {
            return bound == Bound.AT_LEAST ? value >= limit : value <= limit;
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "%-36s %9.3f   required %s %7.3f   %s",
                    what,
                    value,
                    bound.sign,
                    limit,
                    met() ? "met" : "NOT MET");
        }
    }

    public boolean met() {
        return requirements.stream().allMatch(Requirement::met);
    }

    /**
     * Writes the figures together with machine, date, commit and versions.
     *
     * @param command that repeats the benchmark
     */
    public void write(Path file, Path root, String command) throws IOException {
        JsonObjectBuilder whole = Json.createObjectBuilder()
                .add("benchmark", name)
                .add("date", Instant.now().truncatedTo(ChronoUnit.SECONDS).toString())
                .add("command", command)
                .add("git_commit", Machine.commit(root));
        figures.forEach(whole::add);
        whole.add("kafka", kafkaVersion()).add("machine", Machine.json());
        Files.createDirectories(file.toAbsolutePath().getParent());
        try (JsonWriter writer = Json.createWriterFactory(Map.of(JsonGenerator.PRETTY_PRINTING, true))
                .createWriter(Files.newBufferedWriter(file))) {
            writer.writeObject(whole.build());
        }
        plot.write(picture(file));
    }

    /** The file of the plot, beside the figures. */
    public static Path picture(Path file) {
        return file.resolveSibling(file.getFileName().toString().replaceFirst("\\.json$", ".png"));
    }

    private static String kafkaVersion() throws IOException {
        try (InputStream file = KafkaProducer.class.getResourceAsStream("/kafka/kafka-version.properties")) {
            Properties properties = new Properties();
            properties.load(file);
            return properties.getProperty("version");
        }
    }

    /** Rounds to three digits: no run is more precise. */
    public static double rounded(double ratio) {
        return Math.round(ratio * 1_000) / 1_000.0;
    }

    public static JsonObjectBuilder object(Map<String, String> values) {
        JsonObjectBuilder object = Json.createObjectBuilder();
        new TreeMap<>(values).forEach(object::add);
        return object;
    }

    /** Versions of database and driver, and the settings of the server. */
    public static JsonObjectBuilder postgres(PostgresServer server, String database, Map<String, String> settings)
            throws SQLException {
        try (Connection connection = server.connect(database)) {
            DatabaseMetaData metaData = connection.getMetaData();
            return object(settings)
                    .add("version", metaData.getDatabaseProductVersion())
                    .add("driver", metaData.getDriverVersion());
        }
    }
}
