package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RelayProcess;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Starts relays, from the executable jar, of the outbox of one database. */
final class Relays {

    private final Path jar;
    private final PostgresServer postgres;
    private final String database;
    private final Map<String, String> config;

    Relays(Path jar, PostgresServer postgres, String database, String bootstrapServers) {
        this(
                jar,
                postgres,
                database,
                Map.of(
                        "twinbox.relay.database.url", postgres.jdbcUrl(database),
                        "twinbox.relay.database.user", postgres.user(),
                        "twinbox.relay.database.password", postgres.password(),
                        "twinbox.relay.kafka.bootstrap.servers", bootstrapServers,
                        "twinbox.relay.kafka.compression.type", "lz4"));
    }

    private Relays(Path jar, PostgresServer postgres, String database, Map<String, String> config) {
        this.jar = jar;
        this.postgres = postgres;
        this.database = database;
        this.config = config;
    }

    /** The same with one more, or another, key of the configuration. */
    Relays with(String key, String value) {
        Map<String, String> more = new HashMap<>(config);
        more.put(key, value);
        return new Relays(jar, postgres, database, more);
    }

    /**
     * Creates the outbox as an operator does. Nothing is removed from it: a backlog that is published several times, or is to be a
     * history, must not go when the hour is full.
     */
    void migrate() {
        try (RelayProcess migrate = RelayProcess.builder(jar)
                .config(config)
                .config("twinbox.relay.retention", "forever")
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

    /** Returns at once. */
    RelayProcess start(List<String> jvmOptions) {
        return RelayProcess.builder(jar)
                .config(config)
                .jvmOptions(jvmOptions.toArray(String[]::new))
                .build()
                .start();
    }

    /** Waits for a clean end. */
    static void stop(RelayProcess relay) {
        int exitCode = relay.terminate();
        if (exitCode != 0) {
            throw new InvalidRunException("the relay ended with exit code " + exitCode + ":\n" + relay.log());
        }
    }

    /** The next relay believes that nothing was ever sent. */
    void forgetPosition() throws SQLException {
        try (Connection connection = postgres.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute("truncate outbox_position, outbox_lease");
            statement.execute("checkpoint");
        }
    }
}
