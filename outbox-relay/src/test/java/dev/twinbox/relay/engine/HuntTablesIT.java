package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedState;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashSet;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Attacks with operators' statements on the tables while the relay runs: rewrites, locks, deletes, restarts. */
@Tag("proof")
class HuntTablesIT {
    private static final String REWRITE = "alter table outbox_event add column note uuid default gen_random_uuid()";

    private static void insertMany(Connection connection, String topic, int from, int to, String rest)
            throws SQLException {
        OutboxDatabaseFixture.execute(
                connection,
                "insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " select gen_random_uuid(), '" + topic + "', 'k' || (i % 20), 't.x', '/test', clock_timestamp(),"
                        + " 'text/plain', convert_to('p' || i || '" + rest + "', 'UTF8')"
                        + " from generate_series(" + from + ", " + to + ") i");
    }

    private static void insertMany(EngineRig rig, int from, int to) throws SQLException {
        try (Connection connection = rig.connect()) {
            insertMany(connection, rig.topic, from, to, "");
        }
    }

    private static EngineRig rig() throws SQLException {
        EngineRig rig = EngineRig.create().withTopic();
        rig.relayDatabase = new OutboxDatabase(rig.database.dataSource(), Duration.ofSeconds(20));
        return rig;
    }

    private static void awaitWaiting(EngineRig rig, String statement) {
        await(statement + " waits for a lock")
                .pollInterval(Duration.ofMillis(20))
                .until(() -> rig.number("select count(*) from pg_stat_activity where datname = current_database()"
                                + " and wait_event_type = 'Lock' and query like '%" + statement + "%'"
                                + " and pid <> pg_backend_pid()")
                        > 0);
    }

    private static void assertAllArrive(EngineRig rig, int count) {
        await("all " + count + " distinct events")
                .atMost(Duration.ofSeconds(40))
                .pollInterval(Duration.ofMillis(500))
                .untilAsserted(() -> assertThat(new HashSet<>(rig.payloads())).hasSize(count));
    }

    @Test
    void attack01RewriteWhileCopyWaitsForTheLock() throws Exception {
        try (EngineRig rig = rig();
                Connection owner = rig.connect()) {
            insertMany(rig, 1, 60_000);
            rig.start();
            rig.awaitRecords(2_000);
            owner.setAutoCommit(false);
            OutboxDatabaseFixture.execute(owner, "lock table outbox_event in access exclusive mode");
            System.out.println("HUNT a01 sent at the lock: " + rig.recordCount());
            awaitWaiting(rig, "relay: copy the next page");
            OutboxDatabaseFixture.execute(owner, REWRITE);
            owner.commit();
            assertAllArrive(rig, 60_000);
        }
    }

    @Test
    void attack02PlainRewriteDuringABacklog() throws Exception {
        try (EngineRig rig = rig()) {
            insertMany(rig, 1, 60_000);
            rig.start();
            rig.awaitRecords(2_000);
            rig.execute(REWRITE);
            System.out.println("HUNT a02 sent after the rewrite: " + rig.recordCount());
            assertAllArrive(rig, 60_000);
        }
    }

    @Test
    void attack03VacuumFullClusterAndReindexDuringABacklog() throws Exception {
        try (EngineRig rig = rig()) {
            insertMany(rig, 1, 60_000);
            rig.start();
            rig.awaitRecords(2_000);
            for (int i = 0; i < 3; i++) {
                rig.execute("vacuum full outbox_event_slot0");
                rig.execute("vacuum full outbox_event_slot1");
                rig.execute("vacuum full outbox_event_slot2");
                rig.execute("reindex table outbox_event_slot0");
            }
            assertAllArrive(rig, 60_000);
            rig.assertExact();
        }
    }

    /** The transaction of such a window has its snapshot before the lock. One round in ten waits at the fence instead. */
    @Test
    void attack04RewriteWhileAWindowWithoutFloorIsOpened() throws Exception {
        try (EngineRig rig = rig();
                Connection writer = rig.connect();
                Connection owner = rig.connect()) {
            rig.execute("alter sequence outbox_event_seq cache 10"); // Such a sequence has no floor.
            rig.start();
            insertMany(writer, rig.topic, 1, 10, "");
            rig.awaitRecords(10);
            owner.setAutoCommit(false);
            for (int round = 1; round <= 6; round++) {
                insertMany(writer, rig.topic, round * 100, round * 100 + 9, "");
                OutboxDatabaseFixture.execute(owner, "lock table outbox_event in access exclusive mode");
                await("the reader waits")
                        .pollInterval(Duration.ofMillis(20))
                        .until(() -> rig.number("select count(*) from pg_stat_activity"
                                        + " where datname = current_database() and wait_event_type = 'Lock'"
                                        + " and query similar to '-- relay: (look for the first|open window|read the seq)%'")
                                > 0);
                OutboxDatabaseFixture.execute(owner, REWRITE.replace("note", "note" + round));
                owner.commit();
            }
            assertAllArrive(rig, 70);
        }
    }

    @Test
    void attack05PauseWhileAScheduledEventIsLocked() throws Exception {
        try (EngineRig rig = rig();
                Connection owner = rig.connect()) {
            rig.execute("insert into outbox_scheduled"
                    + " (deliver_at, id, topic, key, type, source, occurred_at, content_type, payload)"
                    + " values (clock_timestamp() + interval '2 s', gen_random_uuid(), '" + rig.topic
                    + "', 'k', 't.x', '/test', clock_timestamp(), 'text/plain', 's')");
            owner.setAutoCommit(false);
            OutboxDatabaseFixture.execute(owner, "select 1 from outbox_scheduled for update");
            rig.start();
            insertMany(rig, 1, 1);
            rig.awaitRecords(1);
            awaitWaiting(rig, "move scheduled events");
            rig.execute("update outbox_lease set paused_at = clock_timestamp()");
            Thread.sleep(5_000);
            insertMany(rig, 2, 2);
            Thread.sleep(3_000);
            assertThat(rig.recordCount()).as("sent although paused for 5 s").isEqualTo(1);
        }
    }

    @Test
    void attack06OneLockedScheduledEventHoldsUpTheOthers() throws Exception {
        try (EngineRig rig = rig();
                Connection owner = rig.connect()) {
            for (String payload : new String[] {"locked", "free"}) {
                rig.execute("insert into outbox_scheduled"
                        + " (deliver_at, id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " values (clock_timestamp(), gen_random_uuid(), '" + rig.topic
                        + "', '" + payload + "', 't.x', '/test', clock_timestamp(), 'text/plain', '" + payload + "')");
            }
            owner.setAutoCommit(false);
            OutboxDatabaseFixture.execute(
                    owner, "select 1 from outbox_scheduled where key = 'locked' for update");
            rig.start();
            await("the free one").atMost(Duration.ofSeconds(45)).until(() -> rig.recordCount() == 1);
        }
    }

    @Test
    void attack07ALockOnOneParkedRowStopsOtherKeys() throws Exception {
        try (EngineRig rig = rig();
                Connection owner = rig.connect();
                Connection writer = rig.connect()) {
            rig.lease = Duration.ofSeconds(5);
            String missing = rig.topic + "-missing";
            rig.start();
            insertMany(writer, missing, 1, 1, "");
            rig.awaitParked(ParkedState.WAITING, 1);
            owner.setAutoCommit(false);
            OutboxDatabaseFixture.execute(owner, "select 1 from outbox_parked for update");
            EngineRig.KAFKA.createTopic(missing, 1);
            awaitWaiting(rig, "claim parked events");
            Thread.sleep(7_000);
            long worst = 0;
            for (int i = 1; i <= 30; i++) {
                long begin = System.nanoTime();
                insertMany(writer, rig.topic, i, i, "");
                rig.awaitRecords(i);
                worst = Math.max(worst, (System.nanoTime() - begin) / 1_000_000);
                Thread.sleep(300);
            }
            System.out.println("HUNT a07 worst latency ms: " + worst);
            assertThat(worst).as("latency of other topics in ms").isLessThan(5_000);
        }
    }

    @Test
    void attack08SequenceWithACacheAndBack() throws Exception {
        try (EngineRig rig = rig();
                Connection first = rig.connect();
                Connection second = rig.connect()) {
            rig.start();
            insertMany(first, rig.topic, 1, 1, "");
            rig.execute("alter sequence outbox_event_seq cache 20");
            insertMany(first, rig.topic, 2, 2, "");
            insertMany(second, rig.topic, 3, 3, "");
            rig.execute("alter sequence outbox_event_seq cache 1");
            insertMany(rig, 4, 30);
            assertAllArrive(rig, 30);
            Thread.sleep(1_500);
            insertMany(first, rig.topic, 31, 31, "");
            assertAllArrive(rig, 31);
        }
    }

    @Test
    void attack09TruncateAndDeleteDuringABacklogAndWhileParking() throws Exception {
        try (EngineRig rig = rig()) {
            rig.start();
            try (Connection writer = rig.connect()) {
                for (int round = 0; round < 5; round++) {
                    insertMany(writer, rig.topic, round * 10_000, round * 10_000 + 5_000, "");
                    insertMany(writer, rig.topic + "-none", 1, 500, "");
                    rig.execute(
                            round % 2 == 0
                                    ? "truncate outbox_event"
                                    : "delete from outbox_event where topic like '%-none'");
                }
                OutboxDatabaseFixture.execute(writer, "truncate outbox_event restart identity");
                insertMany(writer, rig.topic, 100_000, 100_100, "last");
            }
            await("events after it all")
                    .until(() -> rig.payloads().stream()
                                    .filter(payload -> payload.endsWith("last"))
                                    .distinct()
                                    .count()
                            == 101);
        }
    }

    @Test
    void attack10TheLeaseAndThePositionsAreMovedAboutUnderLoad() throws Exception {
        try (EngineRig rig = rig()) {
            rig.start();
            for (int round = 0; round < 6; round++) {
                insertMany(rig, round * 2_000 + 1, round * 2_000 + 2_000);
                switch (round % 3) {
                    case 0 -> rig.execute("delete from outbox_lease");
                    case 1 -> rig.execute("vacuum full outbox_position");
                    default -> rig.execute(
                            "alter table outbox_position add column note" + round + " uuid default gen_random_uuid()");
                }
            }
            rig.assertExact();
        }
    }
}
