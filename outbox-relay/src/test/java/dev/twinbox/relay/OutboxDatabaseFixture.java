package dev.twinbox.relay;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.Retention;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicInteger;
import org.postgresql.ds.PGSimpleDataSource;

/** One database with an outbox, on the server that all tests of this JVM share. */
public final class OutboxDatabaseFixture {
    public static final OutboxSchema SCHEMA = new OutboxSchema(null, OutboxSchema.DEFAULT_TABLE);

    private static final AtomicInteger NUMBER = new AtomicInteger();
    private static final String TEMPLATE = "outbox_template";
    private static final Set<PostgresServer> TEMPLATES = new HashSet<>();

    private final PostgresServer server;
    private final String name;

    private OutboxDatabaseFixture(PostgresServer server, String name) {
        this.server = server;
        this.name = name;
    }

    /** The server that all tests of this JVM share. */
    public static PostgresServer server() {
        return RelayRig.POSTGRES.start();
    }

    public static OutboxDatabaseFixture create() throws SQLException {
        return create(server());
    }

    /** In which the hour makes no difference: one slot has its turn until the test says something else. */
    public static OutboxDatabaseFixture create(PostgresServer server) throws SQLException {
        OutboxDatabaseFixture fixture = new OutboxDatabaseFixture(server, "outbox" + NUMBER.incrementAndGet());
        createDatabase(server, fixture.name);
        return fixture;
    }

    /** With the tables of the default names, as a copy of a database that was migrated once: that takes the longer, the more steps there are. */
    static synchronized void createDatabase(PostgresServer server, String name) throws SQLException {
        if (TEMPLATES.add(server)) {
            OutboxDatabaseFixture template = new OutboxDatabaseFixture(server, TEMPLATE);
            server.createDatabase(TEMPLATE);
            SCHEMA.migrate(template.dataSource());
            SCHEMA.retain(template.dataSource(), Retention.FOREVER);
        }
        try (Connection connection = server.connect("postgres")) {
            execute(connection, "create database \"" + name + "\" template " + TEMPLATE);
        }
    }

    /** As {@code migrate} makes it, with a slot for each hour. */
    public static OutboxDatabaseFixture createRotating(PostgresServer server) throws SQLException {
        OutboxDatabaseFixture fixture = new OutboxDatabaseFixture(server, "outbox" + NUMBER.incrementAndGet());
        server.createDatabase(fixture.name);
        SCHEMA.migrate(fixture.dataSource());
        return fixture;
    }

    public String url() {
        return server.jdbcUrl(name);
    }

    PostgresServer postgres() {
        return server;
    }

    public String name() {
        return name;
    }

    public PGSimpleDataSource dataSource() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url());
        source.setUser(server.user());
        source.setPassword(server.password());
        source.setPrepareThreshold(1);
        return source;
    }

    public Connection connect() throws SQLException {
        return dataSource().getConnection();
    }

    /** With the session settings of the relay. */
    public OutboxDatabase relayDatabase() {
        return new OutboxDatabase(dataSource(), Duration.ofSeconds(60));
    }

    public static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    public static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            return row.next() ? row.getString(1) : null;
        }
    }

    /** Writes one event as an application does; returns its id. */
    public static UUID insert(Connection connection, String key, String payload) throws SQLException {
        return insert(connection, "orders", key, payload.getBytes(StandardCharsets.UTF_8));
    }

    public static UUID insert(Connection connection, String topic, String key, byte[] payload) throws SQLException {
        UUID id = UUID.randomUUID();
        try (PreparedStatement insert = connection.prepareStatement(
                "insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " values (?, ?, ?, 'order.placed', '/test', clock_timestamp(), 'text/plain', ?)")) {
            insert.setObject(1, id);
            insert.setString(2, topic);
            insert.setString(3, key);
            insert.setBytes(4, payload);
            insert.executeUpdate();
        }
        return id;
    }
}
