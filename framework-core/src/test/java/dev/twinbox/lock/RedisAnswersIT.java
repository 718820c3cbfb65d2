package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.config.Secret;
import dev.twinbox.fixtures.RedisServer;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.lock.QuickLeases.AwayException;
import java.net.InetAddress;
import java.net.UnknownHostException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Attacks that have succeeded once: a name server, a crowd, and answers that are wrong or slow. */
@Timeout(60)
class RedisAnswersIT {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int PATIENT = 5_000;
    private static final AtomicInteger KEYS = new AtomicInteger();
    private static final RedisServer REDIS = RedisServer.create();

    private final String key = "key-" + KEYS.incrementAndGet();
    private final LogLines log = new LogLines(RedisLeases.class);

    @BeforeAll
    static void start() {
        REDIS.start();
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    @AfterEach
    void close() {
        log.close();
    }

    /** No thread asks it, so nothing comes back. */
    @Test
    void fault102ANameServerThatDoesNotAnswerHoldsNobody() {
        String url = "redis://localhost:" + REDIS.port();
        try (RedisLeases leases = leases(url, 300, new RedisLeases.Sockets(task -> {}, null))) {
            long begun = System.nanoTime();
            assertThatThrownBy(() -> leases.take(key, "me", LONG)).isInstanceOf(AwayException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(5));
        }

        assertThat(log.lines())
                .singleElement()
                .asString()
                .contains("the name server has not answered for localhost within 300 ms");
    }

    @Test
    void fault102ACrowdAsksTheNameServerOnceAndKnowsWhatItHasSaidBefore() throws Exception {
        AtomicInteger questions = new AtomicInteger();
        CountDownLatch silent = new CountDownLatch(1);
        InetAddress[] local = {InetAddress.getLoopbackAddress()};
        NameLookup names = new NameLookup(
                "redis.example",
                () -> {
                    questions.incrementAndGet();
                    silent.await();
                    return local;
                },
                task -> new Thread(task).start(),
                200);

        List<CompletableFuture<String>> crowd = IntStream.range(0, 20)
                .mapToObj(i -> CompletableFuture.supplyAsync(() -> look(names), task -> new Thread(task).start()))
                .toList();
        assertThat(crowd.stream().map(CompletableFuture::join)).allMatch(text -> text.startsWith("unknown: the name"));
        assertThat(questions).hasValue(1);
        silent.countDown();
        await().until(() -> look(names).equals("known"));
    }

    @Test
    void fault102TheAddressOfBeforeIsUsedWhileTheNameServerIsSilent() throws Exception {
        AtomicInteger questions = new AtomicInteger();
        CountDownLatch silent = new CountDownLatch(1);
        NameLookup names = new NameLookup(
                "redis.example",
                () -> {
                    if (questions.incrementAndGet() > 1) {
                        silent.await();
                    }
                    return new InetAddress[] {InetAddress.getLoopbackAddress()};
                },
                task -> new Thread(task).start(),
                1_000);

        assertThat(look(names)).isEqualTo("known");
        assertThat(look(names)).isEqualTo("known");
        assertThat(questions).hasValue(2);
        silent.countDown();
    }

    private static String look(NameLookup names) {
        try {
            return names.addresses().length == 1 ? "known" : "none";
        } catch (UnknownHostException e) {
            return "unknown: " + e.getMessage();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Sixteen connections, and each answer takes a while. Redis is well. */
    @Test
    void fault103ACrowdDoesNotPutRedisOutOfUse() throws Exception {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", REDIS.port());
                RedisLeases leases = leases("redis://127.0.0.1:" + proxy.port(), 1_500, LockParts.SOCKETS)) {
            assertThat(leases.take(key, "holder", LONG)).isTrue();
            proxy.delay(Duration.ofMillis(100));
            CountDownLatch go = new CountDownLatch(1);
            List<CompletableFuture<String>> crowd = IntStream.range(0, 300)
                    .mapToObj(i ->
                            CompletableFuture.supplyAsync(() -> take(leases, go), task -> new Thread(task).start()))
                    .toList();
            go.countDown();

            assertThat(crowd.stream().map(CompletableFuture::join)).containsOnly("false");
        }
        assertThat(log.lines()).isEmpty();
    }

    private String take(RedisLeases leases, CountDownLatch go) {
        try {
            go.await();
            return Boolean.toString(leases.take(key, "crowd", LONG));
        } catch (AwayException e) {
            return e.toString();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Redis 6.2 wants SELECT by name, which is in no group of the line before. */
    @Test
    void fault107TheRightsOfTheDocumentationDoWithANumberOfADatabase() throws Exception {
        String line = Files.readAllLines(Path.of("..", "docs", "how-to", "key-locks.md")).stream()
                .filter(each -> each.startsWith("ACL SETUSER"))
                .findFirst()
                .orElseThrow();
        REDIS.ask(line.replace("PASSWORD", "pw"));
        LockConfiguration.Redis third =
                new LockConfiguration.Redis(RedisAddress.parse(REDIS.url() + "/3"), "billing", new Secret("pw"));
        try (RedisLeases leases = new RedisLeases(third, () -> "twinbox:", PATIENT, LockParts.SOCKETS)) {
            assertThat(leases.take(key, "me", LONG)).isTrue();
            assertThat(leases.extend(key, "me", LONG)).isTrue();
            leases.release(key, "me");
            assertThat(leases.isHeld(key, "me")).isFalse();
        }
        assertThat(log.lines()).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                ":1\r\n",
                "*1\r\n$1\r\nx\r\n",
                "*-9\r\n",
                "$-7\r\n",
                "$5000000000\r\n",
                "$abc\r\n",
                "HTTP/1.1 400 Bad\r\n\r\n",
                "\r\n",
                "%1\r\n+a\r\n+b\r\n",
                "$2000000000\r\n"
            })
    void fault108AnswersOfAWrongShapeAreAnOutage(String answer) throws Exception {
        try (LyingRedis liar = new LyingRedis()) {
            liar.answer = answer;
            for (int i = 0; i < 4; i++) {
                int question = i;
                try (RedisLeases leases = leases(liar.url(), 500, LockParts.SOCKETS)) {
                    assertThatCode(() -> ask(leases, question)).doesNotThrowAnyException();
                }
            }
        }
        assertThat(log.lines()).allMatch(line -> line.startsWith("WARNING Redis at "));
    }

    private void ask(RedisLeases leases, int question) {
        try {
            switch (question) {
                case 0 -> leases.take(key, "me", LONG);
                case 1 -> leases.isHeld(key, "me");
                case 2 -> leases.extend(key, "me", LONG);
                default -> leases.release(key, "me");
            }
        } catch (AwayException e) {
            // as it should be
        }
    }

    @Test
    void fault115AnAnswerThatDripsHasTheLimitOfAnAnswer() throws Exception {
        try (LyingRedis slow = new LyingRedis();
                RedisLeases leases = leases(slow.url(), 500, LockParts.SOCKETS)) {
            assertThat(leases.isHeld(key, "me")).isFalse();
            slow.answer = "$40\r\n" + "x".repeat(40) + "\r\n";
            slow.pause = Duration.ofMillis(200);

            long begun = System.nanoTime();
            assertThatThrownBy(() -> leases.isHeld(key, "me")).isInstanceOf(AwayException.class);
            assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(4));
        }
    }

    private static RedisLeases leases(String url, int limit, RedisLeases.Sockets sockets) {
        return new RedisLeases(
                new LockConfiguration.Redis(RedisAddress.parse(url), null, null), () -> "twinbox:", limit, sockets);
    }
}
