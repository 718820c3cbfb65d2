package dev.twinbox.inbox;

import dev.twinbox.inbox.jdbc.InboxSchema;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/** The receiving application's database, for assertions. */
public final class Database {

    private final String name;

    /** Creates the database with an inbox and the tables of the test application. */
    public Database(String name) {
        this.name = name;
        try {
            Servers.postgres().createDatabase(name);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
        migrate(null, "inbox_event");
        execute("create table effect (id bigserial primary key, handler text not null, event_id text not null)");
        execute("create table call (id bigserial primary key, handler text not null, event_id text not null, "
                + "instance text not null, at timestamptz not null default clock_timestamp())");
        execute("create index on call (event_id, handler)");
    }

    void migrate(@Nullable String schema, String table) {
        new InboxSchema(new SqlIdentifier(schema, table)).migrate(dataSource());
    }

    /** Creates the outbox, for an application that also publishes. */
    void migrateOutbox() {
        new OutboxSchema(null, OutboxSchema.DEFAULT_TABLE).migrate(dataSource());
    }

    public PGSimpleDataSource dataSource() {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(Servers.postgres().jdbcUrl(name));
        dataSource.setUser(Servers.postgres().user());
        dataSource.setPassword(Servers.postgres().password());
        return dataSource;
    }

    String name() {
        return name;
    }

    public Connection connect() {
        try {
            return Servers.postgres().connect(name);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    public void execute(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    public long count(String from, Object... arguments) {
        return Long.parseLong(texts("select count(*) from " + from, arguments).get(0));
    }

    /** The first column of all rows. */
    public List<String> texts(String sql, Object... arguments) {
        try (Connection connection = connect();
                var statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            List<String> texts = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    texts.add(rows.getString(1));
                }
            }
            return texts;
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    /** Event ids in the order in which the handler's effects were written. */
    List<String> effects(String handler) {
        return texts("select event_id from effect where handler = ? order by id", handler);
    }

    long calls(String handler, String eventId) {
        return count("call where handler = ? and event_id = ?", handler, eventId);
    }

    /** Shuts a gate until the result is closed. */
    Gate shutGate(int number) {
        return new Gate(number);
    }

    final class Gate implements AutoCloseable {
        private final Connection connection;

        Gate(int number) {
            connection = connect();
            try (Statement statement = connection.createStatement()) {
                statement.execute("select pg_advisory_lock(" + number + ")");
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }

        /** Opens the gate. */
        @Override
        public void close() {
            try {
                connection.close();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** How many handlers wait at the gate. */
    long waiting(int gate) {
        return count("pg_locks where locktype = 'advisory' and not granted and objid = ?", (long) gate);
    }
}
