package dev.twinbox.it;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.RedisServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Eight applications on two servers want 1,000 keys for a minute. Half of them have their leases in Redis, the others in
 * the database, which makes them take locks from each other all the time. Redis is emptied now and then. Then the same
 * with a lock that trusts Redis, which loses counts.
 */
@Tag("proof")
class LocksOnTwoServersIT {

    private static final String DATABASE = "locks_on_two_servers";
    private static final int APPLICATIONS = 4;
    private static final Duration TIME = Duration.parse(System.getProperty("twinbox.it.locks.time", "PT1M"));

    private static final RedisServer REDIS = RedisServer.create();
    private static final List<TestServer> SERVERS = new ArrayList<>();

    @BeforeAll
    static void deploy() throws Exception {
        LockWars.createDatabase(DATABASE);
        REDIS.start();
        SERVERS.add(TestServer.shared());
        SERVERS.add(TestServer.another());
        for (TestServer server : SERVERS) {
            server.deploy(IntStream.range(0, APPLICATIONS)
                    .mapToObj(LocksOnTwoServersIT::application)
                    .toList());
        }
        for (TestServer server : SERVERS) {
            for (int number = 0; number < APPLICATIONS; number++) {
                assertThat(LockWars.status(server, "locks-" + number)).isEqualTo(200);
            }
        }
    }

    private static WebArchive application(int number) {
        String redis = "twinbox.locks=redis\ntwinbox.locks.redis.url=" + REDIS.url() + "\n";
        WebArchive war = LockWars.war(
                "locks-" + number,
                LockWars.DATA_SOURCE + (isOnRedis(number) ? redis : ""),
                TestDatabase.server().jdbcUrl(DATABASE),
                "postgres");
        return isOnRedis(number) ? war.addAsLibraries(TestWar.jedis()) : war;
    }

    @AfterAll
    static void stop() {
        SERVERS.forEach(TestServer::close);
        REDIS.close();
    }

    @Test
    void noTwoFencedEffectsOfAKeyOverlapAndNoneIsLost() throws Exception {
        List<String> answers = load(IntStream.range(0, APPLICATIONS), TIME);

        long counted = sum(answers, 0);
        long stale = sum(answers, 1);
        assertThat(counted).isGreaterThan(TIME.toSeconds() * 10);
        assertThat(stale).as("locks that were lost before the fence").isPositive();
        assertThat(number("select count(*) from locked_effect")).isEqualTo(counted);
        assertThat(number("select sum(n) from counted where key like 'key %'"))
                .as("an effect that overlaps another one loses its count")
                .isEqualTo(counted);
        assertThat(number("""
                        select count(*) from (
                          select token < lag(token) over (partition by key order by number) as is_late from locked_effect) e
                         where is_late"""))
                .as("effects of an earlier grant after those of a later one")
                .isZero();
    }

    /** Only the applications that have a library of Redis take part. */
    @Test
    void aLockThatTrustsRedisLosesCounts() throws Exception {
        List<String> answers = load(
                IntStream.range(0, APPLICATIONS).filter(LocksOnTwoServersIT::isOnRedis),
                TIME.dividedBy(4),
                "naive",
                Integer.toString(REDIS.port()));

        long counted = sum(answers, 0);
        assertThat(counted).isGreaterThan(TIME.dividedBy(4).toSeconds() * 10);
        assertThat(number("select sum(n) from counted where key like 'naive %'"))
                .isLessThan(counted);
    }

    /** All applications of these numbers on both servers count for a while. Returns what each says. */
    private static List<String> load(IntStream numbers, Duration time, String... more) {
        List<CompletableFuture<String>> answers = numbers.boxed()
                .flatMap(number -> SERVERS.stream()
                        .map(server -> CompletableFuture.supplyAsync(
                                () -> load(server, number, time, more), task -> new Thread(task).start())))
                .toList();
        while (answers.stream().anyMatch(answer -> !answer.isDone())) {
            REDIS.ask("FLUSHALL");
            CompletableFuture<?> all = CompletableFuture.allOf(answers.toArray(CompletableFuture[]::new));
            all.completeOnTimeout(null, 2, TimeUnit.SECONDS).join();
        }
        return answers.stream().map(CompletableFuture::join).toList();
    }

    private static String load(TestServer server, int number, Duration time, String... more) {
        try {
            String[] parameters = Stream.concat(Stream.of("time", time.toString()), Stream.of(more))
                    .toArray(String[]::new);
            return LockWars.ask(server, "locks-" + number, "load", parameters);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isOnRedis(int number) {
        return number % 2 == 1;
    }

    private static long sum(List<String> answers, int word) {
        assertThat(answers).allSatisfy(answer -> assertThat(answer).matches("\\d+ \\d+"));
        return answers.stream()
                .mapToLong(answer -> Long.parseLong(answer.split(" ")[word]))
                .sum();
    }

    private static long number(String sql) throws Exception {
        try (Connection connection = TestDatabase.server().connect(DATABASE);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }
}
