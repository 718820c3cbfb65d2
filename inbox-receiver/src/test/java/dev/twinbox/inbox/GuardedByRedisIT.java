package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RedisServer;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** As {@link GuardedHandlersIT}, with leases in Redis. */
@Tag("proof")
class GuardedByRedisIT {

    private static final String HANDLER = "guarded";
    private static final Pattern SETS = Pattern.compile("cmdstat_set:calls=(\\d+)");
    private static final Pattern OF_AN_INSTANCE = Pattern.compile(" cmd=(set|get|eval) ");
    private static final RedisServer REDIS = RedisServer.create();

    private static GuardedPair pair;
    private static Database database;

    private final String id = Topics.id();

    @BeforeAll
    static void deployTwo() {
        REDIS.start();
        pair = new GuardedPair("guarded_by_redis", app -> app.withRedis(REDIS.url()));
        database = pair.database();
    }

    @AfterAll
    static void undeploy() {
        pair.close();
        REDIS.close();
    }

    /** An instance whose first questions took too long leaves Redis alone for a while. */
    @BeforeEach
    void warmUp() {
        REDIS.start();
        await().atMost(MainApp.LIMIT).until(() -> {
            pair.sendFree(0, "order");
            pair.sendFree(1, "order");
            pair.awaitHandled();
            return REDIS.ask("CLIENT LIST")
                            .lines()
                            .filter(OF_AN_INSTANCE.asPredicate())
                            .count()
                    >= 2;
        });
    }

    @Test
    void theSecondWaitsWithoutAnAttemptAndWithoutALockInTheDatabase() {
        try (Database.Gate gate = database.shutGate(123)) {
            pair.sendToBoth(id, "order", 123);
            long before = sets();
            await().atMost(MainApp.LIMIT).until(() -> sets() > before + 2);

            assertThat(database.calls(HANDLER, id)).isEqualTo(1);
            assertThat(pair.waitingForAClaim()).isZero();
            assertThat(database.count("inbox_parked")).isZero();
        }
        assertOneEffect();
    }

    /** The second one is let in. The inbox decides as ever. */
    @Test
    void redisIsEmptiedAndTheSecondWaitsInTheInbox() {
        try (Database.Gate gate = database.shutGate(124)) {
            pair.sendToBoth(id, "order", 124);
            assertThat(pair.waitingForAClaim()).isZero();

            REDIS.ask("FLUSHALL");

            await().atMost(MainApp.LIMIT).until(() -> pair.waitingForAClaim() == 1);
            assertThat(database.calls(HANDLER, id)).isEqualTo(1);
        }
        assertOneEffect();
    }

    @Test
    void redisIsKilledAndTheLeaseInTheDatabaseDecides() {
        try (Database.Gate gate = database.shutGate(125)) {
            pair.sendToBoth(id, "order", 125);

            REDIS.kill();

            pair.awaitRefusalsByTheDatabase();
            assertThat(database.calls(HANDLER, id)).isEqualTo(1);
            assertThat(pair.waitingForAClaim()).isZero();
        }
        assertOneEffect();
    }

    @Test
    void redisAndTheLocksTableAreAwayAndHandlersGoOn() {
        REDIS.kill();
        database.execute("alter table inbox_lock rename to inbox_lock_away");
        try {
            String alone = pair.sendFree(0, "order");
            pair.awaitHandled();
            assertThat(database.effects(HANDLER)).contains(alone);
        } finally {
            database.execute("alter table inbox_lock_away rename to inbox_lock");
        }
    }

    private void assertOneEffect() {
        pair.awaitHandled();
        assertThat(pair.effects(HANDLER, id)).isEqualTo(1);
        assertThat(database.calls(HANDLER, id)).isEqualTo(1);
        assertThat(database.count("inbox_parked")).isZero();
    }

    private static long sets() {
        Matcher sets = SETS.matcher(REDIS.ask("INFO commandstats"));
        return sets.find() ? Long.parseLong(sets.group(1)) : 0;
    }
}
