package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedState;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.common.header.Header;
import org.junit.jupiter.api.DisplayName;
import org.junit.jupiter.api.Test;

/** The engine on real servers, from committed rows to acknowledged records and to the saved position. */
class RelayEngineIT {

    @Test
    @DisplayName("SEQ-GAP: a transaction that commits late, with a lower number, is not jumped over")
    void seqGap() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection first = rig.connect();
                Connection second = rig.connect()) {
            rig.start();
            first.setAutoCommit(false);
            rig.insert(first, "a", "early number, late commit");
            rig.insert(second, "b", "late number, early commit");
            rig.awaitRecords(1);
            assertThat(rig.payloads()).containsExactly("late number, early commit");
            first.commit();
            await().until(() -> rig.recordCount() >= 2);
            rig.assertExact();
        }
    }

    @Test
    @DisplayName("SEQ-GAP: 100 threads that pause between insert and commit, and roll back one in five")
    void seqGapUnderLoad() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.start();
            ExecutorService threads = Executors.newFixedThreadPool(100);
            List<Future<?>> writers = new ArrayList<>();
            for (int i = 0; i < 100; i++) {
                Random random = new Random(i);
                writers.add(threads.submit(() -> writeWithPauses(rig, random)));
            }
            for (Future<?> writer : writers) {
                writer.get(60, TimeUnit.SECONDS);
            }
            threads.shutdown();
            rig.assertExact();
            assertThat(rig.recordCount()).isEqualTo(rig.number("select count(*) from outbox_event"));
        }
    }

    private static Void writeWithPauses(EngineRig rig, Random random) throws SQLException {
        try (Connection connection = rig.connect()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < 5; i++) {
                rig.insert(connection, null, "event " + i);
                LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(300)));
                if (random.nextInt(5) == 0) {
                    connection.rollback();
                } else {
                    connection.commit();
                }
            }
        }
        return null;
    }

    @Test
    @DisplayName("ORDER-XID: a key's events come in the order of its versions, whoever began first")
    void orderXid() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection early = rig.connect();
                Connection late = rig.connect()) {
            rig.execute("create table account (id text primary key, version int);"
                    + "insert into account values ('unrelated', 0), ('k', 0), ('l', 0)");
            early.setAutoCommit(false);
            late.setAutoCommit(false);
            // (a) the transaction with the lower xid changes the key last
            OutboxDatabaseFixture.execute(early, "update account set version = 1 where id = 'unrelated'");
            OutboxDatabaseFixture.execute(late, "update account set version = 1 where id = 'k'");
            rig.insert(late, "k", "k1");
            late.commit();
            OutboxDatabaseFixture.execute(early, "update account set version = 2 where id = 'k'");
            rig.insert(early, "k", "k2");
            early.commit();
            // (b) again the lower xid, and it must wait for the row lock
            OutboxDatabaseFixture.execute(early, "update account set version = 2 where id = 'unrelated'");
            OutboxDatabaseFixture.execute(late, "update account set version = 1 where id = 'l'");
            rig.insert(late, "l", "l1");
            ExecutorService waiting = Executors.newSingleThreadExecutor();
            Future<?> second = waiting.submit(() -> {
                OutboxDatabaseFixture.execute(early, "update account set version = 2 where id = 'l'");
                rig.insert(early, "l", "l2");
                early.commit();
                return null;
            });
            await().until(() -> rig.number("select count(*) from pg_locks where not granted") > 0);
            late.commit();
            second.get(90, TimeUnit.SECONDS);
            waiting.shutdown();
            // (c) a thousand of one key in one transaction
            for (int i = 0; i < 1_000; i++) {
                rig.insert(early, "m", "m%04d".formatted(i));
            }
            early.commit();

            rig.start();
            rig.awaitRecords(1_004);
            Map<String, List<String>> byKey = new TreeMap<>();
            for (ConsumerRecord<byte[], byte[]> record : rig.records()) {
                byKey.computeIfAbsent(text(record.key()), key -> new ArrayList<>())
                        .add(text(record.value()));
            }
            assertThat(byKey.get("k")).containsExactly("k1", "k2");
            assertThat(byKey.get("l")).containsExactly("l1", "l2");
            assertThat(byKey.get("m")).hasSize(1_000).isSorted();
        }
    }

    @Test
    void aRecordCarriesTheCloudEventInKafkasBinaryMode() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.execute("insert into outbox_event (id, topic, key, type, source, subject, occurred_at, content_type,"
                    + " headers, payload) values ('0190163d-8694-739b-aea5-966c26f8ad90', '" + rig.topic
                    + "', 'Ключ', 'order.placed', '/orders', 'ord/1', '2026-11-29T13:06:07.000089+02',"
                    + " 'application/json', '{traceparent,00-1-2-01,empty,\"\"}', '{}')");
            rig.execute("insert into outbox_event (id, topic, type, source, occurred_at, content_type) values"
                    + " ('0190163d-8694-739b-aea5-966c26f8ad91', '" + rig.topic
                    + "', 'order.gone', '/orders', '1969-12-31T23:59:59.999999Z', 'text/plain')");
            rig.start();
            rig.awaitRecords(2);
            ConsumerRecord<byte[], byte[]> whole = record(rig, "order.placed");
            assertThat(text(whole.key())).isEqualTo("Ключ");
            assertThat(text(whole.value())).isEqualTo("{}");
            assertThat(headers(whole))
                    .containsExactly(
                            "ce_specversion=1.0",
                            "ce_id=0190163d-8694-739b-aea5-966c26f8ad90",
                            "ce_type=order.placed",
                            "ce_source=/orders",
                            "ce_time=2026-11-29T11:06:07.000089Z",
                            "content-type=application/json",
                            "ce_partitionkey=Ключ",
                            "ce_subject=ord/1",
                            "traceparent=00-1-2-01",
                            "empty=");
            ConsumerRecord<byte[], byte[]> bare = record(rig, "order.gone");
            assertThat(bare.key()).isNull();
            assertThat(bare.value()).isNull();
            assertThat(headers(bare))
                    .containsExactly(
                            "ce_specversion=1.0",
                            "ce_id=0190163d-8694-739b-aea5-966c26f8ad91",
                            "ce_type=order.gone",
                            "ce_source=/orders",
                            "ce_time=1969-12-31T23:59:59.999999Z",
                            "content-type=text/plain");
        }
    }

    private static ConsumerRecord<byte[], byte[]> record(EngineRig rig, String type) {
        return rig.records().stream()
                .filter(record ->
                        text(record.headers().lastHeader("ce_type").value()).equals(type))
                .findFirst()
                .orElseThrow();
    }

    private static List<String> headers(ConsumerRecord<byte[], byte[]> record) {
        List<String> headers = new ArrayList<>();
        for (Header header : record.headers()) {
            headers.add(header.key() + "=" + text(header.value()));
        }
        return headers;
    }

    @Test
    void withoutAnAcknowledgementThePositionStandsTheLeaseIsRenewedAndMemoryStaysBounded() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.page = new RelayConfig.Page(1_000, 20_000, 3);
            rig.lease = Duration.ofSeconds(10);
            EngineRig.Running relay = rig.start();
            rig.insert(connection, "k", "first");
            rig.awaitRecords(1);
            await().until(() -> rig.saves() == 1);
            EngineRig.KAFKA.pause();
            try {
                for (int i = 0; i < 500; i++) {
                    rig.insert(connection, "k", "x".repeat(700));
                }
                await().until(() -> relay.progress().backlog() > 0);
                // three renewals, each of which moves the end of the lease
                for (int i = 0; i < 3; i++) {
                    long end = leaseEnd(rig);
                    await().until(() -> leaseEnd(rig) > end);
                }
                assertThat(relay.progress().backlog()).as("rows in memory").isBetween(20L, 60L);
                assertThat(rig.saves()).isEqualTo(1);
                await("no session stays within a transaction")
                        .until(() -> rig.number("select count(*) from pg_stat_activity where state like 'idle in"
                                        + " transaction%' and datname = current_database()")
                                == 0);
            } finally {
                EngineRig.KAFKA.resume();
            }
            rig.assertExact();
            await().until(() -> relay.progress().backlog() == 0);
        }
    }

    private static long leaseEnd(EngineRig rig) throws SQLException {
        return rig.number("select (extract(epoch from ends_at) * 1000000)::bigint from outbox_lease");
    }

    /** The first record of a partition is awaited in any case, so the later ones show it. */
    @Test
    void whatComesAloneDoesNotLingerInTheProducer() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection writer = rig.connect()) {
            rig.producerSettings.put(ProducerConfig.LINGER_MS_CONFIG, 600_000);
            rig.start();
            for (int event = 1; event <= 3; event++) {
                rig.insert(writer, "k", "event " + event);
                rig.awaitRecords(event);
            }
            rig.assertExact();
        }
    }

    @Test
    void pagesThatFollowEachOtherShareASave() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.page = new RelayConfig.Page(1, 100_000, 4);
            try (Connection writer = rig.connect()) {
                writer.setAutoCommit(false);
                for (int i = 0; i < 500; i++) {
                    rig.insert(writer, "key", "event " + i);
                }
                writer.commit();
            }
            rig.start();
            rig.assertExact();
            String gaps =
                    " from (select saved_at - lag(saved_at) over (order by number) as gap from outbox_position) g";
            assertThat(rig.number("select count(gap)" + gaps)).isPositive();
            assertThat(rig.number("select count(*)" + gaps + " where gap < interval '19 ms'"))
                    .as("of %d saves, those less than 20 ms after the one before", rig.saves())
                    .isZero();
        }
    }

    @Test
    void aLiveLeaseOfAnotherIsWaitedForAndADeadOwnersIsTakenWhenItEnds() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.insert(connection, "k", "waits");
            rig.execute("insert into outbox_lease select 'relay', gen_random_uuid(), 7, clock_timestamp()"
                    + " + interval '1 hour', system_identifier from pg_control_system()");
            EngineRig.Running relay = rig.start();
            await().until(() -> relay.progress().lease() == Progress.Lease.ELSEWHERE);
            assertThat(rig.recordCount()).isZero();
            rig.execute("update outbox_lease set ends_at = clock_timestamp() + interval '1 second'");
            rig.execute("create table ended as select ends_at from outbox_lease");
            rig.awaitRecords(1);
            await().until(() -> rig.saves() > 0);
            assertThat(rig.number("select count(*) from outbox_position, ended where saved_at < ends_at"))
                    .isZero();
            assertThat(relay.progress().epoch()).isEqualTo(8);
            assertThat(relay.progress().polls()).isPositive();
        }
    }

    @Test
    void aLostLeaseNeverMovesThePositionAndIsTakenBackWhenItEnds() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            EngineRig.Running relay = rig.start();
            rig.insert(connection, "k", "1");
            await().until(() -> rig.saves() == 1);
            EngineRig.KAFKA.pause();
            try {
                rig.insert(connection, "k", "2");
                await().until(() -> relay.progress().backlog() == 1);
                // as another process would leave it while this one slept for longer than the lease
                rig.execute("update outbox_lease set owner = gen_random_uuid(), epoch = epoch + 1,"
                        + " ends_at = clock_timestamp() + interval '15 seconds'");
            } finally {
                EngineRig.KAFKA.resume();
            }
            await().until(() -> relay.progress().lease() == Progress.Lease.ELSEWHERE);
            assertThat(rig.saves()).isEqualTo(1);
            assertThat(relay.progress().backlog()).as("dropped").isZero();
            await().until(() -> relay.progress().lease() == Progress.Lease.HELD);
            rig.insert(connection, "k", "3");
            rig.assertExact();
            await().until(() -> rig.saves() > 1);
        }
    }

    @Test
    void stoppingSettlesWhatIsInFlightAndFreesTheLeaseForTheNext() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.lease = Duration.ofMinutes(5);
            EngineRig.Running first = rig.start();
            for (int i = 0; i < 500; i++) {
                rig.insert(connection, "k" + i % 7, "event " + i);
            }
            rig.awaitRecords(1);
            assertThat(first.stop()).isEqualTo(ExitCode.OK);
            EngineRig.Running second = rig.start();
            await().until(() -> second.progress().lease() == Progress.Lease.HELD);
            rig.assertExact();
            assertThat(second.stop()).isEqualTo(ExitCode.OK);
            assertThat(rig.recordCount()).as("no record twice").isEqualTo(500);
        }
    }

    /** The position after a page must not skip events of an earlier page that could not be parked. */
    @Test
    void whenParkingFailsAStopSavesNoLaterPosition() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.page = new RelayConfig.Page(1, 100_000, 4);
            rig.execute("create function refuse() returns trigger language plpgsql as "
                    + "$$ begin raise exception 'no parking here'; end $$");
            rig.execute("create trigger refuse before insert on outbox_parked for each row execute function refuse()");
            OutboxDatabaseFixture.insert(connection, rig.topic + "-missing", "a", new byte[] {'a'});
            Relay relay = rig.relay(new Progress(System::nanoTime));
            await("parking has failed").pollInSameThread().until(() -> saveFails(relay));

            long saves = rig.saves();
            rig.insert(connection, "b", "later");
            rig.awaitRecords(1);
            relay.stop();
            relay.run();

            assertThat(rig.saves()).isEqualTo(saves);
            rig.execute("drop trigger refuse on outbox_parked");
            rig.start();
            rig.awaitParked(ParkedState.WAITING, 1);
        }
    }

    private static boolean saveFails(Relay relay) throws Exception {
        try {
            relay.runOnce();
            return false;
        } catch (SQLException e) {
            assertThat(e.getMessage()).contains("no parking here");
            return true;
        }
    }

    @Test
    void lostDatabaseConnectionsCostNothing() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            EngineRig.Running relay = rig.start();
            for (int round = 0; round < 6; round++) {
                for (int i = 0; i < 50; i++) {
                    rig.insert(connection, "k" + i % 5, round + " " + i);
                }
                // the reading connection, the saving one, or both
                rig.execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database()"
                        + " and pid <> pg_backend_pid() and query like '-- relay%'"
                        + (round % 3 == 0 ? " and query like '%window%'" : "")
                        + (round % 3 == 1 ? " and query not like '%window%'" : ""));
                long polls = relay.progress().polls();
                await().until(() -> relay.progress().polls() > polls + 2);
            }
            rig.assertExact();
            assertThat(relay.progress().databaseFailures()).isPositive();
        }
    }

    @Test
    void anErrorWithinAPollIsRecoveredFrom() throws Exception {
        AtomicInteger errors = new AtomicInteger(3);
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect()) {
            rig.relayDatabase = new OutboxDatabase(failing(rig.database.dataSource(), errors), Duration.ofSeconds(20));
            EngineRig.Running relay = rig.start();
            rig.insert(connection, "k", "arrives all the same");
            rig.assertExact();
            assertThat(errors).hasValueLessThanOrEqualTo(0);
            assertThat(relay.end()).isNotDone();
            await().until(() -> relay.progress().databaseCause() == null);
        }
    }

    /** A data source whose statements that open a window throw an {@link Error} while the counter is positive. */
    private static DataSource failing(DataSource real, AtomicInteger errors) {
        return proxy(
                DataSource.class,
                real,
                "getConnection",
                connection -> proxy(
                        Connection.class,
                        (Connection) connection,
                        "prepareStatement",
                        statement -> proxy(
                                PreparedStatement.class, (PreparedStatement) statement, "executeQuery", result -> {
                                    if (statement.toString().contains("open window") && errors.getAndDecrement() > 0) {
                                        throw new StackOverflowError("injected");
                                    }
                                    return result;
                                })));
    }

    private interface Change {
        Object of(Object result) throws SQLException;
    }

    private static <T> T proxy(Class<T> type, T real, String method, Change change) {
        return type.cast(Proxy.newProxyInstance(
                type.getClassLoader(), new Class<?>[] {type}, (self, called, arguments) -> {
                    try {
                        Object result = called.invoke(real, arguments);
                        return called.getName().equals(method) ? change.of(result) : result;
                    } catch (InvocationTargetException e) {
                        throw e.getCause();
                    }
                }));
    }

    @Test
    void aPositionOfAnotherClusterIsRefused() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.execute("insert into outbox_lease values ('relay', null, 3, now(), 4711)");
            RelayException refusal = rig.start().refusal();
            assertThat(refusal.exitCode()).isEqualTo(ExitCode.DATABASE);
            assertThat(refusal).hasMessageContaining("4711").hasMessageContaining("rebase");
        }
    }

    @Test
    void aPositionInAnotherEventTableIsRefused() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.execute("insert into outbox_lease select 'relay', null, 3, now(), system_identifier, 'public.other'"
                    + " from pg_control_system()");
            RelayException refusal = rig.start().refusal();
            assertThat(refusal.exitCode()).isEqualTo(ExitCode.SCHEMA);
            assertThat(refusal)
                    .hasMessageContaining("public.other")
                    .hasMessageContaining("public.outbox_event")
                    .hasMessageContaining("twinbox.outbox.table");
        }
    }

    @Test
    void missingTablesAreRefusedAtOnce() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic()) {
            rig.execute("drop table outbox_position");
            RelayException refusal = rig.start().refusal();
            assertThat(refusal.exitCode()).isEqualTo(ExitCode.SCHEMA);
            assertThat(refusal).hasMessageContaining("outbox_position").hasMessageContaining("migrate");
        }
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }
}
