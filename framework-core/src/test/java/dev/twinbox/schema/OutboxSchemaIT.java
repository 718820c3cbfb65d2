package dev.twinbox.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.SchemaException;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.jdbc.SqlIdentifier;
import java.io.File;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInfo;
import org.postgresql.ds.PGSimpleDataSource;

class OutboxSchemaIT {

    private static final int VERSION = OutboxSchema.VERSION;
    private static final int FILES = new File("src/main/resources/dev/twinbox/schema/outbox").list().length;

    private static final OutboxSchema DEFAULT = new OutboxSchema(null, "outbox_event");
    private static final OutboxSchema ODD = new OutboxSchema("Sales-EU 1", "Out\"Bo'x$ %\\");

    private final PostgresServer server = SharedServers.postgres();
    private String database;

    @BeforeEach
    void createDatabase(TestInfo test) throws Exception {
        database = "schema_" + Integer.toHexString(test.getDisplayName().hashCode());
        server.createDatabase(database);
    }

    @Test
    void migratingTwiceDoesTheWorkOnce() {
        assertThat(DEFAULT.migrate(owner(""))).isEqualTo(new SchemaMigration.Result(FILES, "" + VERSION));
        assertThat(DEFAULT.migrate(owner(""))).isEqualTo(new SchemaMigration.Result(0, "" + VERSION));
    }

    @Test
    void processesMayMigrateAtOnce() {
        for (int round = 0; round < 4; round++) {
            OutboxSchema tables = new OutboxSchema("round_" + round, "event");
            List<CompletableFuture<SchemaMigration.Result>> all = IntStream.range(0, 4)
                    .mapToObj(i -> CompletableFuture.supplyAsync(() -> tables.migrate(owner(""))))
                    .toList();

            assertThat(all.stream()
                            .map(CompletableFuture::join)
                            .mapToInt(SchemaMigration.Result::applied)
                            .sum())
                    .isEqualTo(FILES);
        }
    }

    @Test
    void severalOutboxesLiveInOneSchemaBesideTheApplicationsTables() throws Exception {
        execute("create table orders (id bigint)");
        DEFAULT.migrate(owner(""));
        OutboxSchema second = new OutboxSchema(null, "other_event");

        assertThat(second.migrate(owner("")).applied()).isEqualTo(FILES);
        assertThat(problems(second)).isEmpty();
        assertThat(problems(DEFAULT)).isEmpty();
    }

    @Test
    void oddNamesAreTakenLiterallyAndTheSchemaIsCreated() throws Exception {
        assertThat(ODD.migrate(owner("")).applied()).isEqualTo(FILES);
        assertThat(ODD.migrate(owner("")).applied()).isZero();

        assertThat(problems(ODD)).isEmpty();
        insert(ODD, "'orders'", "'k'", "'t'", "null");
        assertThat(count("select from pg_tables where schemaname = 'public'")).isZero();
    }

    @Test
    void aSearchPathThatNamesNoSchemaIsAnErrorWithTheRemedy() {
        assertThatThrownBy(() -> DEFAULT.migrate(owner("?currentSchema=nowhere")))
                .isInstanceOf(SchemaException.class)
                .hasMessageContaining("search_path \"nowhere\" names none that exists");
    }

    @Test
    void missingTablesAreNamed() throws Exception {
        assertThat(problems(DEFAULT))
                .containsExactly(
                        "table \"outbox_event\" does not exist in the connection's search_path (\"$user\", public)",
                        "sequence \"outbox_event_seq\" does not exist in the connection's search_path (\"$user\", public)");
        assertThat(problems(ODD))
                .first()
                .isEqualTo("table \"Sales-EU 1\".\"Out\"\"Bo'x$ %\\\" does not exist: neither does its schema");
    }

    @Test
    void aRoleThatMayInsertAndUseTheSequenceNeedsNoMore() throws Exception {
        ODD.migrate(owner(""));
        execute("create role least login password 'x'");
        try (Connection least = DriverManager.getConnection(server.jdbcUrl(database), "least", "x")) {
            assertThat(ODD.problemsForWriting(least))
                    .hasSize(2)
                    .allMatch(problem -> problem.contains("may not use schema \"Sales-EU 1\": grant usage on it"));

            execute("grant usage on schema \"Sales-EU 1\" to least");
            assertThat(ODD.problemsForWriting(least))
                    .containsExactly(
                            "role \"least\" lacks INSERT on table " + ODD.events() + ": grant insert on table "
                                    + ODD.events() + " to \"least\"",
                            "role \"least\" lacks USAGE on sequence " + ODD.eventsSequence()
                                    + ": grant usage on sequence " + ODD.eventsSequence() + " to \"least\"");

            execute("grant insert on table " + ODD.events() + " to \"least\"");
            execute("grant usage on sequence " + ODD.eventsSequence() + " to \"least\"");
            assertThat(ODD.problemsForWriting(least)).isEmpty();
            insert(least, ODD, "'orders'", "'k'", "'t'", "array['a', 'b']");
        }
        assertThat(count("select from " + ODD.events())).isEqualTo(1);
    }

    @Test
    void aTableWithoutTheUniqueIndexThatItNeedsIsNamedOnce() throws Exception {
        execute("create table guarded (a text, b text, primary key (b, a))");
        execute("create table unguarded (a text, b text, c text, unique (a, b, c))");
        execute("create unique index on unguarded (a, b) where c is null");
        try (Connection connection = server.connect(database)) {
            SchemaCheck check = new SchemaCheck(connection);
            for (String table : List.of("guarded", "unguarded", "missing")) {
                SqlIdentifier name = new SqlIdentifier(null, table);
                check.table(name, Map.of("a", "text")).unique(name, List.of("a", "b"), "repeats go unnoticed");
            }

            assertThat(check.problems())
                    .containsExactly(
                            "table \"unguarded\" has no unique index on (a, b), without which repeats go unnoticed: "
                                    + "restore its primary key",
                            "table \"missing\" does not exist in the connection's search_path (\"$user\", public)");
        }
    }

    @Test
    void whatTheConnectionIsToTheServerIsReported() throws Exception {
        try (Connection connection = server.connect(database);
                Statement statement = connection.createStatement()) {
            SchemaCheck check = new SchemaCheck(connection).server().primary();

            assertThat(check.problems()).isEmpty();
            assertThat(check.session().losesCommits()).isFalse();
            assertThat(check.session()).hasToString("database " + database + ", search_path \"$user\", public");
            statement.execute("set synchronous_commit = off");
            assertThat(check.session().losesCommits()).isTrue();
        }
    }

    @Test
    void aRowThatCouldNotBeSentCannotBeStored() {
        DEFAULT.migrate(owner(""));

        refused("topic_legal", "'a/b c'", "'k'", "'t'", "null");
        refused("topic_legal", "''", "'k'", "'t'", "null");
        refused("topic_legal", "'..'", "'k'", "'t'", "null");
        refused("topic_legal", "repeat('x', 250)", "'k'", "'t'", "null");
        refused("attributes_not_empty", "'orders'", "''", "'t'", "null");
        refused("attributes_not_empty", "'orders'", "null", "''", "null");
        refused("headers_in_pairs", "'orders'", "null", "'t'", "array['name without value']");
        refused("headers_in_pairs", "'orders'", "null", "'t'", "array['name', null]");
        refused("null value in column \"type\"", "'orders'", "'k'", "null", "null");
    }

    @Test
    void aRowTakesTransactionNumberAndSlotFromTheDatabase() throws Exception {
        DEFAULT.migrate(owner(""));
        insert(DEFAULT, "'orders'", "null", "'t'", "null");
        insert(DEFAULT, "'orders'", "null", "'t'", "null");

        assertThat(count("""
                        select from outbox_event a join outbox_event b on a.seq < b.seq and a.tx < b.tx
                         where a.slot = (extract(epoch from now())::bigint / 3600) % 3
                        """)).isEqualTo(1);
    }

    private void refused(String reason, String... values) {
        assertThatThrownBy(() -> insert(DEFAULT, values))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining(reason);
    }

    private void insert(OutboxSchema schema, String... values) throws SQLException {
        try (Connection connection = server.connect(database)) {
            insert(connection, schema, values);
        }
    }

    /** @param values SQL for topic, key, type and headers */
    private static void insert(Connection connection, OutboxSchema schema, String... values) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("insert into " + schema.events()
                    + " (id, topic, key, type, headers, source, occurred_at, content_type) values (gen_random_uuid(), "
                    + String.join(", ", values) + ", '/s', now(), 'a/b')");
        }
    }

    private List<String> problems(OutboxSchema schema) throws SQLException {
        try (Connection connection = server.connect(database)) {
            return schema.problemsForWriting(connection);
        }
    }

    private PGSimpleDataSource owner(String parameters) {
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(server.jdbcUrl(database) + parameters);
        dataSource.setUser(server.user());
        dataSource.setPassword(server.password());
        return dataSource;
    }

    private void execute(String sql) throws SQLException {
        try (Connection connection = server.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private int count(String sql) throws SQLException {
        try (Connection connection = server.connect(database);
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery(sql)) {
            int count = 0;
            while (rows.next()) {
                count++;
            }
            return count;
        }
    }
}
