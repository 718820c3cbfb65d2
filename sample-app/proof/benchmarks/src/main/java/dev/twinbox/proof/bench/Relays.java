package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.RelayProcess;
import dev.twinbox.proof.landscape.Servers;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Starts relays for the outbox of one database, from the executable jar. */
final class Relays {

    private final Servers servers;
    private final String database;
    private final Map<String, String> config;

    Relays(Servers servers, String database) {
        this(servers, database, Map.of("twinbox.relay.kafka.compression.type", "lz4"));
    }

    private Relays(Servers servers, String database, Map<String, String> config) {
        this.servers = servers;
        this.database = database;
        this.config = config;
    }

    /** The same with one key of the configuration added or replaced. */
    Relays with(String key, String value) {
        Map<String, String> more = new HashMap<>(config);
        more.put(key, value);
        return new Relays(servers, database, more);
    }

    /**
     * Creates the outbox by the relay's {@code migrate} command, with the relay's own configuration. Its events stay for
     * ever: benchmarks publish a backlog several times, or need it as history.
     */
    void migrate() {
        Map<String, String> more = new HashMap<>(config);
        more.put("twinbox.relay.retention", "forever");
        servers.migrateOutbox(database, more);
    }

    /** Starts a relay and returns at once. */
    RelayProcess start(List<String> jvmOptions) {
        return servers.relay(servers.directly(), database)
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
