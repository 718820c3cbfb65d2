package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.Ledger;
import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedState;
import dev.twinbox.relay.kafka.ProducerSettings;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.NewPartitions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.PreferQueryMode;

/** Attacks with odd settings, several relays, sizes at their edges, and topics that change. */
@Tag("proof")
class HuntSettingsIT {
    private static final String SLOT_BY_HAND = "create table turn as select 0::smallint as slot;"
            + "create function turn() returns smallint language sql as 'select slot from turn';"
            + "alter table outbox_event alter column slot set default turn()";

    private static void insertMany(Connection connection, String topic, int from, int to) throws SQLException {
        OutboxDatabaseFixture.execute(
                connection,
                "insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)"
                        + " select gen_random_uuid(), '" + topic + "', 'k' || (i % 20), 't.x', '/test', clock_timestamp(),"
                        + " 'text/plain', convert_to('p' || i, 'UTF8')"
                        + " from generate_series(" + from + ", " + to + ") i");
    }

    private static OutboxDatabase with(EngineRig rig, Consumer<PGSimpleDataSource> settings) {
        PGSimpleDataSource source = rig.database.dataSource();
        settings.accept(source);
        return new OutboxDatabase(source, Duration.ofSeconds(20));
    }

    private static RelayConfig named(RelayConfig c, String name) {
        return new RelayConfig(
                name,
                c.tables(),
                c.database(),
                c.kafka(),
                c.page(),
                c.delivery(),
                c.lease(),
                c.idle(),
                c.retry(),
                c.parking(),
                c.http(),
                c.readyTimeout(),
                c.shutdownTimeout(),
                c.logLevel(),
                c.logFormat(),
                c.telemetry(),
                c.retention());
    }

    private static Relay startAs(EngineRig rig, String name, OutboxDatabase database) {
        RelayConfig config = named(rig.config(), name);
        Relay relay = new Relay(
                config,
                new Progress(System::nanoTime),
                database,
                purpose -> new KafkaProducer<>(ProducerSettings.of(config, purpose)));
        CompletableFuture<ExitCode> end = new CompletableFuture<>();
        new Thread(
                        () -> {
                            try {
                                end.complete(relay.run());
                            } catch (RuntimeException | Error e) {
                                System.out.println("HUNT relay " + name + " ended: " + e);
                                end.completeExceptionally(e);
                            }
                        },
                        "relay-" + name)
                .start();
        return relay;
    }

    /** Relay "relay" is down with ten unsent events; relay "b" sends all and rotates. */
    private static void rotateWithAnotherRelay(EngineRig rig, String between, Consumer<PGSimpleDataSource> settingsOfB)
            throws Exception {
        rig.execute(SLOT_BY_HAND);
        EngineRig.Running down = rig.start();
        try (Connection writer = rig.connect()) {
            insertMany(writer, rig.topic, 1, 1);
            rig.awaitRecords(1);
            down.stop();
            insertMany(writer, rig.topic, 2, 11);
        }
        rig.execute(between);
        Relay b = startAs(rig, "b", with(rig, settingsOfB));
        try {
            rig.awaitRecords(12); // 1 of "relay", 11 of "b"
            rig.execute("update turn set slot = 1");
            try (Connection writer = rig.connect()) {
                insertMany(writer, rig.topic, 12, 12);
            }
            rig.awaitRecords(13);
            Thread.sleep(4_000);
            assertThat(rig.number("select count(*) from outbox_event"))
                    .as("events that relay \"relay\" has not sent are kept")
                    .isEqualTo(12);
        } finally {
            b.close();
        }
    }

    @Test
    void attack11TheSlotOfALaggingRelayAfterTheSchemaWasRenamed() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rotateWithAnotherRelay(
                    rig,
                    "alter schema public rename to app; alter database \"" + rig.database.name()
                            + "\" set search_path = app",
                    source -> {});
        }
    }

    @Test
    void attack12TheSlotOfALaggingRelayAndARoleThatQuotesAllIdentifiers() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rotateWithAnotherRelay(rig, "select 1", source -> source.setOptions("-c quote_all_identifiers=on"));
        }
    }

    @Test
    void attack13ARestartUnderQuoteAllIdentifiers() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection writer = rig.connect()) {
            EngineRig.Running first = rig.start();
            insertMany(writer, rig.topic, 1, 1);
            rig.awaitRecords(1);
            first.stop();
            rig.relayDatabase = with(rig, source -> source.setOptions("-c quote_all_identifiers=on"));
            rig.start();
            insertMany(writer, rig.topic, 2, 2);
            await("the relay works again").atMost(Duration.ofSeconds(30)).until(() -> rig.recordCount() == 2);
        }
    }

    /** Backlog, a missing topic, scheduled events, a long transaction, many savepoints. */
    private static void everything(EngineRig rig) throws Exception {
        String late = rig.topic + "-late";
        try (Connection writer = rig.connect();
                Connection slow = rig.connect()) {
            slow.setAutoCommit(false);
            for (int i = 0; i < 50; i++) {
                rig.insert(slow, "slow" + i % 3, "slow " + i); // Only events of a common lock have an order.
            }
            insertMany(writer, rig.topic, 1, 5_000);
            insertMany(writer, late, 1, 300);
            rig.start();
            rig.awaitRecords(5_000);
            rig.awaitParked(ParkedState.WAITING, 20);
            writer.setAutoCommit(false);
            for (int i = 0; i < 150; i++) {
                OutboxDatabaseFixture.execute(writer, "savepoint s" + i);
                insertMany(writer, rig.topic, i * 10, i * 10 + 9);
                if (i % 3 == 0) {
                    OutboxDatabaseFixture.execute(writer, "rollback to savepoint s" + i);
                }
            }
            writer.commit();
            writer.setAutoCommit(true);
            slow.commit();
            OutboxDatabaseFixture.execute(
                    writer,
                    "insert into outbox_scheduled"
                            + " (deliver_at, id, topic, key, type, source, occurred_at, content_type, payload)"
                            + " select clock_timestamp() + i * interval '20 ms', gen_random_uuid(), '" + rig.topic
                            + "', 'k', 't.x', '/test', clock_timestamp(), 'text/plain', 's'"
                            + " from generate_series(1, 100) i");
            System.out.println("HUNT parked errors: "
                    + OutboxDatabaseFixture.query(
                            writer, "select string_agg(distinct left(coalesce(error, '-'), 60), '|') from outbox_parked"));
            EngineRig.KAFKA.createTopic(late, 2);
            insertMany(writer, late, 301, 600);
            await("the scheduled ones").until(() -> rig.number("select count(*) from outbox_scheduled") == 0);
            await("all").until(() -> rig.recordCount() >= rig.number(
                            "select count(*) from outbox_event where topic = '" + rig.topic + "'"));
            rig.awaitNothingParked();
            await("the ledger").pollInterval(Duration.ofMillis(500)).untilAsserted(() -> {
                try (Connection connection = rig.connect()) {
                    Ledger.create()
                            .committed(connection, "select topic, key, id, payload from outbox_event order by seq")
                            .published(EngineRig.KAFKA.bootstrapServers())
                            .assertExact();
                }
            });
        }
    }

    @Test
    void attack14SimpleQueryMode() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.relayDatabase = with(rig, source -> source.setPreferQueryMode(PreferQueryMode.SIMPLE));
            everything(rig);
        }
    }

    @Test
    void attack15SavepointsOfTheDriverNoBinaryAndSmallFetches() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.relayDatabase = with(rig, source -> {
                source.setAutosave(org.postgresql.jdbc.AutoSave.ALWAYS);
                source.setBinaryTransfer(false);
                source.setDefaultRowFetchSize(7);
                source.setPrepareThreshold(0);
            });
            everything(rig);
        }
    }

    @Test
    void attack16APlannerWithoutItsUsualMeans() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            String off = "";
            for (String name : List.of(
                    "enable_indexscan",
                    "enable_indexonlyscan",
                    "enable_sort",
                    "enable_nestloop",
                    "enable_material",
                    "enable_partition_pruning",
                    "array_nulls",
                    "standard_conforming_strings",
                    "enable_incremental_sort")) {
                off += " -c " + name + "=off";
            }
            String options = off + " -c debug_parallel_query=on -c from_collapse_limit=1 -c join_collapse_limit=1"
                    + " -c transform_null_equals=on -c work_mem=64kB -c cursor_tuple_fraction=0.01"
                    + " -c default_transaction_isolation=serializable -c default_transaction_deferrable=on"
                    + " -c idle_in_transaction_session_timeout=2000 -c statement_timeout=1000 -c lock_timeout=1000"
                    + " -c synchronous_commit=off -c vacuum_freeze_min_age=0 -c backslash_quote=off";
            rig.relayDatabase = with(rig, source -> source.setOptions(options.strip()));
            everything(rig);
        }
    }

    @Test
    void attack17TinyAndHugeRowsInOneBacklog() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic(Map.of("max.message.bytes", "3000000"))) {
            rig.kafka.put("max.request.size", "3000000");
            rig.page = new RelayConfig.Page(200, 60_000, 3);
            Random random = new Random(7);
            try (Connection writer = rig.connect()) {
                writer.setAutoCommit(false);
                for (int i = 0; i < 1_500; i++) {
                    int dice = random.nextInt(100);
                    int size = dice < 70 ? random.nextInt(30) : dice < 90 ? 3_700 + random.nextInt(200) : dice < 98
                            ? 60_000 - random.nextInt(700)
                            : 2_500_000;
                    byte[] payload = new byte[size];
                    random.nextBytes(payload);
                    OutboxDatabaseFixture.insert(writer, rig.topic, dice % 10 == 0 ? null : "k" + dice % 7, payload);
                }
                writer.commit();
            }
            rig.start();
            rig.assertExact();
        }
    }

    @Test
    void attack18SizesExactlyAtTheLimitOfTheTopicWithoutCompression() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic(Map.of("max.message.bytes", "5000"))) {
            rig.kafka.put("compression.type", "none");
            rig.start();
            try (Connection writer = rig.connect()) {
                for (int size = 4_500; size < 5_000; size++) {
                    OutboxDatabaseFixture.insert(writer, rig.topic, "k" + size, new byte[size]);
                }
            }
            await("each sent or parked")
                    .until(() -> rig.recordCount() + rig.number("select count(*) from outbox_parked") >= 500);
            long parked = rig.number("select count(*) from outbox_parked");
            System.out.println("HUNT a18 sent " + rig.recordCount() + ", parked " + parked + ", producers "
                    + rig.senders.get());
            assertThat(rig.recordCount() + parked).isEqualTo(500);
            assertThat(rig.senders.get()).as("producers").isEqualTo(1);
        }
    }

    @Test
    void attack19KeysAtTheirEdgesParkedAndSentInOrder() throws Exception {
        List<String> keys = new ArrayList<>(List.of(
                "\\", "\\\\", "\\000", "\\x41", "'", "\"", "{a,b}", "NULL", "null", "😀", "a/b", "a", " ", "\t\n",
                "\u00e9", "e\u0301", "%s{0}", "\u202e", "x".repeat(60_000), "y".repeat(2_800), "ß", "SS", "\uFFFD"));
        try (EngineRig rig = EngineRig.create();
                Connection writer = rig.connect()) {
            rig.start();
            writer.setAutoCommit(false);
            for (int round = 0; round < 4; round++) {
                for (String key : keys) {
                    rig.insert(writer, key, "r" + round);
                }
                writer.commit();
            }
            await("parked").until(() -> rig.number("select count(*) from outbox_parked") == 4L * keys.size());
            rig.withTopic();
            for (int round = 4; round < 8; round++) {
                for (String key : keys) {
                    rig.insert(writer, key, "r" + round);
                }
                writer.commit();
            }
            rig.assertExact();
            rig.awaitNothingParked();
            for (String key : keys) {
                assertThat(rig.payloadsOf(key).stream().distinct().toList())
                        .containsExactly("r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7");
            }
        }
    }

    @Test
    void attack20EachCompressionType() throws Exception {
        for (String type : List.of("none", "gzip", "snappy", "zstd", "lz4")) {
            try (EngineRig rig = EngineRig.create().withTopic(Map.of("max.message.bytes", "20000"));
                    Connection writer = rig.connect()) {
                rig.kafka.put("compression.type", type);
                rig.start();
                Random random = new Random(1);
                writer.setAutoCommit(false);
                for (int i = 0; i < 400; i++) {
                    byte[] payload = new byte[i % 20 == 7 ? 25_000 : 300];
                    if (i % 40 != 7) {
                        random.nextBytes(payload);
                    }
                    OutboxDatabaseFixture.insert(writer, rig.topic, "k" + i % 9, payload);
                }
                writer.commit();
                await("sent or parked, " + type)
                        .until(() -> new HashSet<>(ids(rig)).size()
                                        + rig.number("select count(*) from outbox_parked")
                                == 400);
                String published = String.join("','", ids(rig));
                // No event of a key was published after one of its key that is parked.
                assertThat(rig.number("select count(*) from outbox_event e where id in ('" + published + "')"
                                + " and exists (select from outbox_parked p where p.key = e.key and p.seq < e.seq)"))
                        .as("overtakers, " + type)
                        .isZero();
            }
        }
    }

    private static List<String> ids(EngineRig rig) {
        return rig.records().stream()
                .map(record -> new String(record.headers().lastHeader("ce_id").value(), StandardCharsets.UTF_8))
                .toList();
    }

    @Test
    void attack21PartitionsAreAddedUnderLoad() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.stallTimeout = Duration.ofSeconds(8);
            rig.start();
            ExecutorService threads = Executors.newFixedThreadPool(3);
            long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(25);
            List<Future<?>> writers = new ArrayList<>();
            for (int w = 0; w < 3; w++) {
                String prefix = "w" + w;
                writers.add(threads.submit(() -> {
                    try (Connection writer = rig.connect()) {
                        for (int i = 0; System.nanoTime() < end; i++) {
                            rig.insert(writer, prefix + "-" + i % 200, "%08d".formatted(i));
                        }
                    }
                    return null;
                }));
            }
            try (Admin admin = Admin.create(Map.of("bootstrap.servers", EngineRig.KAFKA.bootstrapServers()))) {
                for (int partitions = 10; partitions <= 100 && System.nanoTime() < end; partitions += 10) {
                    admin.createPartitions(Map.of(rig.topic, NewPartitions.increaseTo(partitions)))
                            .all()
                            .get(60, TimeUnit.SECONDS);
                    Thread.sleep(1_500);
                }
            }
            for (Future<?> writer : writers) {
                writer.get(60, TimeUnit.SECONDS);
            }
            threads.shutdown();
            long all = rig.number("select count(*) from outbox_event");
            await("all of " + all).untilAsserted(() -> assertThat(new HashSet<>(ids(rig))).hasSize((int) all));
            System.out.println("HUNT a21 events " + all + ", producers " + rig.senders.get() + ", parked ever "
                    + rig.number("select coalesce(max(number), 0) from outbox_parked"));
            Map<String, String> last = new java.util.HashMap<>();
            List<String> broken = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> record : rig.records()) {
                String place = record.partition() + "/" + new String(record.key(), StandardCharsets.UTF_8);
                String payload = new String(record.value(), StandardCharsets.UTF_8);
                String before = last.merge(place, payload, (a, b) -> a.compareTo(b) > 0 ? a : b);
                if (!before.equals(payload)) {
                    broken.add(place + ": " + payload + " after " + before);
                }
            }
            System.out.println("HUNT a21 broken or repeated: " + broken.size());
            assertThat(broken).isEmpty();
            rig.awaitNothingParked();
        }
    }

    @Test
    void attack22TheFirstRecordOfANewPartitionIsRefused() throws Exception {
        for (int attempt = 0; attempt < 5; attempt++) {
            try (EngineRig rig = EngineRig.create().withTopic();
                    Connection writer = rig.connect()) {
                rig.start();
                insertMany(writer, rig.topic, 1, 500);
                rig.awaitRecords(500);
                EngineRig.setTopic(rig.topic, "max.message.bytes", "5000");
                try (Admin admin = Admin.create(Map.of("bootstrap.servers", EngineRig.KAFKA.bootstrapServers()))) {
                    admin.createPartitions(Map.of(rig.topic, NewPartitions.increaseTo(40)))
                            .all()
                            .get(60, TimeUnit.SECONDS);
                }
                Thread.sleep(500);
                rig.producerSettings.clear();
                byte[] large = new byte[20_000];
                new Random(3).nextBytes(large);
                writer.setAutoCommit(false);
                for (int key = 0; key < 40; key++) {
                    OutboxDatabaseFixture.insert(writer, rig.topic, "new" + key, large);
                    for (int i = 0; i < 3; i++) {
                        rig.insert(writer, "new" + key, "after " + i);
                    }
                }
                writer.commit();
                await("each sent or parked")
                        .until(() -> rig.number("select count(distinct seq) from outbox_parked") == 160
                                || new HashSet<>(ids(rig)).size()
                                                + rig.number("select count(*) from outbox_parked")
                                        >= 660);
                long overtaken = rig.records().stream()
                        .filter(record -> new String(record.value(), StandardCharsets.UTF_8).startsWith("after"))
                        .count();
                System.out.println("HUNT a22 attempt " + attempt + ": overtakers " + overtaken);
                assertThat(overtaken).as("events that overtook a refused one of their key").isZero();
            }
        }
    }
}
