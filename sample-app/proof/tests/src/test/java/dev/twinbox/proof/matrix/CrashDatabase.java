package dev.twinbox.proof.matrix;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** The database of the crash application: its inbox, its effects, and whether its handlers refuse events. */
final class CrashDatabase {
    static final String EFFECTS = "select count(*) from effect where event_id = ?";
    private static final String CLAIMS = "select count(*) from inbox_event where event_id = ?";
    private static final String BEGUN = "select count(*) from inbox_parked where state = 'begun' and event_id = ?";
    static final String PARKED = "select count(*) from inbox_parked where state <> 'begun' and event_id = ?";
    static final String ALL_PARKED = "select count(*) from inbox_parked";

    private final ProofServers servers;
    private final String name;

    CrashDatabase(ProofServers servers, String name) throws SQLException {
        this.servers = servers;
        this.name = name;
        servers.servers().createInbox(name);
        execute("create table effect (id bigserial primary key, topic text not null, event_id text not null)");
        execute("create table refused (topic text primary key)");
    }

    Connection connect() throws SQLException {
        return servers.postgres().connect(name);
    }

    /** What the tables hold of an event, for the matrix. */
    String describe(String event, long effects) throws SQLException {
        List<String> found = new ArrayList<>();
        if (effects > 0) {
            found.add("effect");
        }
        if (count(CLAIMS, event) > 0) {
            found.add("inbox row");
        }
        if (count(PARKED, event) > 0) {
            found.add("parked row");
        }
        if (count(BEGUN, event) > 0) {
            found.add("row in state begun");
        }
        return found.isEmpty() ? "nothing" : String.join(", ", found);
    }

    long count(String sql, String... parameters) throws SQLException {
        try (Connection connection = connect();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setString(i + 1, parameters[i]);
            }
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /** Lets two of the handlers refuse all events from now on. */
    void refuse() throws SQLException {
        execute("insert into refused select unnest(array['crash-once', 'crash-at-least-once'])");
    }

    /** Lets no handler refuse events from now on. */
    void acceptAll() throws SQLException {
        execute("delete from refused");
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = connect();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.execute();
        }
    }
}
