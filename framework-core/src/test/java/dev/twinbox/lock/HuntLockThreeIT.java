package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.KeyLock;
import dev.twinbox.fixtures.SharedServers;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Hunt: what piles up, and an answer that never ends. */
class HuntLockThreeIT {

    private static EffectDatabase database;

    @BeforeAll
    static void start() throws Exception {
        database = EffectDatabase.create(SharedServers.postgres(), "hunt_three");
    }

    /** A heartbeat in a long transaction. Only the last extension has an effect. */
    @Test
    void extensionsOfALongTransactionDoNotPileUp() {
        LockParts parts = database.parts(null);
        String key = HuntLockRig.key("pile");
        KeyLock lock = parts.tryLock(key, HuntLockRig.LONG).orElseThrow();
        String before = transactions();
        parts.inTransaction(() -> {
            lock.fence();
            for (int i = 0; i < 300; i++) {
                assertThat(lock.extend(Duration.ofMinutes(5))).isTrue();
            }
            return true;
        });
        long begun = System.nanoTime();
        assertThat(lock.extend(Duration.ofMinutes(5))).isTrue();
        long made = Long.parseLong(transactions()) - Long.parseLong(before);
        System.out.println("PILE: " + made + " tokens of transactions for 300 extensions");
        assertThat(made).isLessThan(50);
        assertThat(begun).isNotZero();
    }

    /** What one bad answer leaves behind. */
    @Test
    void afterAnAnswerNestedTooDeeplyTheNextQuestionIsAnswered() throws Exception {
        java.util.concurrent.atomic.AtomicInteger questions = new java.util.concurrent.atomic.AtomicInteger();
        try (HuntLockRedisIT.Server server = new HuntLockRedisIT.Server((command, out) -> out.write(
                        (questions.incrementAndGet() == 1 ? "*1\r\n".repeat(200_000) + ":1\r\n" : "$-1\r\n")
                                .getBytes(StandardCharsets.UTF_8)));
                QuickLeases leases = server.leases(2_000)) {
            LockParts parts = database.parts(leases);
            java.util.List<String> outcomes = new java.util.ArrayList<>();
            for (int i = 0; i < 6; i++) {
                try {
                    outcomes.add(String.valueOf(parts.tryLock(HuntLockRig.key("nested"), HuntLockRig.LONG)));
                } catch (Throwable e) {
                    outcomes.add(e.getClass().getSimpleName());
                }
            }
            System.out.println("NESTED: outcomes " + outcomes + ", questions that Redis got " + questions);
            assertThat(outcomes.subList(1, 6)).containsOnly("Optional.empty");
        }
    }

    private static String transactions() {
        return database.query("select pg_current_xact_id()::text");
    }

    /** One line of text without an end, at full speed: another service at the port of Redis. */
    @Test
    void aLineWithoutAnEndAtFullSpeed() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            Thread server = new Thread(() -> {
                while (true) {
                    try {
                        Socket client = listener.accept();
                        Thread each = new Thread(() -> {
                            try (client) {
                                byte[] text = "+".repeat(262_144).getBytes(StandardCharsets.UTF_8);
                                while (true) {
                                    client.getOutputStream().write(text);
                                }
                            } catch (java.io.IOException e) {
                                // the client has left
                            }
                        });
                        each.setDaemon(true);
                        each.start();
                    } catch (java.io.IOException e) {
                        return;
                    }
                }
            });
            server.setDaemon(true);
            server.start();
            try (QuickLeases leases = LockParts.redis("redis://127.0.0.1:" + listener.getLocalPort(), 50)) {
                LockParts parts = database.parts(leases);
                long begun = System.nanoTime();
                CompletableFuture<Optional<KeyLock>> asked = CompletableFuture.supplyAsync(
                        () -> parts.tryLock(HuntLockRig.key("endless"), HuntLockRig.LONG));
                long most = 0;
                while (!asked.isDone() && System.nanoTime() - begun < TimeUnit.SECONDS.toNanos(30)) {
                    most = Math.max(most, Runtime.getRuntime().totalMemory() - Runtime.getRuntime().freeMemory());
                    Thread.sleep(50);
                }
                System.out.println("ENDLESS: done " + asked.isDone() + " after "
                        + (System.nanoTime() - begun) / 1_000_000 + " ms, memory up to " + most / 1_000_000 + " MB of "
                        + Runtime.getRuntime().maxMemory() / 1_000_000);
                assertThat(asked).isDone();
                assertThat(asked.get()).isPresent();
                assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(Duration.ofSeconds(2));
            }
        }
    }
}
