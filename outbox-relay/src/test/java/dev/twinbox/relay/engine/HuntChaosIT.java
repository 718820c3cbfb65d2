package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.Ledger;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.jdbc.Rebase;
import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.copy.CopyManager;
import org.postgresql.core.BaseConnection;
import org.postgresql.ds.PGSimpleDataSource;

/** Attacks with broken networks, killed servers, restored databases and topics created anew. */
@Tag("proof")
class HuntChaosIT {

    private static void insertMany(Connection connection, String topic, int from, int to) throws SQLException {
        OutboxDatabaseFixture.execute(
                connection,
                "insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " select gen_random_uuid(), '" + topic + "', 'k' || (i % 20), 't.x', '/test', clock_timestamp(),"
                        + " 'text/plain', convert_to('p' || i, 'UTF8')"
                        + " from generate_series(" + from + ", " + to + ") i");
    }

    private static void burnIds(PostgresServer server, long ids) throws SQLException {
        try (Connection connection = server.connect("postgres")) {
            OutboxDatabaseFixture.execute(
                    connection,
                    "do $$ begin for i in 1.." + ids + " loop perform pg_current_xact_id(); commit; end loop; end $$");
        }
    }

    private static long nextId(PostgresServer server) throws SQLException {
        try (Connection connection = server.connect("postgres")) {
            return Long.parseLong(OutboxDatabaseFixture.query(connection, "select pg_current_xact_id()::text"));
        }
    }

    private static OutboxDatabaseFixture restore(OutboxDatabaseFixture from, PostgresServer server, String... order)
            throws Exception {
        OutboxDatabaseFixture restored = OutboxDatabaseFixture.create(server);
        try (Connection source = from.connect();
                Connection target = restored.connect()) {
            for (String table : order) {
                ByteArrayOutputStream data = new ByteArrayOutputStream();
                new CopyManager(source.unwrap(BaseConnection.class))
                        .copyOut("copy (select * from " + table + ") to stdout", data);
                new CopyManager(target.unwrap(BaseConnection.class))
                        .copyIn("copy " + table + " from stdin", new ByteArrayInputStream(data.toByteArray()));
            }
            OutboxDatabaseFixture.execute(
                    target,
                    "select setval('outbox_event_seq', "
                            + OutboxDatabaseFixture.query(source, "select last_value from outbox_event_seq") + ")");
        }
        return restored;
    }

    private static List<String> payloadsOn(String topic) {
        return EngineRig.KAFKA.readAll(topic).stream()
                .map(record -> new String(record.value(), StandardCharsets.UTF_8))
                .toList();
    }

    @Test
    void attack23PauseAfterARestoreAndARowWrittenInASavepoint() throws Exception {
        try (PostgresServer other = PostgresServer.create().start()) {
            burnIds(OutboxDatabaseFixture.server(), 20_000);
            try (EngineRig old = EngineRig.create().withTopic();
                    Connection writer = old.connect()) {
                EngineRig.Running relay = old.start();
                insertMany(writer, old.topic, 1, 5);
                old.awaitRecords(5);
                relay.stop();
                insertMany(writer, old.topic, 6, 8);
                OutboxDatabaseFixture restored =
                        restore(old.database, other, "outbox_event", "outbox_lease", "outbox_position");
                try (EngineRig rig = new EngineRig(restored);
                        Connection owner = restored.connect()) {
                    owner.setAutoCommit(false);
                    OutboxDatabaseFixture.query(owner, "select pg_current_xact_id()");
                    OutboxDatabaseFixture.execute(owner, "savepoint s");
                    OutboxDatabaseFixture.insert(
                            owner, old.topic, "k", "written here in a savepoint".getBytes(StandardCharsets.UTF_8));
                    owner.commit();
                    owner.setAutoCommit(true);
                    long identifier = OutboxDatabase.identify(owner).systemIdentifier();
                    assertThat(new LeaseTable(owner, OutboxDatabaseFixture.SCHEMA, "relay").pause(identifier))
                            .isTrue();
                    System.out.println("HUNT a23 " + new Rebase(owner, OutboxDatabaseFixture.SCHEMA).run(identifier));
                    assertThat(new LeaseTable(owner, OutboxDatabaseFixture.SCHEMA, "relay").resume())
                            .isTrue();
                    rig.start();
                    await("unsent ones and the one written here")
                            .atMost(Duration.ofSeconds(20))
                            .untilAsserted(() -> assertThat(payloadsOn(old.topic))
                                    .contains("p6", "p7", "p8", "written here in a savepoint"));
                }
            }
        }
    }

    @Test
    void attack24ARestoreThatBringsTheLeaseBeforeTheEvents() throws Exception {
        try (PostgresServer other = PostgresServer.create().start()) {
            try (EngineRig old = EngineRig.create().withTopic();
                    Connection writer = old.connect()) {
                EngineRig.Running relay = old.start();
                old.insert(writer, "k", "e0");
                old.awaitRecords(1);
                relay.stop();
                old.insert(writer, "k", "e1");
                long first = nextId(OutboxDatabaseFixture.server());
                burnIds(OutboxDatabaseFixture.server(), 4_000);
                old.insert(writer, "k", "e2");
                long now = nextId(other);
                if (now < first + 1_500) {
                    burnIds(other, first + 1_500 - now);
                }
                // pg_dump's order for a table named "orders": orders_lease, orders_position_…, orders_slot0 …
                OutboxDatabaseFixture restored =
                        restore(old.database, other, "outbox_lease", "outbox_position", "outbox_event");
                try (EngineRig rig = new EngineRig(restored);
                        Connection owner = restored.connect()) {
                    System.out.println("HUNT a24 "
                            + new Rebase(owner, OutboxDatabaseFixture.SCHEMA)
                                    .run(OutboxDatabase.identify(owner).systemIdentifier()));
                    rig.start();
                    await("both").until(() -> payloadsOn(old.topic).containsAll(List.of("e1", "e2")));
                    List<String> firsts = payloadsOn(old.topic).stream().distinct().toList();
                    assertThat(firsts).containsExactly("e0", "e1", "e2");
                }
            }
        }
    }

    @Test
    void attack25ChaosAtLeastOnce() throws Exception {
        chaos(DeliveryMode.AT_LEAST_ONCE, 25);
    }

    @Test
    void attack26ChaosExactlyOnce() throws Exception {
        chaos(DeliveryMode.EXACTLY_ONCE, 26);
    }

    /** Networks break at random, with a missing topic, a paused topic, emptied slots, and long transactions. */
    private static void chaos(DeliveryMode mode, int seed) throws Exception {
        Random random = new Random(seed);
        try (EngineRig rig = EngineRig.create().withTopic();
                TcpProxy toDatabase = TcpProxy.to("127.0.0.1", OutboxDatabaseFixture.server().port());
                TcpProxy toKafka = EngineRig.KAFKA.proxy()) {
            String late = rig.topic + "-late";
            String paused = rig.topic + "-paused";
            EngineRig.KAFKA.createTopic(paused, 2);
            rig.execute("create table turn as select 0::smallint as slot;"
                    + "create function turn() returns smallint language sql as 'select slot from turn';"
                    + "alter table outbox_event alter column slot set default turn();"
                    + "create table ledger as select * from outbox_event with no data");
            PGSimpleDataSource source = rig.database.dataSource();
            source.setUrl(OutboxDatabaseFixture.server().jdbcUrl(rig.database.name(), toDatabase));
            source.setSocketTimeout(4);
            source.setConnectTimeout(3);
            source.setLoginTimeout(3);
            rig.relayDatabase = new OutboxDatabase(source, Duration.ofSeconds(4));
            rig.kafka.put("bootstrap.servers", EngineRig.KAFKA.bootstrapServers(toKafka));
            rig.lease = Duration.ofSeconds(3);
            rig.stallTimeout = Duration.ofSeconds(10);
            rig.page = new RelayConfig.Page(60, 40_000, 3);
            rig.delivery = mode;
            if (mode == DeliveryMode.EXACTLY_ONCE) {
                rig.createPositionTopic();
            }
            rig.start();
            rig.start(); // a standby that takes over
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(60);
            ExecutorService threads = Executors.newFixedThreadPool(3);
            List<Future<?>> writers = new ArrayList<>();
            for (int w = 0; w < 3; w++) {
                int writer = w;
                writers.add(threads.submit(() -> {
                    write(rig, List.of(rig.topic, rig.topic, late, paused), writer, end);
                    return null;
                }));
            }
            int step = 0;
            while (System.nanoTime() < end) {
                TcpProxy proxy = random.nextInt(3) == 0 ? toKafka : toDatabase;
                switch (random.nextInt(4)) {
                    case 0 -> proxy.cut();
                    case 1 -> proxy.holdAnswers();
                    case 2 -> proxy.blackHole();
                    default -> proxy.delay(Duration.ofMillis(random.nextInt(60)));
                }
                Thread.sleep(random.nextInt(2_500));
                if (random.nextBoolean()) {
                    proxy.cut();
                }
                proxy.heal();
                proxy.delay(Duration.ZERO);
                Thread.sleep(random.nextInt(2_500));
                rig.execute("update turn set slot = (slot + 1) % 3");
                step++;
                if (step == 4) {
                    EngineRig.KAFKA.createTopic(late, 2);
                }
                if (step % 4 == 1) {
                    rig.execute("insert into outbox_paused (relay, topic) values ('relay', '" + paused
                            + "') on conflict do nothing");
                } else if (step % 4 == 3) {
                    rig.execute("delete from outbox_paused");
                }
            }
            for (Future<?> writer : writers) {
                writer.get(60, TimeUnit.SECONDS);
            }
            threads.shutdown();
            if (step < 4) {
                EngineRig.KAFKA.createTopic(late, 2);
            }
            rig.execute("delete from outbox_paused");
            long all = rig.number("select count(*) from ledger");
            await("all published").atMost(Duration.ofMinutes(3)).untilAsserted(() -> {
                List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>(rig.records());
                records.addAll(EngineRig.KAFKA.readAll(late));
                records.addAll(EngineRig.KAFKA.readAll(paused));
                HashSet<String> ids = new HashSet<>();
                records.forEach(record ->
                        ids.add(new String(record.headers().lastHeader("ce_id").value(), StandardCharsets.UTF_8)));
                assertThat(ids).hasSize((int) all);
            });
            try (Connection connection = rig.connect()) {
                var report = Ledger.create()
                        .committed(connection, "select topic, key, id, payload from ledger order by seq")
                        .published(EngineRig.KAFKA.bootstrapServers())
                        .check();
                System.out.println("HUNT chaos " + mode + ", steps " + step + ": " + report);
                assertThat(report.isExact()).as(report.toString()).isTrue();
            }
            System.out.println("HUNT chaos " + mode + " left in the outbox "
                    + rig.number("select count(*) from outbox_event") + " of " + all);
            if (mode == DeliveryMode.EXACTLY_ONCE) {
                List<String> ids = new ArrayList<>();
                for (String topic : List.of(rig.topic, late, paused)) {
                    for (ConsumerRecord<byte[], byte[]> record : EngineRig.KAFKA.readAll(topic)) {
                        ids.add(new String(record.headers().lastHeader("ce_id").value(), StandardCharsets.UTF_8));
                    }
                }
                assertThat(ids).as("each once").hasSize((int) all);
            }
        }
    }

    /** Each writer has keys of its own, so that the order of seq is the order of its transactions. */
    private static void write(EngineRig rig, List<String> topics, int writer, long end) throws Exception {
        Random random = new Random(writer);
        try (Connection connection = rig.connect()) {
            connection.setAutoCommit(false);
            while (System.nanoTime() < end) {
                int events = random.nextInt(30) == 0 ? 300 : 1 + random.nextInt(4);
                String topic = topics.get(random.nextInt(topics.size()));
                OutboxDatabaseFixture.execute(
                        connection,
                        "with e as (insert into outbox_event"
                                + " (id, topic, key, type, source, occurred_at, content_type, payload)"
                                + " select gen_random_uuid(), '" + topic + "', 'w" + writer + "-' || (i % 5), 't.x',"
                                + " '/test', clock_timestamp(), 'text/plain', convert_to('p' || i, 'UTF8')"
                                + " from generate_series(1, " + events + ") i returning *)"
                                + " insert into ledger select * from e");
                if (random.nextInt(12) == 0) {
                    Thread.sleep(random.nextInt(1_500));
                }
                if (random.nextInt(10) == 0) {
                    connection.rollback();
                } else {
                    connection.commit();
                }
                Thread.sleep(random.nextInt(40));
            }
        }
    }

    @Test
    void attack27ThePreparedTransactionOutlivesACrashAndARotation() throws Exception {
        try (PostgresServer server = PostgresServer.create()
                .withSetting("max_prepared_transactions", "10")
                .start()) {
            OutboxDatabaseFixture database = OutboxDatabaseFixture.create(server);
            try (EngineRig rig = new EngineRig(database).withTopic()) {
                rig.execute("create table turn as select 0::smallint as slot;"
                        + "create function turn() returns smallint language sql as 'select slot from turn';"
                        + "alter table outbox_event alter column slot set default turn()");
                rig.start();
                try (Connection writer = rig.connect()) {
                    writer.setAutoCommit(false);
                    OutboxDatabaseFixture.execute(writer, "savepoint a");
                    insertMany(writer, rig.topic, 1, 10);
                    OutboxDatabaseFixture.execute(writer, "prepare transaction 'hunt'");
                    writer.setAutoCommit(true);
                    insertMany(writer, rig.topic, 11, 3_000);
                }
                rig.awaitRecords(2_990);
                rig.execute("update turn set slot = 1");
                server.kill();
                server.start();
                try (Connection writer = rig.connect()) {
                    insertMany(writer, rig.topic, 3_001, 4_000);
                    await("those after the crash")
                            .until(() -> new HashSet<>(rig.payloads()).size() == 3_990);
                    Thread.sleep(2_500);
                    OutboxDatabaseFixture.execute(writer, "commit prepared 'hunt'");
                }
                await("the prepared ones").untilAsserted(() -> assertThat(new HashSet<>(rig.payloads()))
                        .hasSize(4_000));
            }
        }
    }

    @Test
    void attack28KafkaIsKilledInTheMiddleOfTransactions() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.delivery = DeliveryMode.EXACTLY_ONCE;
            rig.createPositionTopic();
            rig.start();
            try (Connection writer = rig.connect()) {
                for (int round = 0; round < 4; round++) {
                    insertMany(writer, rig.topic, round * 5_000 + 1, round * 5_000 + 5_000);
                    Thread.sleep(300 + 150 * round);
                    EngineRig.KAFKA.kill();
                    EngineRig.KAFKA.start();
                }
            }
            await("all").atMost(Duration.ofMinutes(2)).untilAsserted(() -> assertThat(new HashSet<>(rig.payloads()))
                    .hasSize(20_000));
            assertThat(rig.payloads()).as("each once").hasSize(20_000);
            rig.assertExact();
        }
    }

    @Test
    void attack29ATopicIsDeletedAndCreatedAgainWithFewerPartitionsUnderLoad() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Admin admin = Admin.create(Map.of("bootstrap.servers", EngineRig.KAFKA.bootstrapServers()))) {
            rig.stallTimeout = Duration.ofSeconds(10);
            rig.start();
            try (Connection writer = rig.connect()) {
                for (int round = 0; round < 3; round++) {
                    insertMany(writer, rig.topic, round * 20_000 + 1, round * 20_000 + 20_000);
                    Thread.sleep(200);
                    admin.deleteTopics(List.of(rig.topic)).all().get(60, TimeUnit.SECONDS);
                    Thread.sleep(500);
                    int partitions = 3 - round;
                    await("created again").ignoreExceptions().until(() -> {
                        EngineRig.KAFKA.createTopic(rig.topic, partitions);
                        return true;
                    });
                }
                insertMany(writer, rig.topic, 100_001, 100_100);
            }
            await("events after it all")
                    .until(() -> rig.payloads().stream()
                                    .filter(payload -> payload.length() == 7)
                                    .distinct()
                                    .count()
                            == 100);
            rig.awaitNothingParked();
        }
    }

    @Test
    void attack30TheAnswerToTheCommitOfAParkingIsLost() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                TcpProxy toDatabase = TcpProxy.to("127.0.0.1", OutboxDatabaseFixture.server().port());
                Connection writer = rig.connect()) {
            PGSimpleDataSource source = rig.database.dataSource();
            source.setUrl(OutboxDatabaseFixture.server().jdbcUrl(rig.database.name(), toDatabase));
            source.setSocketTimeout(4);
            rig.relayDatabase = new OutboxDatabase(source, Duration.ofSeconds(4));
            rig.lease = Duration.ofSeconds(3);
            rig.start();
            String missing = rig.topic + "-missing";
            int events = 0;
            for (int round = 0; round < 8; round++) {
                insertMany(writer, missing, events + 1, events + 10);
                insertMany(writer, rig.topic, events + 1, events + 10);
                events += 10;
                long saves = rig.saves();
                await("a save").pollInterval(Duration.ofMillis(1)).until(() -> rig.saves() > saves);
                toDatabase.holdAnswers();
                insertMany(writer, missing, events + 1, events + 10);
                events += 10;
                Thread.sleep(700);
                toDatabase.cut();
                toDatabase.heal();
            }
            int all = events;
            await("parked once each")
                    .until(() -> rig.number("select count(*) from outbox_parked") >= all);
            Thread.sleep(1_000);
            assertThat(rig.number("select count(*) from outbox_parked")).isEqualTo(all);
            assertThat(rig.number("select count(distinct id) from outbox_parked")).isEqualTo(all);
            EngineRig.KAFKA.createTopic(missing, 1);
            await("sent").until(() -> new HashSet<>(payloadsOn(missing)).size() == all);
            rig.awaitNothingParked();
            assertThat(rig.parkedIn(ParkedState.WAITING)).isZero();
        }
    }
}
