package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.http.Health;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.ScheduledEvents;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Scheduled events are sent when they are due: each once, none early, in order of their times. */
@Tag("proof")
class ScheduledEventsIT {
    private static final int FUTURE = 200_000;
    private static final int MOVED = 50_000;
    /** Three branches with a few index descents each. */
    private static final long BUFFERS_OF_A_LOOK = 60;

    private OutboxDatabaseFixture database;
    private Connection housekeeping;
    private ScheduledEvents scheduled;

    @BeforeEach
    void createTables() throws SQLException {
        database = OutboxDatabaseFixture.create();
        housekeeping = database.relayDatabase().connect();
        scheduled = new ScheduledEvents(
                housekeeping, OutboxDatabaseFixture.SCHEMA, "relay", new ScheduledEvents.BatchSize());
    }

    @AfterEach
    void close() throws SQLException {
        housekeeping.close();
    }

    @Test
    void aRelaySendsThemWhenTheyAreDueInOrderOfTheirTimesAndNotBefore() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection writer = rig.connect()) {
            EngineRig.Running relay = rig.start();
            writer.setAutoCommit(false); // A relay that sees one before the next exists would send it correctly.
            String due = OutboxDatabaseFixture.query(writer, "select clock_timestamp() + interval '1500 ms'");
            schedule(writer, rig.topic, "third", "timestamptz '" + due + "'");
            schedule(writer, rig.topic, "second", "clock_timestamp() + interval '1 s'");
            schedule(writer, rig.topic, "never", "clock_timestamp() + interval '1 day'");
            schedule(writer, rig.topic, "first", "clock_timestamp() - interval '1 s'");
            writer.commit();
            rig.awaitRecords(3);
            assertThat(rig.payloads()).containsExactly("first", "second", "third");
            assertThat(rig.number("select count(*) from outbox_scheduled")).isEqualTo(1);
            assertThat(rig.records())
                    .filteredOn(record -> new String(record.value(), StandardCharsets.UTF_8).equals("third"))
                    .allSatisfy(record -> assertThat(record.timestamp())
                            .as("sent at, the broker being on this host")
                            .isGreaterThanOrEqualTo(rig.number(
                                    "select floor(extract(epoch from timestamptz '" + due + "') * 1000)::bigint")));
            await().until(() -> relay.progress().observed().scheduledMoved() == 3);
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);
        }
    }

    @Test
    void whatWasDueBeforeItWasCommittedIsFoundThoughItsTimeHasBeenPassed() throws SQLException {
        try (Connection late = database.connect();
                Connection later = database.connect()) {
            late.setAutoCommit(false);
            schedule(late, "t", "in progress when looked", "clock_timestamp() - interval '1 h'");
            assertThat(scheduled.runOnce()).isZero();
            schedule(later, "t", "begun after the look", "clock_timestamp() - interval '1 h'");
            late.commit();
            assertThat(scheduled.runOnce()).isEqualTo(2);
            assertThat(scheduled.runOnce()).isZero();
        }
        assertThat(payloads()).containsExactly("in progress when looked", "begun after the look");
    }

    @Test
    void moreThanOneStatementMovesIsMovedInOrderAlsoWhenAllHaveOneTime() throws SQLException {
        int many = 2 * ScheduledEvents.LIMIT + 100;
        try (Connection writer = database.connect()) {
            OutboxDatabaseFixture.execute(
                    writer,
                    scheduling(
                            "'t'", "'same ' || i", "timestamptz '2020-01-01'", "generate_series(1, " + many + ") i"));
            OutboxDatabaseFixture.execute(
                    writer, scheduling("'t'", "'earlier'", "timestamptz '2019-01-01'", "generate_series(1, 1) i"));
        }
        assertThat(scheduled.runOnce()).isEqualTo(many + 1);
        List<String> expected = new ArrayList<>(List.of("earlier"));
        for (int i = 1; i <= many; i++) {
            expected.add("same " + i);
        }
        assertThat(payloads()).isEqualTo(expected);
    }

    /** Under writers that commit late and roll back, two relays that move, and connections that are lost. */
    @Test
    void eachIsMovedOnceAndNoneEarly() throws Exception {
        OutboxDatabaseFixture.execute(
                housekeeping,
                "create table moved (id uuid, early boolean);"
                        + "create function note() returns trigger language plpgsql as $$ begin"
                        + " insert into moved select new.id,"
                        + " clock_timestamp() < (convert_from(new.payload, 'UTF8'))::timestamptz;"
                        + " return null; end $$;"
                        + "create trigger note after insert on outbox_event for each row execute function note()");
        Set<String> committed = ConcurrentHashMap.newKeySet();
        ExecutorService threads = Executors.newCachedThreadPool();
        try {
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < 8; i++) {
                Random random = new Random(i);
                writers.add(threads.submit(() -> write(random, committed)));
            }
            List<Future<?>> movers = List.of(
                    threads.submit(() -> moveUntilDone(writers, committed)),
                    threads.submit(() -> moveUntilDone(writers, committed)));
            for (Future<?> each : writers) {
                each.get(60, TimeUnit.SECONDS);
            }
            for (Future<?> each : movers) {
                each.get(60, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(committed).hasSizeGreaterThan(300);
        try (Connection connection = database.connect()) {
            assertThat(OutboxDatabaseFixture.query(connection, "select count(*) from moved"))
                    .isEqualTo("" + committed.size());
            assertThat(OutboxDatabaseFixture.query(connection, "select count(distinct id) from moved"))
                    .isEqualTo("" + committed.size());
            assertThat(OutboxDatabaseFixture.query(connection, "select count(*) from moved where early"))
                    .isEqualTo("0");
            assertThat(OutboxDatabaseFixture.query(connection, "select count(*) from outbox_scheduled"))
                    .isEqualTo("0");
        }
    }

    private Void write(Random random, Set<String> committed) throws SQLException {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < 60; i++) {
                String time = "clock_timestamp() + interval '" + (random.nextInt(600) - 200) + " ms'";
                String id = OutboxDatabaseFixture.query(
                        connection,
                        scheduling("'t'", "d::text", "d", "(select " + time + " as d) x") + " returning id");
                LockSupport.parkNanos(
                        TimeUnit.MILLISECONDS.toNanos(random.nextInt(random.nextInt(10) == 0 ? 300 : 10)));
                if (random.nextInt(5) == 0) {
                    connection.rollback();
                } else {
                    connection.commit();
                    committed.add(id);
                }
            }
        }
        return null;
    }

    private Void moveUntilDone(List<Future<?>> writers, Set<String> committed) throws SQLException {
        int looks = 0;
        while (looks < 1_000) {
            try (Connection own = database.relayDatabase().connect()) {
                ScheduledEvents mover = new ScheduledEvents(
                        own, OutboxDatabaseFixture.SCHEMA, "relay", new ScheduledEvents.BatchSize());
                for (int i = 0; i < 50; i++) {
                    mover.runOnce();
                    LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(5));
                }
                boolean all = OutboxDatabaseFixture.query(own, "select count(*) from moved")
                        .equals("" + committed.size());
                looks = all && writers.stream().allMatch(Future::isDone) ? 1_000 : looks + 1;
            }
        }
        return null;
    }

    /** Before it lie dead rows of moved events, which a held xmin keeps. After it lie many future events. */
    @Test
    void lookingForWhatIsDueReadsNeitherWhatWasMovedNorTheFuture() throws SQLException {
        try (Connection holder = database.connect();
                Connection writer = database.connect()) {
            holder.setAutoCommit(false);
            holder.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            OutboxDatabaseFixture.query(holder, "select now()");
            OutboxDatabaseFixture.execute(writer, "alter table outbox_scheduled set (autovacuum_enabled = off)");
            OutboxDatabaseFixture.execute(
                    writer,
                    scheduling(
                            "'t'",
                            "'x'",
                            "now() + interval '1 day' + i * interval '1 ms'",
                            "generate_series(1, " + FUTURE + ") i"));
            OutboxDatabaseFixture.execute(
                    writer,
                    scheduling(
                            "'t'",
                            "'x'",
                            "now() - interval '1 day' + i * interval '1 ms'",
                            "generate_series(1, " + MOVED + ") i"));
            assertThat(scheduled.runOnce()).isEqualTo(MOVED);
            // Others that read the table: the writer's statistics, which it would report later, and autovacuum.
            OutboxDatabaseFixture.query(writer, "select pg_stat_force_next_flush()");
            long before = buffers();
            for (int i = 0; i < 20; i++) {
                assertThat(scheduled.runOnce()).isZero();
            }
            assertThat((buffers() - before) / 20).as("buffers of one look").isLessThan(BUFFERS_OF_A_LOOK);
        }
    }

    /** How often this table and its indexes were read, by all sessions. */
    private long buffers() throws SQLException {
        OutboxDatabaseFixture.query(housekeeping, "select pg_stat_force_next_flush()");
        OutboxDatabaseFixture.query(housekeeping, "select pg_stat_clear_snapshot()");
        return Long.parseLong(OutboxDatabaseFixture.query(
                housekeeping,
                "select heap_blks_read + heap_blks_hit + idx_blks_read + idx_blks_hit"
                        + " from pg_statio_user_tables where relname = 'outbox_scheduled'"));
    }

    @Test
    void aPausedRelayKeepsItsLeaseAndSendsNothingAlsoAfterARestartUntilItIsResumed() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection writer = rig.connect()) {
            LeaseTable lease = new LeaseTable(writer, OutboxDatabaseFixture.SCHEMA, "relay");
            EngineRig.Running relay = rig.start();
            rig.insert(writer, "k", "1");
            rig.awaitRecords(1);
            lease.pause(1);
            await().until(() -> relay.progress().pausedSince() != null);
            rig.insert(writer, "k", "2");
            String epoch = OutboxDatabaseFixture.query(writer, "select epoch || ' ' || ends_at from outbox_lease");
            await().until(() -> !OutboxDatabaseFixture.query(writer, "select epoch || ' ' || ends_at from outbox_lease")
                    .equals(epoch)); // renewed
            Health health = new Health(relay.progress(), Duration.ofMillis(1));
            assertThat(health.live().status()).isEqualTo(Health.Status.UP);
            assertThat(health.ready().json().toString())
                    .contains("paused by an operator since", "resume")
                    .doesNotContain("poll is");
            assertThat(relay.stop()).isEqualTo(ExitCode.OK);

            EngineRig.Running restarted = rig.start();
            await().until(() -> restarted.progress().pausedSince() != null);
            assertThat(rig.recordCount()).isEqualTo(1);
            assertThat(lease.resume()).isTrue();
            assertThat(lease.resume()).isFalse();
            rig.awaitRecords(2);
            assertThat(rig.payloads()).containsExactly("1", "2");
            assertThat(restarted.stop()).isEqualTo(ExitCode.OK);
        }
    }

    private static void schedule(Connection connection, String topic, String payload, String time) throws SQLException {
        OutboxDatabaseFixture.execute(
                connection, scheduling("'" + topic + "'", "'" + payload + "'", time, "(select) x"));
    }

    private static String scheduling(String topic, String payload, String time, String from) {
        return "insert into outbox_scheduled"
                + " (deliver_at, id, topic, key, type, source, occurred_at, content_type, payload)"
                + " select " + time + ", gen_random_uuid(), " + topic
                + ", 'k', 't', '/s', clock_timestamp(), 'text/plain', ("
                + payload + ")::text::bytea from " + from;
    }

    private List<String> payloads() throws SQLException {
        String all = OutboxDatabaseFixture.query(
                housekeeping, "select string_agg(convert_from(payload, 'UTF8'), ',' order by seq) from outbox_event");
        return List.of(all.split(","));
    }
}
