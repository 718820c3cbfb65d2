package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Opens connections for the threads of one session, and ends all of them at once. For several threads. */
final class SessionConnections {
    private final OutboxDatabase database;
    private final List<Connection> connections = new ArrayList<>(); // guarded by itself
    private boolean ended; // guarded by connections

    SessionConnections(OutboxDatabase database) {
        this.database = database;
    }

    /** A connection that ends with the session. */
    Connection open() throws SQLException {
        Connection connection = database.connect();
        synchronized (connections) {
            if (ended) {
                OutboxDatabase.abort(connection);
            }
            connections.add(connection);
        }
        return connection;
    }

    /** Ends all connections, and with them every wait for an answer. */
    void abort() {
        synchronized (connections) {
            ended = true;
            connections.forEach(OutboxDatabase::abort);
        }
    }
}
