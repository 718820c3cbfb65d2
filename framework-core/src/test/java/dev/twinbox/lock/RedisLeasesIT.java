package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import dev.twinbox.config.Secret;
import dev.twinbox.fixtures.RedisServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.lock.QuickLeases.AwayException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** What is asked of Redis, and what the fence does with its answers. */
class RedisLeasesIT {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int PATIENT = 5_000;
    private static final String PASSWORD = "s3cr3t-of-redis";
    private static final AtomicInteger KEYS = new AtomicInteger();
    private static final RedisServer REDIS = RedisServer.create();

    private static EffectDatabase database;

    private final String key = "key-" + KEYS.incrementAndGet();
    private final QuickLeases leases = LockParts.redis(REDIS.url(), PATIENT);

    @BeforeAll
    static void start() throws SQLException {
        REDIS.start();
        database = EffectDatabase.create(SharedServers.postgres(), "redis_leases");
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    @AfterEach
    void close() {
        leases.close();
    }

    @Test
    void aKeyIsTakenOnceAndItsLeaseEndsByItself() throws AwayException {
        assertThat(leases.take(key, "one", Duration.ofSeconds(2))).isTrue();
        assertThat(leases.take(key, "two", LONG)).isFalse();
        assertThat(leases.isHeld(key, "one")).isTrue();
        assertThat(leases.isHeld(key, "two")).isFalse();

        await().until(() -> leases.take(key, "two", LONG));

        assertThat(leases.isHeld(key, "one")).isFalse();
        assertThat(millisLeft()).isBetween(LONG.toMillis() - 60_000, LONG.toMillis());
    }

    @Test
    void onlyItsOwnerExtendsAKeyAndGivesItBack() throws AwayException {
        leases.take(key, "one", Duration.ofMinutes(1));

        assertThat(leases.extend(key, "two", LONG)).isFalse();
        leases.release(key, "two");
        assertThat(millisLeft()).isBetween(1L, 60_000L);
        assertThat(leases.extend(key, "one", LONG)).isTrue();
        assertThat(millisLeft()).isGreaterThan(60_000);
        leases.release(key, "one");

        assertThat(leases.isHeld(key, "one")).isFalse();
        assertThat(leases.extend(key, "one", LONG)).isFalse();
    }

    /** As in an application: 50 ms, and then a second without a question. */
    @Test
    void aStoppedRedisCostsFiftyMillisecondsOnce() {
        try (RedisLeases impatient = new RedisLeases(address(), () -> "twinbox:", Runnable::run)) {
            await().ignoreExceptionsInstanceOf(AwayException.class).until(() -> !impatient.isHeld(key, "nobody"));
            REDIS.pause();
            try {
                long asked = System.nanoTime();
                assertThatThrownBy(() -> impatient.take(key, "one", LONG)).isInstanceOf(AwayException.class);
                assertThat(Duration.ofNanos(System.nanoTime() - asked))
                        .isBetween(Duration.ofMillis(50), Duration.ofSeconds(1));
                assertThatThrownBy(() -> impatient.take(key, "one", LONG))
                        .isInstanceOf(AwayException.class)
                        .hasStackTraceContaining("Redis has not answered a moment ago");
            } finally {
                REDIS.resume();
            }
            await().ignoreExceptionsInstanceOf(AwayException.class).until(() -> !impatient.isHeld(key, "nobody"));
        }
    }

    @Test
    void aWrongPasswordIsAnOutageAndNoLogHasIt() {
        LogLines log = new LogLines(RedisLeases.class);
        try (log;
                RedisServer strict = RedisServer.create().withPassword("other").start();
                RedisLeases wrong = new RedisLeases(
                        new LockConfiguration.Redis(RedisAddress.parse(strict.url()), "app", new Secret(PASSWORD)),
                        () -> "twinbox:",
                        PATIENT,
                        LockParts.SOCKETS)) {
            assertThatThrownBy(() -> wrong.take(key, "one", LONG))
                    .isInstanceOf(AwayException.class)
                    .hasStackTraceContaining("WRONGPASS")
                    .satisfies(e -> assertThat(stackTrace(e)).doesNotContain(PASSWORD));
        }
        assertThat(log.lines()).singleElement().asString().contains("WRONGPASS", "the database decides about locks");
        assertThat(log.lines()).noneMatch(line -> line.contains(PASSWORD));
    }

    /** Whatever it says, of those who believe it only the latest one writes. */
    @Test
    void aStoreThatSaysYesToEverybodyLetsOnlyTheLatestWrite() {
        LockParts first = database.parts(new Liar(true));
        LockParts second = database.parts(new Liar(true));
        KeyLock early = first.tryLock(key, LONG).orElseThrow();
        KeyLock late = second.tryLock(key, LONG).orElseThrow();

        assertThatThrownBy(() -> write(first, early, "early")).isInstanceOf(StaleLockException.class);
        write(second, late, "late");
        assertThatThrownBy(() -> write(first, early, "early")).isInstanceOf(StaleLockException.class);

        assertThat(database.holders(key)).containsExactly("late");
    }

    @Test
    void aStoreThatSaysNoToEverybodyGrantsNothing() {
        LockParts parts = database.parts(new Liar(false));

        assertThat(parts.tryLock(key, LONG)).isEmpty();
        assertThat(database.query("select count(*) from outbox_lock where key = '" + key + "'"))
                .isEqualTo("0");
    }

    @Test
    void aGrantThatMeetsAFencedRowIsRefusedAndGivesItsLeaseBack() {
        LockParts first = database.parts(leases);
        LockParts second = database.parts(leases);
        KeyLock late = first.tryLock(key, Duration.ofSeconds(1)).orElseThrow();

        first.inTransaction(() -> {
            late.fence();
            await().until(() -> REDIS.ask("EXISTS twinbox:" + key).equals(":0"));
            assertThat(second.tryLock(key, LONG)).isEmpty();
            assertThat(REDIS.ask("EXISTS twinbox:" + key)).isEqualTo(":0");
            insert(first, "late");
            return true;
        });

        assertThat(database.holders(key)).containsExactly("late");
        assertThat(second.tryLock(key, LONG)).isPresent();
    }

    @Test
    void extendAndCloseAfterTheFenceReachRedisAfterTheTransaction() {
        LockParts parts = database.parts(leases);
        KeyLock lock = parts.tryLock(key, Duration.ofMinutes(1)).orElseThrow();

        parts.inTransaction(() -> {
            lock.fence();
            assertThat(lock.extend(LONG)).isTrue();
            assertThat(millisLeft()).isLessThanOrEqualTo(60_000);
            return true;
        });
        assertThat(millisLeft()).isGreaterThan(60_000);
        assertThat(lock.isHeld()).isTrue();

        parts.inTransaction(() -> {
            lock.fence();
            lock.close();
            assertThat(REDIS.ask("EXISTS twinbox:" + key)).isEqualTo(":1");
            return true;
        });
        assertThat(REDIS.ask("EXISTS twinbox:" + key)).isEqualTo(":0");
        assertThat(parts.tryLock(key, LONG)).isPresent();
    }

    private static LockConfiguration.Redis address() {
        return new LockConfiguration.Redis(RedisAddress.parse(REDIS.url()), null, null);
    }

    private void write(LockParts parts, KeyLock lock, String holder) {
        parts.inTransaction(() -> {
            lock.fence();
            insert(parts, holder);
            return true;
        });
    }

    private void insert(LockParts parts, String holder) throws SQLException {
        try (Connection connection = parts.database.dataSource().getConnection()) {
            EffectDatabase.insertEffect(connection, key, holder);
        }
    }

    private long millisLeft() {
        return Long.parseLong(REDIS.ask("PTTL twinbox:" + key).substring(1));
    }

    private static String stackTrace(Throwable thrown) {
        java.io.StringWriter text = new java.io.StringWriter();
        thrown.printStackTrace(new java.io.PrintWriter(text));
        return text.toString();
    }

    /** A store that always gives the same answer. */
    private record Liar(boolean answer) implements QuickLeases {

        @Override
        public boolean take(String key, String owner, Duration lease) {
            return answer;
        }

        @Override
        public boolean isHeld(String key, String owner) {
            return answer;
        }

        @Override
        public boolean extend(String key, String owner, Duration lease) {
            return answer;
        }

        @Override
        public void release(String key, String owner) {
            // It keeps nothing.
        }

        @Override
        public void close() {
            // Nothing is open.
        }
    }
}
