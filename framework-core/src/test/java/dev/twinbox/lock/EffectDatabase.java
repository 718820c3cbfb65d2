package dev.twinbox.lock;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.postgresql.ds.PGSimpleDataSource;

/** A database with the table of locks, and a table in which each holder that writes leaves its name. */
final class EffectDatabase {

    private final PostgresServer server;
    private final String name;

    private EffectDatabase(PostgresServer server, String name) {
        this.server = server;
        this.name = name;
    }

    static EffectDatabase create(PostgresServer server, String name) throws SQLException {
        server.createDatabase(name);
        EffectDatabase database = new EffectDatabase(server, name);
        PGSimpleDataSource owner = new PGSimpleDataSource();
        owner.setUrl(database.url());
        owner.setUser(database.user());
        owner.setPassword(database.password());
        new OutboxSchema(null, OutboxSchema.DEFAULT_TABLE).migrate(owner);
        database.execute("create table effect (number bigint generated always as identity, key text, holder text)");
        return database;
    }

    String url() {
        return server.jdbcUrl(name);
    }

    String user() {
        return server.user();
    }

    String password() {
        return server.password();
    }

    Connection connect() throws SQLException {
        return server.connect(name);
    }

    /** The parts of a holder. */
    LockParts parts(QuickLeases leases) {
        return new LockParts(url(), user(), password(), leases);
    }

    /** Leaves the holder's name, in the transaction of the connection. */
    static void insertEffect(Connection connection, String key, String holder) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into effect (key, holder) values (?, ?)")) {
            insert.setString(1, key);
            insert.setString(2, holder);
            insert.executeUpdate();
        }
    }

    /** Who has written under a key, in order. */
    List<String> holders(String key) {
        String all = query("select string_agg(holder, ',' order by number) from effect where key = '" + key + "'");
        return all == null ? List.of() : List.of(all.split(",", -1));
    }

    void execute(String sql) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The first column of the first row. */
    String query(String sql) {
        try (Connection connection = connect()) {
            return query(connection, sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
