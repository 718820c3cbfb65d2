package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Instance.from;
import static dev.twinbox.inbox.engine.Instance.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.Handled;
import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.InboxRows;
import dev.twinbox.inbox.jdbc.InboxRows.Forgotten;
import dev.twinbox.inbox.jdbc.InboxSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * Fault 24: two producers, sources /a and /b, both numbered their events from 1 to 100. The second hundred counted as
 * duplicates. By CloudEvents 1.0 an event is identified by source and id.
 */
class Fault24SourceAndIdIT {

    private static int databases;

    private final List<String> calls = new ArrayList<>();
    private Database database;

    @BeforeEach
    void create() {
        database = new Database("fault24_" + databases++);
    }

    private Instance instance() throws SQLException {
        Instance instance = new Instance(database, calls, UnknownType.SKIP, "h:order");
        instance.announcements.announce();
        return instance;
    }

    private static ConsumerRecord<byte[], byte[]> event(String source, int id, String value) {
        return from(source, record(id, "order", Integer.toString(id), null, value));
    }

    @Test
    void eachOfTwoHundredEventsOfTwoSourcesHasOneEffect() throws SQLException {
        Instance instance = instance();
        for (int i = 1; i <= 100; i += 10) {
            List<ConsumerRecord<byte[], byte[]>> batch = new ArrayList<>();
            for (int j = i; j < i + 10; j++) {
                batch.add(event("/a", j, "a" + j));
                batch.add(event("/b", j, "b" + j));
                batch.add(event("/b", j, "again"));
            }
            instance.receive(batch);
            instance.receive(batch);
        }

        assertThat(calls).hasSize(200).doesNotHaveDuplicates().doesNotContain("h:again");
        assertThat(database.count("inbox_event")).isEqualTo(200);
    }

    /** What was stored without a source, by an earlier version or another place of the id, matches by its id. */
    @Test
    void rowsWithoutASourceMatchById() throws SQLException {
        database.execute("insert into inbox_event (consumer_group, handler, event_id) values ('g', 'h', '1')");
        Instance instance = instance();

        instance.receive(event("/a", 1, "a"), event("/b", 1, "b"), record(0, "order", "1", null, "none"));
        instance.receive(event("/a", 2, "a2"), record(0, "order", "2", null, "none2"));
        instance.receive(record(0, "order", "2", null, "none2"));

        assertThat(calls).containsExactly("h:a2");
    }

    @Test
    void parkedEventsOfTwoSourcesAreTwoEventsAndADiscardIsOfOne() throws SQLException {
        Instance instance = instance();
        instance.receive(event("/a", 1, "a fail"));
        instance.receive(event("/b", 1, "b fail"));
        assertThat(database.count("inbox_parked")).isEqualTo(2);
        calls.clear();

        instance.receive(event("/a", 1, "a fail"), event("/b", 1, "b fail"), event("/c", 1, "c"));
        assertThat(calls).containsExactly("h:c");
        database.execute("""
                update inbox_parked set record_value = convert_to('b', 'UTF8') where convert_from(record_value, 'UTF8') like 'b%'""");
        instance.retryAll();

        assertThat(calls).contains("h:b");
        assertThat(database.texts("select state from inbox_parked")).containsExactly("dead");
        assertThat(database.count("inbox_event")).isEqualTo(2);
    }

    @Test
    void forgetIsOfOneSourceOrOfAll() throws SQLException {
        Instance instance = instance();
        for (int i = 1; i <= 3; i++) {
            instance.receive(event("/a", i, "a" + i), event("/b", i, "b" + i));
        }
        InboxRows rows = new InboxRows(Instance.INBOX);
        Handled ofA = Handled.by("h").withSource("/a");
        try (Connection connection = database.connect()) {
            assertThat(rows.count(connection, "g", ofA)).isEqualTo(3);
            assertThat(rows.forget(connection, "g", ofA.withIds(List.of("1")), Forgotten.NONE, 10)
                            .number())
                    .isEqualTo(1);
            // Batches of one: no event is left out at their borders, although two have one id.
            long forgotten = 0;
            Forgotten last = Forgotten.NONE;
            do {
                last = rows.forget(connection, "g", Handled.by("h"), last, 1);
                forgotten += last.number();
            } while (last.number() == 1);
            assertThat(forgotten).isEqualTo(5);
        }
    }

    /** The keys of the previous version, as after migrate and before migrate --finish. */
    private void withFormerKeys() {
        database.execute("""
                do $$ declare name text; begin
                  for name in select indexrelid::regclass::text from pg_index
                     where indrelid = 'inbox_parked'::regclass and indisunique and pg_get_indexdef(indexrelid) like '%event_source%'
                  loop execute 'drop index ' || name; end loop;
                  select conname into name from pg_constraint where conrelid = 'inbox_event'::regclass and contype = 'p';
                  execute 'alter table inbox_event drop constraint ' || quote_ident(name);
                end $$""");
        database.execute("alter table inbox_event add primary key (consumer_group, handler, event_id)");
        database.execute("create unique index on inbox_parked (consumer_group, handler, event_id)"
                + " where handler is not null");
    }

    /** The previous version writes no source and knows an event by its id. */
    @Test
    void inARollingUpgradeNoEventHasTwoEffects() throws Exception {
        withFormerKeys();
        Instance instance = instance();
        assertThat(advice()).contains("migrate", "--finish");

        // The previous version handled it, or is at it, or has parked it: this one leaves it alone.
        database.execute("insert into inbox_event (consumer_group, handler, event_id) values ('g', 'h', '1')");
        instance.receive(event("/a", 1, "a1"));
        database.execute("""
                insert into inbox_parked (consumer_group, handler, event_id, event_type, claims, state, topic, partition,
                                          record_offset, record_value, header_names, header_values, attempts)
                values ('g', 'h', '2', 'order', true, 'dead', 't', 0, 1, 'a2', '{}', '{}', 3)""");
        instance.receive(event("/a", 2, "a2"));
        assertThat(calls).isEmpty();

        // This version handled it: the previous one, which asks for the id, finds it.
        instance.receive(event("/a", 3, "a3"));
        assertThat(database.texts("""
                insert into inbox_event (consumer_group, handler, event_id) values ('g', 'h', '3')
                on conflict do nothing returning event_id""")).isEmpty();
        instance.receive(event("/a", 3, "a3"));
        assertThat(calls).containsExactly("h:a3");

        // Both at the same time: whoever comes second waits, and finds it handled.
        try (Connection previous = database.connect()) {
            previous.setAutoCommit(false);
            previous.createStatement()
                    .execute("insert into inbox_event (consumer_group, handler, event_id) values ('g', 'h', '4')");
            Thread second = new Thread(() -> instance.receive(event("/a", 4, "a4")));
            second.start();
            org.awaitility.Awaitility.await()
                    .until(() -> database.count("pg_locks where not granted") > 0 || !second.isAlive());
            assertThat(second.isAlive()).as("waits for the other version").isTrue();
            previous.commit();
            second.join();
        }
        assertThat(calls).containsExactly("h:a3");

        InboxSchema schema = new InboxSchema(Instance.INBOX);
        assertThat(schema.finish(database.dataSource())).isTrue();
        assertThat(schema.finish(database.dataSource())).as("idempotent").isFalse();
        assertThat(advice()).isEmpty();
        instance.receive(event("/a", 1, "a1"), event("/a", 2, "a2"), event("/a", 3, "a3"), event("/a", 4, "a4"));
        instance.receive(event("/b", 3, "b3"), event("/a", 5, "a5"), event("/b", 5, "b5"));
        assertThat(calls).containsExactly("h:a3", "h:b3", "h:a5", "h:b5");
    }

    /** A start that was recorded by either version is found again. */
    @Test
    void recordedStartsFollow() throws SQLException {
        database.execute("""
                insert into inbox_parked (consumer_group, handler, event_id, event_type, claims, state, topic, partition,
                                          record_offset, record_value, header_names, header_values, attempts)
                values ('g', 'h', '1', 'order', true, 'begun', 't', 0, 1, 'a', '{}', '{}', 3)""");
        Instance instance = instance();

        instance.receiveAfterCrash(event("/a", 1, "killer"), event("/b", 2, "b"));

        assertThat(calls).containsExactly("h:b");
        assertThat(database.texts("select state || attempts from inbox_parked")).containsExactly("dead3");
    }

    private String advice() throws SQLException {
        try (Connection connection = database.connect()) {
            return new InboxSchema(Instance.INBOX).check(connection);
        }
    }
}
