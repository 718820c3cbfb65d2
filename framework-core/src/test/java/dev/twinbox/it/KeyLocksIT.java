package dev.twinbox.it;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RedisServer;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jboss.shrinkwrap.api.spec.WebArchive;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Locks in a container, with each provider, and applications whose locks cannot work. All are in one server. */
@Tag("proof")
class KeyLocksIT {

    private static final String DATABASE = "locks";
    private static final String SECRET = "s3cr3t-of-redis";
    private static final AtomicInteger KEYS = new AtomicInteger();

    private static RedisServer redis;
    private static TestServer server;

    private final String key = "key-" + KEYS.incrementAndGet();

    @BeforeAll
    static void deploy() throws Exception {
        LockWars.createDatabase(DATABASE);
        TestDatabase.server().createDatabase("empty_locks");
        TestDatabase.server().createDatabase("no_locks");
        TestDatabase.execute(
                "no_locks",
                "create role no_locks login password 'twinbox'; " + "create table outbox_lock (key text, token text)");
        redis = RedisServer.create().withPassword(SECRET).start();
        server = TestServer.shared();
        server.deploy(applications());
    }

    private static List<WebArchive> applications() {
        String url = TestDatabase.server().jdbcUrl(DATABASE);
        String onRedis = LockWars.DATA_SOURCE + "twinbox.locks=redis\n";
        return List.of(
                LockWars.war("postgresql", LockWars.DATA_SOURCE, url, "postgres"),
                LockWars.war(
                                "redis",
                                onRedis + "twinbox.locks.redis.url=" + redis.url() + "/1\ntwinbox.locks.redis.password="
                                        + SECRET + "\n",
                                url,
                                "postgres")
                        .addAsLibraries(TestWar.jedis()),
                LockWars.war("redis-away", onRedis + "twinbox.locks.redis.url=redis://127.0.0.1:1\n", url, "postgres")
                        .addAsLibraries(TestWar.jedis()),
                LockWars.war("no-library", onRedis + "twinbox.locks.redis.url=" + redis.url() + "\n", url, "postgres"),
                LockWars.war(
                                "secret-in-url",
                                onRedis + "twinbox.locks.redis.url=redis://user:" + SECRET + "/x@127.0.0.1:1\n"
                                        + "twinbox.locks.data-sourse=x\n",
                                url,
                                "postgres")
                        .addAsLibraries(TestWar.jedis()),
                LockWars.war(
                                "malformed-url",
                                onRedis + "twinbox.locks.redis.url=http://cache:99999/?password=" + SECRET + "\n",
                                url,
                                "postgres")
                        .addAsLibraries(TestWar.jedis()),
                LockWars.war("no-configuration", "twinbox.locks=zookeeper\n", url, "postgres"),
                LockWars.war(
                        "wrong-table",
                        LockWars.DATA_SOURCE,
                        TestDatabase.server().jdbcUrl("no_locks"),
                        "no_locks"),
                LockWars.war(
                        "no-table", LockWars.DATA_SOURCE, TestDatabase.server().jdbcUrl("empty_locks"), "postgres"),
                LockWars.withLazyLocks("lazy-no-table", TestDatabase.server().jdbcUrl("empty_locks"), LazyLocks.class),
                TestWar.named("without-locks", "").addClass(StateServlet.class));
    }

    @AfterAll
    static void stop() {
        if (server != null) {
            server.close();
        }
        if (redis != null) {
            redis.close();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "redis"})
    void aHolderWritesUntilTheKeyIsGrantedToAnother(String application) throws Exception {
        String late = ask(application, "take", "key", key, "lease", "PT1S");
        assertThat(ask(application, "write", "key", key, "token", late)).isEqualTo("done");
        assertThat(ask(application, "write-cdi", "key", key, "token", late)).isEqualTo("done");
        String next = awaitGrant(application);

        assertThat(ask(application, "write", "key", key, "token", late)).startsWith("stale: The lock of \"" + key);
        assertThat(ask(application, "write-cdi", "key", key, "token", late)).startsWith("stale: ");
        ask(application, "write-in-spite", "key", key, "token", late);
        assertThat(ask(application, "write", "key", key, "token", next)).isEqualTo("done");
        assertThat(tokens()).containsExactly(late, late, next);
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "redis"})
    void aLockIsNobodyElsesUntilItIsClosed(String application) throws Exception {
        String first = ask(application, "take", "key", key, "lease", "PT1M");
        assertThat(ask(application, "held", "token", first)).isEqualTo("true");
        assertThat(ask(application, "take", "key", key, "lease", "PT1M")).isEqualTo("empty");
        assertThat(ask(application, "extend", "token", first, "lease", "PT2M")).isEqualTo("true");

        ask(application, "close", "token", first);

        assertThat(Long.parseLong(ask(application, "take", "key", key, "lease", "PT1M")))
                .isGreaterThan(Long.parseLong(first));
        assertThat(ask(application, "extend", "token", first, "lease", "PT2M")).isEqualTo("false");
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "redis"})
    void extendInsideOfATransactionTakesEffectAfterIt(String application) throws Exception {
        String first = ask(application, "take", "key", key, "lease", "PT20S");
        assertThat(ask(application, "write-extend", "key", key, "token", first)).isEqualTo("done");

        // On a thread of the server, after the commit.
        await().atMost(Duration.ofSeconds(15))
                .until(() -> first("select lease_until > clock_timestamp() + interval '5 minutes' from outbox_lock "
                                + "where key = '" + key + "'")
                        .equals("t"));
        assertThat(ask(application, "held", "token", first)).isEqualTo("true");
        assertThat(ask(application, "take", "key", key, "lease", "PT1M")).isEqualTo("empty");
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "redis"})
    void closeInsideOfATransactionTakesEffectAfterItHoweverItEnds(String application) throws Exception {
        String first = ask(application, "take", "key", key, "lease", "PT10M");
        assertThat(ask(application, "write-close", "key", key, "token", first)).isEqualTo("done");
        String second = awaitGrantOf(application, "PT10M");
        assertThat(ask(application, "write-close-rollback", "key", key, "token", second))
                .isEqualTo("done");

        String third = awaitGrantOf(application, "PT10M");

        assertThat(tokens()).containsExactly(first);
        assertThat(Long.parseLong(third)).isGreaterThan(Long.parseLong(second));
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "redis"})
    void aGrantIsDurableAlthoughItsCallerRollsBack(String application) throws Exception {
        String token = ask(application, "take-rollback", "key", key);

        assertThat(first("select token::text from outbox_lock where key = '" + key + "'"))
                .isEqualTo(token);
        assertThat(ask(application, "write", "key", key, "token", token)).isEqualTo("done");
    }

    @Test
    void aLockOfATransactionExcludesOtherTransactions() throws Exception {
        assertThat(ask("postgresql", "in-transaction", "key", key)).isEqualTo("true false");
        assertThat(first("select count(*) from pg_locks where locktype = 'advisory' and database = "
                        + "(select oid from pg_database where datname = current_database())"))
                .as("locks that have outlived their transaction")
                .isEqualTo("0");
        assertThat(ask("postgresql", "in-transaction", "key", key)).isEqualTo("true false");
    }

    /** On Payara a plain connection is in auto-commit there, so that a fence protected nothing. */
    @ParameterizedTest
    @ValueSource(strings = {"after-begin", "before-completion"})
    void fault98AFenceHoldsInEachTransaction(String where) throws Exception {
        String late = ask("postgresql", "take", "key", key, "lease", "PT0.01S");
        await().until(() -> ask("postgresql", "held", "token", late).equals("false"));
        assertThat(ask("postgresql", "fence-" + where, "key", key, "token", late))
                .isEqualTo("granted meanwhile: false");
        awaitGrant("postgresql");

        assertThat(ask("postgresql", "fence-" + where, "key", key, "token", late))
                .startsWith("stale: The lock of \"" + key);
    }

    @ParameterizedTest
    @ValueSource(strings = {"after-begin", "before-completion"})
    void fault98ALockOfATransactionHoldsInEachTransaction(String where) throws Exception {
        assertThat(ask("postgresql", "lock-" + where, "key", key)).isEqualTo("true false");
        assertThat(ask("postgresql", "lock-" + where, "key", key))
                .as("it has ended with its transaction")
                .isEqualTo("true false");
    }

    @Test
    void withoutATransactionThereIsNeitherAFenceNorALock() throws Exception {
        String token = ask("postgresql", "take", "key", key, "lease", "PT1M");

        assertThat(ask("postgresql", "fence-in-no-transaction", "token", token))
                .contains("TransactionalException", "KeyLock.fence needs an active JTA transaction, but there is none");
        assertThat(ask("postgresql", "in-no-transaction", "key", key))
                .contains("KeyLocks.tryLockInTransaction needs an active JTA transaction, but there is none");
    }

    @Test
    void anApplicationWithoutALibraryOfRedisRuns() throws Exception {
        assertThat(ask("postgresql", "jedis")).isEqualTo("false");
        assertThat(LockWars.status(server, "postgresql")).isEqualTo(200);
        assertThat(LockWars.status(server, "without-locks")).isEqualTo(200);
    }

    @Test
    void theDatabaseDecidesWhileRedisIsAwayAlsoAtTheStart() throws Exception {
        String token = ask("redis-away", "take", "key", key, "lease", "PT1M");

        assertThat(ask("redis-away", "take", "key", key, "lease", "PT1M")).isEqualTo("empty");
        assertThat(ask("redis-away", "write", "key", key, "token", token)).isEqualTo("done");
        assertThat(server.log()).contains("Redis at redis://127.0.0.1:1/0 does not answer: ");
    }

    @Test
    void whatCannotWorkIsRefusedWithPlaceValueAndRemedy() throws Exception {
        for (String wrong : List.of(
                "no-library", "secret-in-url", "malformed-url", "no-configuration", "wrong-table", "no-table")) {
            assertThat(LockWars.status(server, wrong)).as(wrong).isEqualTo(404);
        }
        assertThat(server.log())
                .contains(
                        "twinbox.locks = \"redis\" needs Jedis 5 or later, which this application lacks: add redis.clients:jedis",
                        "twinbox.locks.redis.url = \"********\" must not hold user or password: put them into "
                                + "twinbox.locks.redis.user and twinbox.locks.redis.password",
                        "twinbox.locks.redis.url = \"********\" must be redis://HOST, ",
                        "twinbox.locks.data-sourse is unknown: did you mean twinbox.locks.data-source?",
                        "twinbox.locks = \"zookeeper\" must be one of postgresql, redis",
                        "twinbox.locks.data-source is missing: set it to the JNDI name",
                        "The locks cannot be used (data source java:app/jdbc/locks): ",
                        "column token of table \"outbox_lock\" is text instead of bigint",
                        "role \"no_locks\" lacks INSERT on table \"outbox_lock\"",
                        "sequence \"outbox_lock_token\" does not exist",
                        "table \"outbox_lock\" does not exist",
                        "java -jar twinbox-relay.jar migrate")
                .doesNotContain(SECRET);
    }

    /** The application has no key of locks, and injects them lazily only. */
    @Test
    void fault82LocksThatAreInjectedLazilyAreCheckedAtDeployment() throws Exception {
        assertThat(LockWars.status(server, "lazy-no-table")).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"postgresql", "redis"})
    void fault89ATableThatIsHeldIsAFailureWithARemedy(String application) throws Exception {
        try (Connection operator = TestDatabase.server().connect(DATABASE);
                Statement statement = operator.createStatement()) {
            operator.setAutoCommit(false);
            statement.execute("lock table outbox_lock in access exclusive mode");

            assertThat(ask(application, "take", "key", key, "lease", "PT1M"))
                    .contains(
                            "TwinboxException",
                            "The lock of \"" + key + "\" cannot be taken",
                            "the table of locks is locked by session ",
                            "pg_locks");
        }

        assertThat(ask(application, "take", "key", key, "lease", "PT1M")).matches("\\d+");
    }

    private String awaitGrant(String application) {
        return awaitGrantOf(application, "PT1M");
    }

    private String awaitGrantOf(String application, String lease) {
        return await().atMost(Duration.ofSeconds(30))
                .until(() -> ask(application, "take", "key", key, "lease", lease), answer -> !answer.equals("empty"));
    }

    private static String ask(String application, String action, String... parameters) throws Exception {
        return LockWars.ask(server, application, action, parameters);
    }

    private List<String> tokens() throws Exception {
        String all = first(
                "select coalesce(string_agg(token::text, ',' order by number), '') from locked_effect where key = '"
                        + key + "'");
        return List.of(all.split(",", -1));
    }

    private static String first(String sql) throws Exception {
        try (Connection connection = TestDatabase.server().connect(DATABASE);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
