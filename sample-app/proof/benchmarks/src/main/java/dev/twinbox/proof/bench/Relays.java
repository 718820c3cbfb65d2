package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.proof.landscape.BuiltFile;
import dev.twinbox.proof.landscape.Servers;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Starts relays for the outbox of one database, from the executable jar. */
final class Relays {

    private final Servers servers;
    private final Path jar;
    private final String database;
    private final Map<String, String> config;

    Relays(Servers servers, String database) {
        this(servers, servers.installation().file(BuiltFile.RELAY), database);
    }

    /** @param jar the executable jar of a relay, perhaps of another version */
    Relays(Servers servers, Path jar, String database) {
        this(servers, jar, database, Map.of("twinbox.relay.kafka.compression.type", "lz4"));
    }

    private Relays(Servers servers, Path jar, String database, Map<String, String> config) {
        this.servers = servers;
        this.jar = jar;
        this.database = database;
        this.config = config;
    }

    /** The same with one key of the configuration added or replaced. */
    Relays with(String key, String value) {
        Map<String, String> more = new HashMap<>(config);
        more.put(key, value);
        return new Relays(servers, jar, database, more);
    }

    /**
     * Creates the outbox by the relay's {@code migrate} command, with the relay's own configuration. Its events stay for
     * ever: benchmarks publish a backlog several times, or need it as history.
     */
    void migrate() {
        Map<String, String> more = new HashMap<>(config);
        more.put("twinbox.relay.retention", "forever");
        servers.migrateOutbox(jar, database, more);
    }

    /** Starts a relay and returns at once. */
    RelayProcess start(List<String> jvmOptions) {
        return servers.relay(jar, servers.directly(), database)
                .config(config)
                .jvmOptions(jvmOptions.toArray(String[]::new))
                .build()
                .start();
    }

    /** Stops a relay and waits for a clean end. */
    static void stop(RelayProcess relay) {
        int exitCode = relay.terminate();
        if (exitCode != 0) {
            throw new InvalidRunException("the relay ended with exit code " + exitCode + ":\n" + relay.log());
        }
    }

    /** Resets the position: the next relay sends everything again. */
    void forgetPosition() throws SQLException {
        try (Connection connection = servers.postgres().connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute("truncate outbox_position, outbox_lease");
            statement.execute("checkpoint");
        }
    }
}
