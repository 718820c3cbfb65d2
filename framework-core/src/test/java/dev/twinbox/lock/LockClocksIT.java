package dev.twinbox.lock;

import static dev.twinbox.lock.Holders.LONG;
import static dev.twinbox.lock.Holders.PATIENT;
import static dev.twinbox.lock.Holders.awaitGrant;
import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RedisServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.fixtures.ShiftedClock;
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
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * One clock is an hour off: that of a holder's process, of Redis, or of the database. A lock that trusts the clock lets
 * two write. The processes see another time of day for real, see {@link ShiftedClock}.
 */
@Tag("proof")
class LockClocksIT {

    private static final Duration HOUR = Duration.ofHours(1);
    private static final AtomicInteger KEYS = new AtomicInteger();
    private static final RedisServer REDIS = RedisServer.create();

    private static EffectDatabase database;

    private final String key = "key-" + KEYS.incrementAndGet();
    private Holders holders;

    @BeforeAll
    static void create() throws SQLException {
        assumeTrue(ShiftedClock.isAvailable(), "clocks can be shifted on Linux with x86-64 only");
        database = EffectDatabase.create(SharedServers.postgres(), "lock_clocks");
        REDIS.start();
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    @BeforeEach
    void empty() {
        REDIS.ask("FLUSHALL");
        holders = new Holders(database, REDIS.port());
    }

    @AfterEach
    void end() {
        holders.close();
    }

    /** The naive lock stores the end of its lease, which each process compares with its own clock. */
    @ParameterizedTest
    @EnumSource(Ways.class)
    void aHoldersClockIsAnHourAhead(Ways way) {
        Holder first = holders.start("first", way);
        Holder ahead = holders.start("ahead", way, HOUR);
        assertIsAhead(ahead);
        String take = way == Ways.NAIVE ? "take-by-clock " : "take ";
        assertThat(first.ask(take + key + ' ' + LONG)).isEqualTo("granted");

        assertThat(ahead.ask(take + key + ' ' + LONG)).isEqualTo(way == Ways.NAIVE ? "granted" : "empty");

        assertThat(first.ask("write " + key)).isEqualTo("written");
        if (way == Ways.NAIVE) {
            assertThat(ahead.ask("write " + key)).isEqualTo("written");
            assertThat(database.holders(key)).containsExactly("first", "ahead");
        } else {
            assertThat(database.holders(key)).containsExactly("first");
        }
    }

    /** Leases begin and end as long as they are, and the fence refuses whoever comes late. */
    @ParameterizedTest
    @CsvSource({"POSTGRESQL, PT1H", "POSTGRESQL, PT-1H", "REDIS, PT1H", "REDIS, PT-1H"})
    void aHolderWhoseClockIsAnHourOffLosesTheKeyInTime(Ways way, Duration clock) {
        Holder off = holders.start("off", way, clock);
        Holder next = holders.start("next", way);
        assertThat(off.ask("take " + key + " 500")).isEqualTo("granted");

        awaitGrant(next, key);

        assertThat(off.ask("write " + key)).isEqualTo("stale");
        assertThat(next.ask("write " + key)).isEqualTo("written");
        assertThat(database.holders(key)).containsExactly("next");
    }

    /** Redis sends a new replica the moments at which keys end. By the replica's clock they have passed. */
    @ParameterizedTest
    @EnumSource(
            value = Ways.class,
            names = {"NAIVE", "REDIS"})
    void theClockOfTheRedisThatTakesOverIsAnHourAhead(Ways way) {
        try (RedisServer replica = RedisServer.create().withClock(HOUR).start();
                TcpProxy clients = TcpProxy.to("127.0.0.1", REDIS.port())) {
            Holder first = holders.start("first", way, clients.port(), PATIENT);
            Holder second = holders.start("second", way, clients.port(), PATIENT);
            assertThat(first.ask("take " + key + ' ' + LONG)).isEqualTo("granted");
            assertThat(second.ask("take " + key + ' ' + LONG)).isEqualTo("empty");

            replica.follow(REDIS, REDIS.port());
            replica.lead();
            clients.redirect(replica.port());

            awaitGrant(second, key);
            assertThat(first.ask("write " + key)).isEqualTo(way == Ways.NAIVE ? "written" : "stale");
            assertThat(second.ask("write " + key)).isEqualTo("written");
            assertThat(database.holders(key)).hasSize(way == Ways.NAIVE ? 2 : 1).endsWith("second");
        }
    }

    /** A lease in the database ends too early then. Without the fence that lets two write, too. */
    @Test
    void theDatabaseIsRestartedWithAClockThatIsAnHourAhead() throws SQLException {
        try (PostgresServer server = PostgresServer.create().start()) {
            EffectDatabase other = EffectDatabase.create(server, "lock_clocks");
            try (Holders inOther = new Holders(other, REDIS.port())) {
                Holder first = inOther.start("first", Ways.POSTGRESQL);
                Holder second = inOther.start("second", Ways.POSTGRESQL);
                assertThat(first.ask("take " + key + ' ' + LONG)).isEqualTo("granted");
                assertThat(second.ask("take " + key + ' ' + LONG)).isEqualTo("empty");

                server.stop();
                server.withClock(HOUR).start();

                awaitGrant(second, key);
                assertThat(first.ask("write " + key)).isEqualTo("stale");
                assertThat(second.ask("write " + key)).isEqualTo("written");
                assertThat(other.holders(key)).containsExactly("second");
                assertThat(first.ask("write-without-fence " + key)).isEqualTo("written");
                assertThat(other.holders(key)).containsExactly("second", "first");
            }
        }
    }

    private static void assertIsAhead(Holder ahead) {
        long difference = Long.parseLong(ahead.ask("clock")) - System.currentTimeMillis();
        assertThat(Duration.ofMillis(difference)).isCloseTo(HOUR, Duration.ofMinutes(1));
    }
}
