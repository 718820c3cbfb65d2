package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RedisServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.lock.HolderMain.Ways;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * What happens to two holders in two processes when one of them, or Redis, fails. Each fault is shown with a lock that
 * trusts Redis, which lets both write, and with the fence, which lets one write.
 */
@Tag("proof")
class LockFaultsIT {

    private static final String DATABASE = "lock_faults";
    private static final int LONG = 600_000;

    /** How long Redis may take to answer, as in an application; and where a busy machine must not decide. */
    private static final int LIMIT = 50;

    private static final int PATIENT = 5_000;
    private static final AtomicInteger KEYS = new AtomicInteger();
    private static final RedisServer REDIS = RedisServer.create();

    private static PostgresServer server;

    private final String key = "key-" + KEYS.incrementAndGet();
    private final List<Holder> holders = new ArrayList<>();

    @BeforeAll
    static void create() throws SQLException {
        server = SharedServers.postgres();
        server.createDatabase(DATABASE);
        PGSimpleDataSource owner = new PGSimpleDataSource();
        owner.setUrl(server.jdbcUrl(DATABASE));
        owner.setUser(server.user());
        owner.setPassword(server.password());
        new OutboxSchema(null, OutboxSchema.DEFAULT_TABLE).migrate(owner);
        try (Connection connection = server.connect(DATABASE);
                Statement statement = connection.createStatement()) {
            statement.execute("create table effect (key text not null, holder text not null)");
        }
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    @BeforeEach
    void startRedis() {
        REDIS.start();
        REDIS.ask("FLUSHALL");
    }

    @AfterEach
    void end() {
        holders.forEach(Holder::close);
        REDIS.resume();
    }

    @ParameterizedTest
    @EnumSource(Ways.class)
    void aHolderIsStoppedBeyondItsLeaseAndWritesAfterTheNewOne(Ways way) {
        Holder late = holder("late", way);
        Holder next = holder("next", way);
        assertThat(late.ask("take " + key + " 500")).isEqualTo("granted");
        late.pause();
        awaitGrant(next);
        assertThat(next.ask("write " + key)).isEqualTo("written");

        late.resume();

        assertThat(late.ask("write " + key)).isEqualTo(way == Ways.NAIVE ? "written" : "stale");
        assertThat(effects()).isEqualTo(way == Ways.NAIVE ? "next,late" : "next");
    }

    @ParameterizedTest
    @EnumSource(Ways.class)
    void aHolderIsStoppedBeyondItsLeaseAndWritesBeforeTheNewOne(Ways way) {
        Holder late = holder("late", way);
        Holder next = holder("next", way);
        assertThat(late.ask("take " + key + " 500")).isEqualTo("granted");
        late.pause();
        awaitGrant(next);

        late.resume();

        assertThat(late.ask("write " + key)).isEqualTo(way == Ways.NAIVE ? "written" : "stale");
        assertThat(next.ask("write " + key)).isEqualTo("written");
        assertThat(effects()).isEqualTo(way == Ways.NAIVE ? "late,next" : "next");
    }

    @ParameterizedTest
    @EnumSource(Ways.class)
    void aLeaseIsShorterThanTheWork(Ways way) {
        Holder slow = holder("slow", way);
        Holder next = holder("next", way);
        assertThat(slow.ask("take " + key + " 500")).isEqualTo("granted");
        awaitGrant(next);

        assertThat(slow.ask("write " + key)).isEqualTo(way == Ways.NAIVE ? "written" : "stale");
        assertThat(next.ask("write " + key)).isEqualTo("written");
        assertThat(effects()).isEqualTo(way == Ways.NAIVE ? "slow,next" : "next");
    }

    @ParameterizedTest
    @EnumSource(
            value = Ways.class,
            names = {"NAIVE", "REDIS"})
    void redisIsEmptied(Ways way) {
        Holder first = holder("first", way);
        Holder second = holder("second", way);
        assertThat(first.ask("take " + key + ' ' + LONG)).isEqualTo("granted");

        REDIS.ask("FLUSHALL");

        assertTheFirstIsRefused(way, first, second);
    }

    /** A start finds it empty, as a replica that had not received anything. */
    @ParameterizedTest
    @EnumSource(
            value = Ways.class,
            names = {"NAIVE", "REDIS"})
    void redisIsKilledAndAnEmptyReplicaTakesItsPlace(Ways way) {
        Holder first = holder("first", way);
        Holder second = holder("second", way);
        assertThat(first.ask("take " + key + ' ' + LONG)).isEqualTo("granted");

        REDIS.kill();
        if (way == Ways.REDIS) {
            assertThat(second.ask("take " + key + ' ' + LONG))
                    .as("the lease in the database decides while Redis is away")
                    .isEqualTo("empty");
        }
        REDIS.start();

        assertTheFirstIsRefused(way, first, second);
    }

    private void assertTheFirstIsRefused(Ways way, Holder first, Holder second) {
        awaitGrant(second);
        assertThat(first.ask("write " + key)).isEqualTo(way == Ways.NAIVE ? "written" : "stale");
        assertThat(second.ask("write " + key)).isEqualTo("written");
        assertThat(effects()).isEqualTo(way == Ways.NAIVE ? "first,second" : "second");
    }

    @Test
    void redisIsStopped() {
        Holder naive = holder("naive", Ways.NAIVE);
        Holder first = holder("first", Ways.REDIS, REDIS.port(), LIMIT);
        Holder second = holder("second", Ways.REDIS, REDIS.port(), LIMIT);

        REDIS.pause();

        assertThat(naive.ask("take " + key + ' ' + LONG)).startsWith("failed: ");
        long asked = System.nanoTime();
        assertThat(first.ask("take " + key + ' ' + LONG)).isEqualTo("granted");
        assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofSeconds(1));
        assertThat(second.ask("take " + key + ' ' + LONG)).isEqualTo("empty");

        REDIS.resume();
        // It grants only now what it was asked for meanwhile. The lock gives that back with the rest.
        await().atMost(Duration.ofSeconds(30)).until(() -> first.ask("redis").equals("up"));
        assertThat(first.ask("write " + key)).isEqualTo("written");
        assertThat(first.ask("close")).isEqualTo("closed");
        awaitGrant(second);
        assertThat(second.ask("write " + key)).isEqualTo("written");
        assertThat(effects()).isEqualTo("first,second");
    }

    /** Its answer comes when the lease that it grants is over. */
    @ParameterizedTest
    @EnumSource(
            value = Ways.class,
            names = {"NAIVE", "REDIS"})
    void redisIsSlow(Ways way) {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", REDIS.port())) {
            Holder first = holder("first", way, proxy.port(), LIMIT);
            Holder second = holder("second", way);
            if (way == Ways.NAIVE) {
                assertThat(first.ask("take warm-up " + LONG)).isEqualTo("granted");
            }
            proxy.delay(Duration.ofMillis(400));

            assertThat(first.ask("take " + key + " 100")).isEqualTo("granted");

            awaitGrant(second);
            assertThat(first.ask("write " + key)).isEqualTo(way == Ways.NAIVE ? "written" : "stale");
            assertThat(second.ask("write " + key)).isEqualTo("written");
            assertThat(effects()).isEqualTo(way == Ways.NAIVE ? "first,second" : "second");
        }
    }

    /** A naive holder that pauses there believes that it has the lock, as above: it was stopped beyond its lease. */
    @Test
    void aHolderPausesBetweenRedisAndTheToken() {
        Holder paused = holder("paused", Ways.REDIS);
        Holder next = holder("next", Ways.REDIS);
        paused.tell("take-paused " + key + " 100");
        assertThat(paused.answer()).isEqualTo("taken");
        awaitGrant(next);

        paused.tell("go on");

        assertThat(paused.answer()).as("Redis has another owner").isEqualTo("empty");
        assertThat(next.ask("write " + key))
                .as("its token is no longer the last one, so it has to begin anew")
                .isEqualTo("stale");
        assertThat(next.ask("close")).isEqualTo("closed");
        awaitGrant(next);
        assertThat(next.ask("write " + key)).isEqualTo("written");
        assertThat(effects()).isEqualTo("next");
    }

    /** Leases of the fenced locks are measured by the clocks of the database and of Redis, not by those of the holders. */
    @Test
    void oneClockIsAnHourOff() {
        Holder first = holder("first", Ways.NAIVE);
        Holder ahead = holder("ahead", Ways.NAIVE);
        long hour = Duration.ofHours(1).toMillis();
        assertThat(first.ask("take-by-clock " + key + ' ' + LONG + " 0")).isEqualTo("granted");
        assertThat(ahead.ask("take-by-clock " + key + ' ' + LONG + ' ' + hour)).isEqualTo("granted");
        assertThat(first.ask("write " + key)).isEqualTo("written");
        assertThat(ahead.ask("write " + key)).isEqualTo("written");
        assertThat(effects()).isEqualTo("first,ahead");

        Holder fenced = holder("fenced", Ways.POSTGRESQL);
        assertThat(fenced.ask("take " + key + ' ' + LONG)).isEqualTo("granted");
        assertThat(holder("other", Ways.POSTGRESQL).ask("take " + key + ' ' + LONG))
                .isEqualTo("empty");
    }

    private Holder holder(String name, Ways way) {
        return holder(name, way, REDIS.port(), PATIENT);
    }

    private Holder holder(String name, Ways way, int redisPort, int limitMillis) {
        Holder holder = new Holder(name, way, server, DATABASE, redisPort, limitMillis);
        holders.add(holder);
        return holder;
    }

    private void awaitGrant(Holder holder) {
        await().atMost(Duration.ofSeconds(30))
                .until(() -> holder.ask("take " + key + ' ' + LONG).equals("granted"));
    }

    /** The holders whose effect is there, in order. */
    private String effects() {
        try (Connection connection = server.connect(DATABASE);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(
                        "select coalesce(string_agg(holder, ',' order by ctid), '') from effect where key = '" + key
                                + "'")) {
            row.next();
            return row.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
