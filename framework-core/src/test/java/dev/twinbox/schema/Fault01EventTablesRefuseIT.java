package dev.twinbox.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.SharedServers;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * Writers in plain SQL could insert what {@code publish} refuses: a key of any length, for example. It had to be parked
 * later, and could not be. The tables refuse it now, and leave rows alone that were there before.
 */
class Fault01EventTablesRefuseIT {
    private static final OutboxSchema TABLES = new OutboxSchema(null, "outbox_event");
    private static final PostgresServer SERVER = SharedServers.postgres();
    private static final String DATABASE = "fault01";

    @BeforeAll
    static void migrate() throws Exception {
        SERVER.createDatabase(DATABASE);
        TABLES.migrate(source());
    }

    @Test
    void whatPublishRefusesIsRefused() throws SQLException {
        for (String table : new String[] {"outbox_event", "outbox_scheduled"}) {
            refused(table, "attributes_limited", Map.of("key", "repeat('k', 65536)"));
            refused(table, "attributes_limited", Map.of("headers", "array['h', repeat('h', 65536)]"));
            refused(table, "attributes_limited", Map.of("subject", "repeat('€', 22000)"));
            refused(table, "type_limited", Map.of("type", "repeat('t', 513)"));
            refused(table, "type_limited", Map.of("type", "repeat('ä', 257)"));
            refused(table, "payload_limited", Map.of("payload", "repeat('p', 100000001)::bytea"));
            for (String type : new String[] {"text", "/plain", "text/", "te xt/plain", "text/plain; ä", ";", "a/b\n"}) {
                refused(table, "content_type_legal", Map.of("content_type", "'" + type + "'"));
            }
        }
        refused("outbox_scheduled", "deliver_at_limited", Map.of("deliver_at", "'infinity'"));
        refused("outbox_scheduled", "deliver_at_limited", Map.of("deliver_at", "'-infinity'"));
        refused("outbox_scheduled", "deliver_at_limited", Map.of("deliver_at", "'10000-01-01'"));
    }

    @Test
    void whatPublishTakesIsTaken() throws SQLException {
        for (String table : new String[] {"outbox_event", "outbox_scheduled"}) {
            insert(table, Map.of());
            insert(table, Map.of("key", "repeat('k', 65400)"));
            insert(table, Map.of("type", "repeat('t', 512)", "headers", "array['h', '']", "payload", "null"));
            for (String type :
                    new String[] {"a/b", "application/vnd.a+json;charset=utf-8", "a/b/c", " text/plain ;x"}) {
                insert(table, Map.of("content_type", "'" + type + "'"));
            }
        }
    }

    @Test
    void rowsThatWereThereStay() throws SQLException {
        assertThat(query("select count(*) from pg_constraint where not convalidated and conrelid in"
                        + " ('outbox_event'::regclass, 'outbox_scheduled'::regclass)"))
                .isEqualTo("9");
    }

    /** A wait for the lock of the event tables would block all writers that come after it. */
    @Test
    void aMigrationThatWaitsForALongTransactionDoesNotBlockWriters() throws Exception {
        OutboxSchema other = new OutboxSchema(null, "later_event");
        other.migrate(source());
        execute("alter table later_event drop constraint type_limited, drop constraint attributes_limited,"
                + " drop constraint payload_limited, drop constraint content_type_legal");
        execute("alter table later_scheduled drop constraint type_limited, drop constraint attributes_limited,"
                + " drop constraint payload_limited, drop constraint content_type_legal,"
                + " drop constraint deliver_at_limited");
        execute("drop table later_resend, later_paused, later_action, later_lock; drop sequence later_lock_token");
        execute("delete from later_event_history where version::integer > 6");
        try (Connection holder = SERVER.connect(DATABASE);
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("select from later_event");
            CompletableFuture<SchemaMigration.Result> migration =
                    CompletableFuture.supplyAsync(() -> other.migrate(source()));
            await("it waits for the lock")
                    .failFast("the migration has ended without a wait", migration::isDone)
                    .until(() -> query("select count(*) from pg_locks where not granted"
                                    + " and mode = 'AccessExclusiveLock' and relation = 'later_event'::regclass")
                            .equals("1"));
            for (int i = 0; i < 20; i++) {
                insert("later_event", Map.of());
            }
            assertThat(migration).isNotDone();
            holder.commit();
            assertThat(migration.get(60, TimeUnit.SECONDS).applied()).isEqualTo(OutboxSchema.VERSION - 6);
        }
        try (Connection connection = SERVER.connect(DATABASE)) {
            assertThat(other.version(connection)).isEqualTo(OutboxSchema.VERSION);
        }
    }

    private static void refused(String table, String constraint, Map<String, String> values) {
        assertThatThrownBy(() -> insert(table, values))
                .as("%s", values.keySet())
                .isInstanceOf(SQLException.class)
                .hasMessageContaining(constraint);
    }

    private static void insert(String table, Map<String, String> values) throws SQLException {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("id", "gen_random_uuid()");
        all.put("topic", "'orders'");
        all.put("type", "'t'");
        all.put("source", "'/s'");
        all.put("occurred_at", "now()");
        all.put("content_type", "'text/plain'");
        if (table.endsWith("scheduled")) {
            all.put("deliver_at", "now()");
        }
        all.putAll(values);
        execute("insert into " + table + " (" + String.join(", ", all.keySet()) + ") values ("
                + String.join(", ", all.values()) + ")");
    }

    private static void execute(String sql) throws SQLException {
        try (Connection connection = SERVER.connect(DATABASE);
                Statement statement = connection.createStatement()) {
            statement.execute("set statement_timeout = '60s'"); // or a writer that is blocked would wait for ever
            statement.execute(sql);
        }
    }

    private static String query(String sql) throws SQLException {
        try (Connection connection = SERVER.connect(DATABASE);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    private static PGSimpleDataSource source() {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(SERVER.jdbcUrl(DATABASE));
        source.setUser(SERVER.user());
        source.setPassword(SERVER.password());
        return source;
    }
}
