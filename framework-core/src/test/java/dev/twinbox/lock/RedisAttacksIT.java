package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.KeyLock;
import dev.twinbox.config.Secret;
import dev.twinbox.fixtures.RedisServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.lock.QuickLeases.AwayException;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Attacks on leases in Redis that have succeeded once. */
@Timeout(60)
class RedisAttacksIT {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int PATIENT = 5_000;
    private static final AtomicInteger KEYS = new AtomicInteger();
    private static final RedisServer REDIS = RedisServer.create();

    private static EffectDatabase database;

    private final String key = "key-" + KEYS.incrementAndGet();
    private final LogLines log = new LogLines(RedisLeases.class);
    private final List<QuickLeases> open = new ArrayList<>();

    @BeforeAll
    static void create() throws SQLException {
        database = EffectDatabase.create(SharedServers.postgres(), "redis_attacks");
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    @BeforeEach
    void start() {
        REDIS.start();
    }

    @AfterEach
    void close() {
        log.close();
        open.forEach(QuickLeases::close);
    }

    @Test
    void fault81AnInterruptedThreadStaysInterruptedAndRedisIsNotLeftAlone() throws Exception {
        QuickLeases leases = leases(PATIENT);
        leases.isHeld(key, "me");
        REDIS.pause();
        List<CompletableFuture<Boolean>> busy = new ArrayList<>();
        AtomicBoolean isInterrupted = new AtomicBoolean();
        try {
            for (int i = 0; i < 16; i++) { // all connections there may be
                busy.add(CompletableFuture.supplyAsync(() -> isHeld(leases), task -> new Thread(task).start()));
            }
            Thread asking = new Thread(() -> {
                assertThatThrownBy(() -> leases.take(key, "me", LONG)).isInstanceOf(AwayException.class);
                isInterrupted.set(Thread.currentThread().isInterrupted());
            });
            await().until(() -> asking() == 16);
            asking.start();
            await().until(() -> asking.getState() == Thread.State.TIMED_WAITING);
            asking.interrupt();
            asking.join(4_000);
        } finally {
            REDIS.resume();
        }

        assertThat(isInterrupted).isTrue();
        assertThat(busy).allMatch(each -> !each.join());
        assertThat(log.lines()).isEmpty();
    }

    /** How many threads wait for an answer of Redis. */
    private static long asking() {
        return Thread.getAllStackTraces().values().stream()
                .filter(stack -> Arrays.stream(stack)
                        .anyMatch(frame -> frame.getClassName().equals("redis.clients.jedis.Connection")
                                && frame.getMethodName().startsWith("read")))
                .count();
    }

    private boolean isHeld(QuickLeases leases) {
        try {
            return leases.isHeld(key, "me");
        } catch (AwayException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void fault84RedisThatRefusesIsNotSaidToBeSilent() {
        REDIS.ask("ACL SETUSER reader on nopass ~* +@connection +get");
        QuickLeases leases = new RedisLeases(
                new LockConfiguration.Redis(RedisAddress.parse(REDIS.url()), "reader", new Secret("any")),
                () -> "twinbox:",
                PATIENT,
                LockParts.SOCKETS);
        open.add(leases);

        assertThatThrownBy(() -> leases.take(key, "me", LONG)).isInstanceOf(AwayException.class);

        assertThat(log.lines())
                .singleElement()
                .asString()
                .contains(" refuses: NOPERM", "the database decides about locks");
    }

    /** As the documentation says. */
    @Test
    void fault84AUserWithTheCommandsOfTheDocumentationTakesExtendsAndGivesBack() throws AwayException {
        REDIS.ask("ACL SETUSER billing on >pw ~twinbox:* +@connection +set +get +del +pexpire +eval");
        QuickLeases leases = new RedisLeases(
                new LockConfiguration.Redis(RedisAddress.parse(REDIS.url()), "billing", new Secret("pw")),
                () -> "twinbox:",
                PATIENT,
                LockParts.SOCKETS);
        open.add(leases);

        assertThat(leases.take(key, "me", LONG)).isTrue();
        assertThat(leases.isHeld(key, "me")).isTrue();
        assertThat(leases.extend(key, "me", LONG)).isTrue();
        leases.release(key, "me");

        assertThat(leases.isHeld(key, "me")).isFalse();
        assertThat(log.lines()).isEmpty();
    }

    @Test
    void fault86ALeaseOfTheDatabaseIsNotTakenAwayByRedis() {
        KeyLock first = database.parts(null).tryLock(key, LONG).orElseThrow();
        LockParts onRedis = database.parts(leases(PATIENT));

        assertThat(onRedis.tryLock(key, LONG)).isEmpty();
        assertThat(REDIS.ask("EXISTS twinbox:" + key)).isEqualTo(":0");

        first.close();
        KeyLock second = onRedis.tryLock(key, LONG).orElseThrow();
        REDIS.ask("DEL twinbox:" + key);
        assertThat(onRedis.tryLock(key, LONG))
                .as("Redis has lost its own lease")
                .isPresent();
        assertThat(second.token()).isPositive();
    }

    @Test
    void fault86ALeaseThatWasExtendedWithoutRedisIsTheDatabasesFromThenOn() {
        KeyLock first = database.parts(leases(PATIENT)).tryLock(key, LONG).orElseThrow();
        REDIS.kill();
        assertThat(first.extend(LONG)).isTrue();
        REDIS.start(); // without its data

        assertThat(database.parts(leases(PATIENT)).tryLock(key, LONG)).isEmpty();
        assertThat(first.extend(LONG)).isTrue();
        first.close();
        assertThat(database.parts(leases(PATIENT)).tryLock(key, LONG)).isPresent();
    }

    @Test
    void fault86AConnectionThatRedisHasClosedIsReplaced() throws AwayException {
        QuickLeases leases = leases(PATIENT);
        leases.isHeld(key, "me");
        REDIS.ask("CLIENT KILL TYPE normal");

        assertThat(leases.take(key, "me", LONG)).isTrue();
        assertThat(leases.isHeld(key, "me")).isTrue();
        assertThat(log.lines()).isEmpty();
    }

    @Test
    void fault94ARedisClusterIsNamedOnceAndTheDatabaseDecides() {
        try (RedisServer cluster = RedisServer.create().asCluster().start()) {
            serveHalfOfTheKeys(cluster);
            LockParts parts = database.parts(leases(cluster, null));

            assertEachKeyIsGrantedOnce(parts);
        }

        assertThat(log.lines())
                .singleElement()
                .asString()
                .contains(" is a Redis Cluster, which locks do not support: ", "twinbox.locks to postgresql");
    }

    /** Its first answers are as those of any Redis. */
    @Test
    void fault94ARedisClusterIsNamedByItsAnswersToo() {
        try (RedisServer cluster = RedisServer.create().asCluster().start()) {
            serveHalfOfTheKeys(cluster);
            cluster.ask("ACL SETUSER quiet on nopass ~* +@all -hello");
            LockParts parts = database.parts(leases(cluster, "quiet"));

            assertEachKeyIsGrantedOnce(parts);
        }

        assertThat(log.lines())
                .singleElement()
                .asString()
                .contains(" is a Redis Cluster, which locks do not support: ");
    }

    private static void serveHalfOfTheKeys(RedisServer cluster) {
        cluster.ask("CONFIG SET cluster-require-full-coverage no");
        cluster.ask("CLUSTER ADDSLOTS "
                + IntStream.range(0, 8_192).mapToObj(Integer::toString).collect(Collectors.joining(" ")));
        await().atMost(Duration.ofSeconds(30))
                .until(() -> cluster.ask("CLUSTER INFO").contains("cluster_state:ok"));
    }

    private QuickLeases leases(RedisServer server, @Nullable String user) {
        QuickLeases leases = new RedisLeases(
                new LockConfiguration.Redis(
                        RedisAddress.parse(server.url()), user, user == null ? null : new Secret("any")),
                () -> "twinbox:",
                PATIENT,
                LockParts.SOCKETS);
        open.add(leases);
        return leases;
    }

    private void assertEachKeyIsGrantedOnce(LockParts parts) {
        for (int i = 0; i < 12; i++) {
            String one = key + "-" + i;
            assertThat(parts.tryLock(one, LONG)).isPresent();
            assertThat(parts.tryLock(one, LONG)).isEmpty();
        }
    }

    /** The remedy is that of the documentation. */
    @Test
    void fault95KeysThatWereClosedWithRedisAreFreedForTheDatabase() {
        database.parts(leases(PATIENT)).tryLock(key, LONG).orElseThrow().close();
        KeyLock ofDatabase = database.parts(null).tryLock(key + "-other", LONG).orElseThrow();
        assertThat(database.parts(null).tryLock(key, LONG)).isEmpty();

        database.execute("update outbox_lock set lease_until = clock_timestamp() "
                + "where extract(microseconds from lease_until)::bigint % 1000 % 2 = 1");

        assertThat(database.parts(null).tryLock(key, LONG)).isPresent();
        assertThat(ofDatabase.isHeld()).isTrue();
        assertThat(database.parts(null).tryLock(key + "-other", LONG)).isEmpty();
    }

    @Test
    void fault96ALeaseOfAHundredMillisecondsIsGranted() {
        LockParts parts = database.parts(leases(PATIENT));
        await().pollDelay(Duration.ZERO)
                .until(() -> parts.tryLock(key, Duration.ofMillis(100)).isPresent());
    }

    private QuickLeases leases(int limit) {
        QuickLeases leases = LockParts.redis(REDIS.url(), limit);
        open.add(leases);
        return leases;
    }
}
