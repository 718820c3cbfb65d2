package dev.twinbox.relay.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.jdbc.Transactions;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.RelayConfig;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Whatever a row of the outbox holds, it can be parked, found by its key, listed and claimed. */
class Fault01AnyEventIsParkedIT {
    private static final Map<String, List<String>> EDGES = edges();
    private static final RelayConfig.Page PAGE = new RelayConfig.Page(5_000, 200_000_000, 1);

    private OutboxDatabaseFixture database;
    private Connection connection;

    private static Map<String, List<String>> edges() {
        Map<String, List<String>> edges = new LinkedHashMap<>();
        List<String> texts = List.of(
                "null",
                "''",
                "' '",
                "'\\'",
                "repeat('\\', 5000)",
                "'\\x00'",
                "'%'",
                "chr(1) || chr(10) || chr(127)",
                "'ä€' || chr(128512)",
                "repeat('€', 3000)",
                "pg_temp.incompressible(2705)",
                "pg_temp.incompressible(4000)",
                "pg_temp.incompressible(65536)",
                "pg_temp.incompressible(1500000)");
        for (String column : List.of("topic", "key", "type", "source", "subject", "content_type")) {
            edges.put(column, texts);
        }
        edges.put("id", List.of("null", "'00000000-0000-0000-0000-000000000000'"));
        edges.put(
                "occurred_at",
                List.of(
                        "null",
                        "'infinity'",
                        "'-infinity'",
                        "'4713-01-01 00:00:00 BC'",
                        "'294276-12-31 23:59:59.999999'",
                        "'1970-01-01 00:00:00.000001'"));
        edges.put(
                "headers",
                List.of(
                        "null",
                        "'{}'",
                        "array['odd']",
                        "array['a', null]",
                        "array['', '']",
                        "array[array['a', 'b'], array['c', 'd']]",
                        "'[5:6]={a,b}'::text[]",
                        "array['ä', chr(128512)]",
                        "array['a', pg_temp.incompressible(300000)]"));
        edges.put("payload", List.of("null", "''", "'\\x00'::bytea", "pg_temp.incompressible(1500000)::bytea"));
        edges.put("seq", List.of("-5", "0", "9223372036854775807"));
        return edges;
    }

    @BeforeEach
    void dropAllRules() throws SQLException {
        database = OutboxDatabaseFixture.create();
        connection = database.relayDatabase().connect();
        execute("""
                do $$ declare name text; begin
                  for name in select conname from pg_constraint
                   where conrelid = 'outbox_event'::regclass and contype = 'c' loop
                    execute format('alter table outbox_event drop constraint %I', name);
                  end loop;
                  foreach name in array array['id', 'topic', 'type', 'source', 'occurred_at', 'content_type'] loop
                    execute format('alter table outbox_event alter column %I drop not null', name);
                  end loop;
                end $$""");
        execute("create function pg_temp.incompressible(length int) returns text language sql volatile as $$"
                + " select left(string_agg(md5(random()::text), ''), length)"
                + " from generate_series(1, length / 32 + 1) $$");
    }

    @AfterEach
    void close() throws SQLException {
        connection.close();
    }

    @Test
    void eachEdgeOfEachColumnIsParkedWhole() throws SQLException {
        int rows = 0;
        for (Map.Entry<String, List<String>> column : EDGES.entrySet()) {
            for (String value : column.getValue()) {
                insert(Map.of(column.getKey(), value));
                rows++;
            }
        }

        assertParkedWhole(rows);
    }

    @Test
    void anyCombinationOfEdgesIsParkedWhole() throws SQLException {
        Random random = new Random(7);
        int rows = 100;
        for (int i = 0; i < rows; i++) {
            Map<String, String> values = new LinkedHashMap<>();
            EDGES.forEach((column, edges) -> {
                if (random.nextInt(3) == 0 && !column.equals("seq")) {
                    values.put(column, edges.get(random.nextInt(edges.size())));
                }
            });
            insert(values);
        }

        assertParkedWhole(rows);
    }

    private void assertParkedWhole(int rows) throws SQLException {
        List<OutboxRecord> records = read();
        assertThat(records).hasSize(rows);
        park(records);

        assertThat(number("""
                select count(*) from outbox_event e join outbox_parked p on p.seq = e.seq
                where row(e.id, coalesce(e.topic, ''), e.key, e.type, e.source, e.subject, e.occurred_at,
                    e.content_type, e.headers, e.payload)
                  is not distinct from row(p.id, p.topic, p.key, p.type, p.source, p.subject, p.occurred_at,
                    p.content_type, p.headers, p.payload)""")).isEqualTo(rows);
        Set<EventKey> keys = new HashSet<>();
        records.stream().map(OutboxRecord::key).filter(key -> key != null).forEach(keys::add);
        assertThat(new ParkedTable(connection, OutboxDatabaseFixture.SCHEMA, "relay").blocked(keys))
                .isEqualTo(keys);
        ParkedRows operator = new ParkedRows(connection, OutboxDatabaseFixture.SCHEMA, "relay");
        List<ParkedRows.Line> lines = operator.list(ParkedSelection.ALL, rows + 1);
        assertThat(lines).hasSize(rows);
        for (ParkedRows.Line line : lines) {
            assertThat(operator.show(line.number())).isNotNull();
            assertThat(operator.count(new ParkedSelection(null, line.topic(), line.key(), null, null, null, null)))
                    .isPositive();
        }
        assertClaimedAll(operator, rows);
        Backlog backlog = Backlog.behind(Position.START, connection, OutboxDatabaseFixture.SCHEMA.events());
        assertThat(backlog.events()).isEqualTo(rows);
        assertThat(backlog.topics()).doesNotContainNull();
    }

    private void assertClaimedAll(ParkedRows operator, int rows) throws SQLException {
        assertThat(operator.retry(ParkedSelection.ALL)).isEqualTo(rows);
        ParkedQueue queue = new ParkedQueue(connection, OutboxDatabaseFixture.SCHEMA, "relay", LargestEvent.UNLIMITED);
        ParkedQueue.Paused nothing = new ParkedQueue.Paused(List.of(), List.of());
        List<ParkedQueue.Claimed> claimed = queue.claim(queue.ready(rows + 1, nothing));
        assertThat(claimed).hasSize(rows);
        queue.delete(claimed.stream().map(each -> each.record().seq()).toList());
    }

    @Test
    void aRowThatTheTableDoesNotTakeIsParkedWithoutWhatItDoesNotTakeAndSaysSo() throws SQLException {
        execute("alter table outbox_parked add constraint small check (octet_length(payload) < 100)");
        insert(Map.of("key", "'before'"));
        insert(Map.of("key", "'large'", "payload", "repeat('x', 200)::bytea"));
        insert(Map.of("key", "'after'"));
        park(read());

        List<ParkedRows.Line> lines =
                new ParkedRows(connection, OutboxDatabaseFixture.SCHEMA, "relay").list(ParkedSelection.ALL, 10);
        assertThat(lines).extracting(ParkedRows.Line::key).containsExactly("before", "large", "after");
        assertThat(lines.get(1).state()).isEqualTo(ParkedState.REFUSED);
        assertThat(lines.get(1).error()).contains("without content_type, payload", "small", "by the test");
        assertThat(lines.get(0).error()).isEqualTo("by the test");
        assertThat(number("select count(*) from outbox_parked where payload is null and key = 'large'"))
                .isOne();
        new ParkedRows(connection, OutboxDatabaseFixture.SCHEMA, "relay").retry(ParkedSelection.ALL);
        ParkedQueue queue = new ParkedQueue(connection, OutboxDatabaseFixture.SCHEMA, "relay", LargestEvent.UNLIMITED);
        List<ParkedQueue.Claimed> claimed = queue.claim(queue.ready(10, new ParkedQueue.Paused(List.of(), List.of())));
        assertThat(claimed.get(1).record().fault()).contains("cannot be read");
    }

    @Test
    void anEarlierVersionOfTheTablesSaysMigrate() throws SQLException {
        execute("""
                do $$ declare name regclass; begin
                  for name in select indexrelid from pg_index
                   where indrelid = 'outbox_parked'::regclass and pg_get_indexdef(indexrelid) like '%sha256(%' loop
                    execute 'drop index ' || name;
                  end loop;
                end $$""");
        execute("create index on outbox_parked (relay, topic, key, number)");
        execute("drop table outbox_lock, outbox_action, outbox_paused, outbox_resend"); // 8 to 11
        insert(Map.of("key", "pg_temp.incompressible(4000)"));
        List<OutboxRecord> records = read();

        assertThatThrownBy(() -> park(records)).hasMessageContaining("Remedy: run \"twinbox-relay migrate\"");
    }

    private List<OutboxRecord> read() throws SQLException {
        try (Connection reading = database.relayDatabase().connect();
                OutboxTable table =
                        new OutboxTable(reading, OutboxDatabaseFixture.SCHEMA.events(), PAGE, LargestEvent.UNLIMITED)) {
            Slice slice = table.openWindow(Snapshot.EMPTY);
            Snapshot to = slice.snapshot();
            List<OutboxRecord> all = new ArrayList<>(slice.records());
            while (slice.cut() == Slice.Cut.MORE_TO_COME) {
                slice = table.nextPage(
                        Snapshot.EMPTY, to, all.get(all.size() - 1).seq());
                all.addAll(slice.records());
            }
            return all;
        }
    }

    private void park(List<OutboxRecord> records) throws SQLException {
        List<ParkedTable.Entry> entries = new ArrayList<>();
        for (OutboxRecord record : records) {
            entries.add(new ParkedTable.Entry(record, ParkReason.refused("by the test")));
        }
        ParkedInsert insert = new ParkedInsert(connection, OutboxDatabaseFixture.SCHEMA, "relay");
        Transactions.<RuntimeException>inTransaction(connection, () -> insert.park(entries));
    }

    /** @param values SQL by column; all others have ordinary values */
    private void insert(Map<String, String> values) throws SQLException {
        Map<String, String> all = new LinkedHashMap<>();
        all.put("id", "gen_random_uuid()");
        all.put("topic", "'orders'");
        all.put("type", "'t'");
        all.put("source", "'/s'");
        all.put("occurred_at", "now()");
        all.put("content_type", "'text/plain'");
        all.putAll(values);
        execute("insert into outbox_event (" + String.join(", ", all.keySet()) + ") values ("
                + String.join(", ", all.values()) + ")");
    }

    private void execute(String sql) throws SQLException {
        OutboxDatabaseFixture.execute(connection, sql);
    }

    private long number(String sql) throws SQLException {
        return Long.parseLong(OutboxDatabaseFixture.query(connection, sql));
    }
}
