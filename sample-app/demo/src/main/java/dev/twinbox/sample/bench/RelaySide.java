package dev.twinbox.sample.bench;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;

/**
 * The measured side of the relay benchmark: the relay from its executable jar in a fresh JVM, started on a position that says
 * nothing was sent yet. Its two moments come from the relay's own metrics, which it takes on one monotonic clock.
 */
final class RelaySide {

    /** Before the first poll goes to the database, in seconds since the process started. */
    private static final String FIRST_READ = "twinbox_relay_first_read_seconds";
    /** When the latest acknowledgement came, in seconds since the process started. */
    private static final String LAST_ACKNOWLEDGEMENT = "twinbox_relay_last_ack_seconds";
    /** How many events the broker has acknowledged. */
    private static final String ACKNOWLEDGED = "twinbox_relay_acknowledged_total";

    private static final Duration SCRAPE = Duration.ofMillis(250);

    private final Path jar;
    private final PostgresServer postgres;
    private final String database;
    private final Map<String, String> config;
    private final HttpClient http = HttpClient.newHttpClient();

    RelaySide(Path jar, PostgresServer postgres, String database, String bootstrapServers) {
        this.jar = jar;
        this.postgres = postgres;
        this.database = database;
        this.config = Map.of(
                "twinbox.relay.database.url", postgres.jdbcUrl(database),
                "twinbox.relay.database.user", postgres.user(),
                "twinbox.relay.database.password", postgres.password(),
                "twinbox.relay.kafka.bootstrap.servers", bootstrapServers,
                "twinbox.relay.kafka.compression.type", "lz4");
    }

    /** Creates the outbox as an operator does. */
    void migrate() {
        try (RelayProcess migrate = RelayProcess.builder(jar)
                .config(config)
                .arguments("migrate")
                .build()
                .start()) {
            int exitCode = migrate.awaitExit(Duration.ofSeconds(60));
            if (exitCode != 0) {
                throw new InvalidRunException(
                        "the relay's migrate ended with exit code " + exitCode + ":\n" + migrate.log());
            }
        }
    }

    /**
     * Publishes the whole backlog.
     *
     * @return from the relay's first read to its last acknowledgement
     */
    Duration run(long events, List<String> jvmOptions, Deadline deadline) throws SQLException {
        forgetPosition();
        try (RelayProcess relay = start(jvmOptions)) {
            awaitAcknowledged(relay, events, deadline);
            List<String> metrics = scrape(relay);
            int exitCode = relay.terminate();
            if (exitCode != 0) {
                throw new InvalidRunException("the relay ended with exit code " + exitCode + ":\n" + relay.log());
            }
            return seconds(metrics, LAST_ACKNOWLEDGEMENT).minus(seconds(metrics, FIRST_READ));
        }
    }

    RelayProcess start(List<String> jvmOptions) {
        return RelayProcess.builder(jar)
                .config(config)
                .jvmOptions(jvmOptions.toArray(String[]::new))
                .build()
                .start();
    }

    private void forgetPosition() throws SQLException {
        try (Connection connection = postgres.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute("truncate outbox_position, outbox_lease");
            statement.execute("checkpoint");
        }
    }

    private void awaitAcknowledged(RelayProcess relay, long events, Deadline deadline) {
        deadline.await("the relay's last acknowledgement", SCRAPE, () -> {
            if (!relay.isAlive()) {
                throw new InvalidRunException("the relay ended by itself:\n" + relay.log());
            }
            List<String> metrics = scrape(relay);
            return !metrics.isEmpty() && value(metrics, ACKNOWLEDGED) >= events;
        });
    }

    /** No lines while the relay does not answer yet. */
    private List<String> scrape(RelayProcess relay) {
        URI uri = relay.uri("/metrics");
        try {
            HttpResponse<String> response = http.send(
                    HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(5)).build(),
                    HttpResponse.BodyHandlers.ofString());
            return response.statusCode() == 200 ? Arrays.asList(response.body().split("\n")) : List.of();
        } catch (IOException e) {
            return List.of();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new InvalidRunException("interrupted while asking " + uri, e);
        }
    }

    private static Duration seconds(List<String> metrics, String name) {
        return Duration.ofNanos(Math.round(value(metrics, name) * 1e9));
    }

    private static double value(List<String> metrics, String name) {
        return metrics.stream()
                .filter(line -> line.startsWith(name + " ") || line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElseThrow(() -> new InvalidRunException("the relay's /metrics has no " + name));
    }
}
