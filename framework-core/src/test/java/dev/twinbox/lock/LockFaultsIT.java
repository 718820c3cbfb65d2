package dev.twinbox.lock;

import static dev.twinbox.lock.Holders.LONG;
import static dev.twinbox.lock.Holders.PATIENT;
import static dev.twinbox.lock.Holders.awaitGrant;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RedisServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.lock.HolderMain.Ways;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * What happens to two holders in two processes when one of them, or Redis, fails. Each fault is shown with a lock that
 * trusts Redis, which lets both write, and with the fence, which lets one write.
 */
@Tag("proof")
class LockFaultsIT {

    /** How long Redis may take to answer, as in an application. */
    private static final int LIMIT = 50;

    private static final AtomicInteger KEYS = new AtomicInteger();
    private static final RedisServer REDIS = RedisServer.create();

    private static EffectDatabase database;

    private final String key = "key-" + KEYS.incrementAndGet();
    private Holders holders;

    @BeforeAll
    static void create() throws SQLException {
        database = EffectDatabase.create(SharedServers.postgres(), "lock_faults");
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    @BeforeEach
    void startRedis() {
        REDIS.start();
        REDIS.ask("FLUSHALL");
        holders = new Holders(database, REDIS.port());
    }

    @AfterEach
    void end() {
        holders.close();
        REDIS.resume();
    }

    @ParameterizedTest
    @EnumSource(Ways.class)
    void aHolderIsStoppedBeyondItsLeaseAndWritesAfterTheNewOne(Ways way) {
        Holder late = holders.start("late", way);
        Holder next = holders.start("next", way);
        assertThat(late.ask("take " + key + " 500")).isEqualTo("granted");
        late.pause();
        awaitGrant(next, key);
        assertThat(next.ask("write " + key)).isEqualTo("written");

        late.resume();

        assertThat(late.ask("write " + key)).isEqualTo(refusedUnlessNaive(way));
        assertHolders(way, "next", "late");
    }

    @ParameterizedTest
    @EnumSource(Ways.class)
    void aHolderIsStoppedBeyondItsLeaseAndWritesBeforeTheNewOne(Ways way) {
        Holder late = holders.start("late", way);
        Holder next = holders.start("next", way);
        assertThat(late.ask("take " + key + " 500")).isEqualTo("granted");
        late.pause();
        awaitGrant(next, key);

        late.resume();

        assertTheFirstIsRefused(way, late, next);
    }

    @ParameterizedTest
    @EnumSource(Ways.class)
    void aLeaseIsShorterThanTheWork(Ways way) {
        Holder slow = holders.start("slow", way);
        Holder next = holders.start("next", way);
        assertThat(slow.ask("take " + key + " 500")).isEqualTo("granted");
        awaitGrant(next, key);

        assertTheFirstIsRefused(way, slow, next);
    }

    @ParameterizedTest
    @EnumSource(
            value = Ways.class,
            names = {"NAIVE", "REDIS"})
    void redisIsEmptied(Ways way) {
        Holder first = holders.start("first", way);
        Holder second = holders.start("second", way);
        assertThat(first.ask("take " + key + ' ' + LONG)).isEqualTo("granted");

        REDIS.ask("FLUSHALL");

        awaitGrant(second, key);
        assertTheFirstIsRefused(way, first, second);
    }

    @ParameterizedTest
    @EnumSource(
            value = Ways.class,
            names = {"NAIVE", "REDIS"})
    void redisIsKilledAndStartsWithoutItsData(Ways way) {
        Holder first = holders.start("first", way);
        Holder second = holders.start("second", way);
        assertThat(first.ask("take " + key + ' ' + LONG)).isEqualTo("granted");

        REDIS.kill();
        assertNobodyGets(way, second);
        REDIS.start();

        awaitGrant(second, key);
        assertTheFirstIsRefused(way, first, second);
    }

    /** Replication is asynchronous, so a replica may lack the newest keys. */
    @ParameterizedTest
    @EnumSource(
            value = Ways.class,
            names = {"NAIVE", "REDIS"})
    void redisFailsOverToAReplicaThatLacksTheKey(Ways way) {
        try (RedisServer replica = RedisServer.create().start();
                TcpProxy replication = TcpProxy.to("127.0.0.1", REDIS.port());
                TcpProxy clients = TcpProxy.to("127.0.0.1", REDIS.port())) {
            replica.follow(REDIS, replication.port());
            replication.blackHole();
            Holder first = holders.start("first", way, clients.port(), PATIENT);
            Holder second = holders.start("second", way, clients.port(), PATIENT);
            assertThat(first.ask("take " + key + ' ' + LONG)).isEqualTo("granted");

            REDIS.kill();
            assertNobodyGets(way, second);
            replica.lead();
            clients.redirect(replica.port());

            awaitGrant(second, key);
            assertTheFirstIsRefused(way, first, second);
        }
    }

    /** While Redis is away the lease in the database decides. A naive lock cannot be taken at all. */
    private void assertNobodyGets(Ways way, Holder second) {
        String answer = second.ask("take " + key + ' ' + LONG);
        if (way == Ways.NAIVE) {
            assertThat(answer).startsWith("failed: ");
        } else {
            assertThat(answer).isEqualTo("empty");
        }
    }

    /** The second one was granted the key and has not written yet. */
    private void assertTheFirstIsRefused(Ways way, Holder first, Holder second) {
        assertThat(first.ask("write " + key)).isEqualTo(refusedUnlessNaive(way));
        assertThat(second.ask("write " + key)).isEqualTo("written");
        if (way == Ways.NAIVE) {
            assertThat(database.holders(key)).hasSize(2);
        } else {
            assertThat(database.holders(key)).singleElement().isIn("second", "next");
        }
    }

    private static String refusedUnlessNaive(Ways way) {
        return way == Ways.NAIVE ? "written" : "stale";
    }

    private void assertHolders(Ways way, String allowed, String refused) {
        if (way == Ways.NAIVE) {
            assertThat(database.holders(key)).containsExactly(allowed, refused);
        } else {
            assertThat(database.holders(key)).containsExactly(allowed);
        }
    }

    @Test
    void redisIsStopped() {
        Holder naive = holders.start("naive", Ways.NAIVE);
        Holder first = holders.start("first", Ways.REDIS, REDIS.port(), LIMIT);
        Holder second = holders.start("second", Ways.REDIS, REDIS.port(), LIMIT);

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
        awaitGrant(second, key);
        assertThat(second.ask("write " + key)).isEqualTo("written");
        assertThat(database.holders(key)).containsExactly("first", "second");
    }

    /** Of the locks that the database grants meanwhile only the latest one writes. A naive lock cannot be taken. */
    @Test
    void redisIsStoppedUntilALeaseOfTheDatabaseEnds() {
        Holder naive = holders.start("naive", Ways.NAIVE);
        Holder first = holders.start("first", Ways.REDIS, REDIS.port(), LIMIT);
        Holder second = holders.start("second", Ways.REDIS, REDIS.port(), LIMIT);

        REDIS.pause();
        assertThat(naive.ask("take " + key + ' ' + LONG)).startsWith("failed: ");
        assertThat(first.ask("take " + key + " 500")).isEqualTo("granted");
        awaitGrant(second, key);
        REDIS.resume();

        assertTheFirstIsRefused(Ways.REDIS, first, second);
    }

    /** Its answer comes when the lease that it grants is over. */
    @ParameterizedTest
    @EnumSource(
            value = Ways.class,
            names = {"NAIVE", "REDIS"})
    void redisIsSlow(Ways way) {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", REDIS.port())) {
            Holder first = holders.start("first", way, proxy.port(), LIMIT);
            Holder second = holders.start("second", way);
            if (way == Ways.NAIVE) {
                assertThat(first.ask("take warm-up " + LONG)).isEqualTo("granted");
            }
            proxy.delay(Duration.ofMillis(400));

            assertThat(first.ask("take " + key + " 100")).isEqualTo("granted");

            awaitGrant(second, key);
            assertTheFirstIsRefused(way, first, second);
        }
    }

    /** The first to take the key in Redis believes that it has it. The fence knows only the grant of the other. */
    @ParameterizedTest
    @EnumSource(
            value = Ways.class,
            names = {"NAIVE", "REDIS"})
    void aHolderPausesBetweenRedisAndTheToken(Ways way) {
        Holder paused = holders.start("paused", way);
        Holder next = holders.start("next", way);
        paused.tell("take-paused " + key + " 100");
        assertThat(paused.answer()).isEqualTo("taken");
        awaitGrant(next, key);

        paused.tell("go on");

        if (way == Ways.NAIVE) {
            assertThat(paused.answer()).isEqualTo("granted");
            assertTheFirstIsRefused(way, paused, next);
            return;
        }
        assertThat(paused.answer()).as("Redis has another owner").isEqualTo("empty");
        assertThat(next.ask("write " + key))
                .as("its token is no longer the last one, so it has to begin anew")
                .isEqualTo("stale");
        assertThat(next.ask("close")).isEqualTo("closed");
        awaitGrant(next, key);
        assertThat(next.ask("write " + key)).isEqualTo("written");
        assertThat(database.holders(key)).containsExactly("next");
    }
}
