package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.KeyLock;
import dev.twinbox.fixtures.RedisServer;
import dev.twinbox.fixtures.SharedServers;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Hunt: a Redis that lies, and a real one that is tormented. */
class HuntLockRedisIT {

    private static final RedisServer REDIS = RedisServer.create();
    private static EffectDatabase database;
    private final String key = HuntLockRig.key("redis");

    @BeforeAll
    static void start() throws Exception {
        REDIS.start();
        database = EffectDatabase.create(SharedServers.postgres(), "hunt_redis");
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    /** What a server says to each question after the greeting. */
    interface Answer {
        void write(String command, OutputStream out) throws IOException;
    }

    static final class Server implements AutoCloseable {
        final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        final AtomicInteger asked = new AtomicInteger();

        Server(Answer answer) throws IOException {
            daemon(() -> {
                while (true) {
                    Socket client = listener.accept();
                    daemon(() -> serve(client, answer));
                }
            });
        }

        interface Io {
            void run() throws IOException;
        }

        private static void daemon(Io work) {
            Thread thread = new Thread(() -> {
                try {
                    work.run();
                } catch (IOException e) {
                    // closed
                }
            });
            thread.setDaemon(true);
            thread.start();
        }

        private void serve(Socket client, Answer answer) throws IOException {
            try (client) {
                BufferedReader in =
                        new BufferedReader(new InputStreamReader(client.getInputStream(), StandardCharsets.ISO_8859_1));
                OutputStream out = client.getOutputStream();
                while (true) {
                    String size = in.readLine();
                    if (size == null) {
                        return;
                    }
                    List<String> words = new ArrayList<>();
                    for (int i = Integer.parseInt(size.substring(1)); i > 0; i--) {
                        in.readLine();
                        words.add(in.readLine());
                    }
                    String command = words.get(0).toUpperCase(Locale.ROOT);
                    if (command.equals("CLIENT")) {
                        out.write("+OK\r\n".getBytes(StandardCharsets.ISO_8859_1));
                    } else if (command.equals("HELLO")) {
                        out.write("-ERR unknown command\r\n".getBytes(StandardCharsets.ISO_8859_1));
                    } else {
                        asked.incrementAndGet();
                        answer.write(command, out);
                    }
                    out.flush();
                }
            }
        }

        QuickLeases leases(int limit) {
            return LockParts.redis("redis://127.0.0.1:" + listener.getLocalPort(), limit);
        }

        @Override
        public void close() throws IOException {
            listener.close();
        }
    }

    private static void text(OutputStream out, String text) throws IOException {
        out.write(text.getBytes(StandardCharsets.ISO_8859_1));
    }

    /** The database decides, in seconds. */
    private void assertTheDatabaseDecides(Answer answer, int limit) throws Exception {
        try (Server server = new Server(answer);
                QuickLeases leases = server.leases(limit)) {
            LockParts parts = database.parts(leases);
            CompletableFuture<Optional<KeyLock>> asked = new CompletableFuture<>();
            Thread thread = new Thread(() -> {
                try {
                    asked.complete(parts.tryLock(key, HuntLockRig.LONG));
                } catch (Throwable e) {
                    asked.completeExceptionally(e);
                }
            });
            thread.setDaemon(true);
            thread.start();
            long begun = System.nanoTime();
            try {
                Optional<KeyLock> lock = asked.get(20, TimeUnit.SECONDS);
                System.out.println("LIAR answered after " + (System.nanoTime() - begun) / 1_000_000 + " ms: " + lock
                        + ", asked " + server.asked);
                assertThat(lock).isPresent();
            } catch (TimeoutException e) {
                StringBuilder stack = new StringBuilder();
                for (StackTraceElement each : thread.getStackTrace()) {
                    stack.append("\n   at ").append(each);
                }
                throw new AssertionError("tryLock hangs for more than 20 s" + stack);
            } catch (ExecutionException e) {
                throw new AssertionError("tryLock threw " + e.getCause().getClass(), e.getCause());
            }
        }
    }

    @Test
    void anAnswerNestedTooDeeply() throws Exception {
        assertTheDatabaseDecides((command, out) -> text(out, "*1\r\n".repeat(300_000) + ":1\r\n"), 50);
    }

    @Test
    void anAnswerNestedTooDeeplyForAPatientClient() throws Exception {
        assertTheDatabaseDecides((command, out) -> text(out, "*1\r\n".repeat(1_000_000) + ":1\r\n"), 5_000);
    }

    @Test
    void aStreamOfElementsThatNeverPauses() throws Exception {
        assertTheDatabaseDecides(
                (command, out) -> {
                    text(out, "*2000000\r\n");
                    while (true) {
                        text(out, ":1\r\n");
                        out.flush();
                        LockSupport.parkNanos(100_000);
                    }
                },
                50);
    }

    @Test
    void aLineThatNeverEnds() throws Exception {
        assertTheDatabaseDecides(
                (command, out) -> {
                    text(out, "+");
                    while (true) {
                        text(out, "aaaaaaaaaaaaaaaa");
                        out.flush();
                        LockSupport.parkNanos(100_000);
                    }
                },
                50);
    }

    @Test
    void aBulkThatTrickles() throws Exception {
        assertTheDatabaseDecides(
                (command, out) -> {
                    text(out, "$100000000\r\n");
                    while (true) {
                        text(out, "aaaaaaaaaaaaaaaa");
                        out.flush();
                        LockSupport.parkNanos(100_000);
                    }
                },
                50);
    }

    /** A store that answers each question twice: who gets what is its choice, but somebody gets the key in the end. */
    @Test
    void answersThatComeTwice() throws Exception {
        try (Server server = new Server((command, out) -> text(out, "+OK\r\n+OK\r\n"));
                QuickLeases leases = server.leases(50)) {
            LockParts parts = database.parts(leases);
            for (int i = 0; i < 5; i++) {
                Optional<KeyLock> lock = parts.tryLock(key, Duration.ofMillis(200));
                System.out.println("TWICE " + lock);
                lock.ifPresent(held -> HuntLockRig.write(parts, held, key, "x"));
            }
        }
    }

    @Test
    void aScriptThatRunsForEver() throws Exception {
        try (RedisServer busy = RedisServer.create().start();
                QuickLeases leases = LockParts.redis(busy.url(), 50)) {
            LockParts parts = database.parts(leases);
            busy.ask("CONFIG SET lua-time-limit 10");
            Thread script = new Thread(() -> {
                try {
                    busy.ask("EVAL while(true)do/**/end 0");
                } catch (RuntimeException e) {
                    // killed
                }
            });
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), busy.port())) {
                String lua = "while true do end";
                socket.getOutputStream()
                        .write(("*3\r\n$4\r\nEVAL\r\n$" + lua.length() + "\r\n" + lua + "\r\n$1\r\n0\r\n")
                                .getBytes(StandardCharsets.UTF_8));
                await().until(() -> busy.ask("GET x").startsWith("-BUSY"));
                KeyLock lock = parts.tryLock(key, HuntLockRig.LONG).orElseThrow();
                HuntLockRig.write(parts, lock, key, "busy");
                lock.close();
                busy.ask("SCRIPT KILL");
            }
            assertThat(script.isAlive()).isFalse();
            assertThat(database.holders(key)).containsExactly("busy");
        }
    }

    @Test
    void tooManyClients() throws Exception {
        try (RedisServer full = RedisServer.create().start();
                QuickLeases leases = LockParts.redis(full.url(), 50)) {
            full.ask("CONFIG SET maxclients 1");
            try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), full.port())) {
                socket.getOutputStream().write("PING\r\n".getBytes(StandardCharsets.UTF_8));
                socket.getInputStream().read();
                LockParts parts = database.parts(leases);
                KeyLock lock = parts.tryLock(key, HuntLockRig.LONG).orElseThrow();
                HuntLockRig.write(parts, lock, key, "full");
                assertThat(database.parts(null).tryLock(key, HuntLockRig.LONG)).isEmpty();
            }
        }
    }

    @Test
    void writesThatArePaused() throws Exception {
        try (RedisServer paused = RedisServer.create().start();
                QuickLeases leases = LockParts.redis(paused.url(), 50)) {
            LockParts parts = database.parts(leases);
            await().ignoreExceptions().until(() -> !leases.isHeld("warm", "x"));
            paused.ask("CLIENT PAUSE 3000 WRITE");
            KeyLock lock = parts.tryLock(key, HuntLockRig.LONG).orElseThrow();
            HuntLockRig.write(parts, lock, key, "paused");
            lock.close();
            await().atMost(Duration.ofSeconds(10)).until(() -> parts.tryLock(key, HuntLockRig.LONG)
                    .isPresent());
        }
    }

    /** The thread keeps its flag, and the next one finds a sound connection. */
    @Test
    void interruptedThreads() throws Exception {
        try (QuickLeases leases = LockParts.redis(REDIS.url(), 500)) {
            LockParts parts = database.parts(leases);
            parts.tryLock(key + "warm", HuntLockRig.LONG).orElseThrow().close();
            for (int i = 0; i < 20; i++) {
                String each = key + i;
                Thread.currentThread().interrupt();
                Optional<KeyLock> lock = parts.tryLock(each, HuntLockRig.LONG);
                assertThat(Thread.interrupted()).isTrue();
                lock.ifPresent(KeyLock::close);
                assertThat(parts.tryLock(each, HuntLockRig.LONG)).as(each).isPresent();
            }
        }
    }

    @Test
    void aCrowdWhileRedisIsTormented() throws Exception {
        List<QuickLeases> all = new ArrayList<>();
        try (HuntLockRig.Crowd crowd = new HuntLockRig.Crowd(database, "torment", 2)) {
            crowd.run(5, () -> {
                QuickLeases leases = LockParts.redis(REDIS.url(), 50);
                all.add(leases);
                return database.parts(leases);
            });
            String[] torments = {
                "FLUSHALL", "CLIENT KILL TYPE normal", "SCRIPT FLUSH", "CLIENT PAUSE 200", "DEBUG SLEEP 0.2",
                "CONFIG SET maxclients 2", "CONFIG SET maxclients 1000", "CONFIG SET maxmemory 1", "CONFIG SET maxmemory 0",
                "SWAPDB 0 1", "SWAPDB 0 1", "FLUSHALL"
            };
            for (String torment : torments) {
                Thread.sleep(300);
                try {
                    REDIS.ask(torment);
                } catch (RuntimeException e) {
                    System.out.println("TORMENT " + torment + " " + e);
                }
            }
            REDIS.pause();
            Thread.sleep(500);
            REDIS.resume();
            Thread.sleep(500);
            REDIS.kill();
            Thread.sleep(500);
            REDIS.start();
            Thread.sleep(1_500);
            crowd.stop();
            crowd.verify(database);
            assertThat(crowd.odd).isEmpty();
        } finally {
            all.forEach(QuickLeases::close);
        }
    }

    /** "For long work take a short lease and call extend from time to time." */
    @Test
    void aHeartbeatKeepsTheLockThroughALongFencedTransaction() throws Exception {
        try (QuickLeases leases = LockParts.redis(REDIS.url(), 1_000);
                QuickLeases others = LockParts.redis(REDIS.url(), 1_000)) {
            LockParts parts = database.parts(leases);
            LockParts other = database.parts(others);
            KeyLock lock = parts.tryLock(key, Duration.ofMillis(1_000)).orElseThrow();
            AtomicBoolean over = new AtomicBoolean();
            AtomicBoolean stolen = new AtomicBoolean();
            CompletableFuture<Void> rival = CompletableFuture.runAsync(() -> {
                while (!over.get() && !stolen.get()) {
                    stolen.set(other.tryLock(key, HuntLockRig.LONG).isPresent());
                    LockSupport.parkNanos(5_000_000);
                }
            });
            List<Boolean> beats = new ArrayList<>();
            parts.inTransaction(() -> {
                lock.fence();
                for (int i = 0; i < 25; i++) {
                    beats.add(CompletableFuture.supplyAsync(() -> lock.extend(Duration.ofMillis(1_000)))
                            .join());
                    LockSupport.parkNanos(100_000_000);
                }
                return true;
            });
            boolean isHeld = lock.isHeld();
            boolean extended = lock.extend(Duration.ofMillis(1_000));
            LockSupport.parkNanos(200_000_000);
            over.set(true);
            rival.get(20, TimeUnit.SECONDS);
            System.out.println("HEARTBEAT redis: in the transaction " + beats + ", held after it " + isHeld
                    + ", extended after it " + extended + ", stolen " + stolen);
            assertThat(beats).containsOnly(true);
            assertThat(extended).isTrue();
            assertThat(stolen).isFalse();
        }
    }

    /** A key of another type under the name of a lock. */
    @Test
    void aKeyOfAnotherType() throws Exception {
        try (QuickLeases leases = LockParts.redis(REDIS.url(), 500)) {
            LockParts parts = database.parts(leases);
            KeyLock lock = parts.tryLock(key, HuntLockRig.LONG).orElseThrow();
            REDIS.ask("DEL twinbox:" + key);
            REDIS.ask("HSET twinbox:" + key + " a b");
            boolean extended = lock.extend(HuntLockRig.LONG);
            HuntLockRig.write(parts, lock, key, "holder");
            lock.close();
            System.out.println("TYPE extended " + extended);
            REDIS.ask("DEL twinbox:" + key);
            assertThat(database.holders(key)).containsExactly("holder");
        }
    }

    /** Its lease ends between two statements of the grant. */
    @Test
    void shortLeasesInACrowdOnOneKeyAlwaysLetSomebodyWork() throws Exception {
        List<QuickLeases> all = new ArrayList<>();
        try (HuntLockRig.Crowd crowd = new HuntLockRig.Crowd(database, "short", 1)) {
            crowd.run(4, () -> {
                QuickLeases leases = LockParts.redis(REDIS.url(), 500);
                all.add(leases);
                return database.parts(leases);
            });
            Thread.sleep(4_000);
            crowd.stop();
            crowd.verify(database);
        } finally {
            all.forEach(QuickLeases::close);
        }
    }
}
