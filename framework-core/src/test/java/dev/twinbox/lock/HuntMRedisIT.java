package dev.twinbox.lock;

import static dev.twinbox.lock.HuntMParts.chain;
import static dev.twinbox.lock.HuntMParts.say;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.config.Secret;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.RedisServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.schema.OutboxSchema;
import io.smallrye.config.PropertiesConfigSource;
import io.smallrye.config.SmallRyeConfigBuilder;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.security.KeyStore;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** Attacks on leases in Redis. Each asserts what the docs promise; what is red fell. */
@Tag("proof")
@Timeout(120)
class HuntMRedisIT {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final int PATIENT = 5_000;
    private static final String DATABASE = "huntm_redis";
    private static final AtomicInteger KEYS = new AtomicInteger();
    private static final RedisServer REDIS = RedisServer.create();
    private static Path folder;
    private static PostgresServer server;

    private final String key = "key-" + KEYS.incrementAndGet();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private final List<QuickLeases> open = new ArrayList<>();
    private final List<Process> processes = new ArrayList<>();
    private List<String> log;

    @BeforeAll
    static void create() throws Exception {
        folder = Files.createTempDirectory(Files.createDirectories(Path.of("target")), "huntm");
        certificate();
        server = SharedServers.postgres();
        server.createDatabase(DATABASE);
        new OutboxSchema(null, OutboxSchema.DEFAULT_TABLE).migrate(physical());
        try (Connection connection = server.connect(DATABASE);
                Statement statement = connection.createStatement()) {
            statement.execute("create table effect (key text not null, holder text not null)");
        }
    }

    /** Of another host, from an authority that this JVM trusts. Before anything asks for the default context. */
    private static void certificate() throws Exception {
        String keytool = Path.of(System.getProperty("java.home"), "bin", "keytool").toString();
        Path store = folder.resolve("other.p12").toAbsolutePath();
        run(keytool, "-genkeypair", "-alias", "other", "-keyalg", "RSA", "-dname", "CN=other.example", "-ext", "san=dns:other.example",
                "-keystore", store.toString(), "-storepass", "changeit", "-storetype", "PKCS12");
        System.setProperty("javax.net.ssl.trustStore", trusted(keytool, store).toString());
        System.setProperty("javax.net.ssl.trustStorePassword", "changeit");
    }

    private static Path trusted(String keytool, Path store) throws Exception {
        Path file = folder.resolve("other.pem").toAbsolutePath();
        Path trust = folder.resolve("trust.p12").toAbsolutePath();
        run(keytool, "-exportcert", "-rfc", "-alias", "other", "-keystore", store.toString(), "-storepass", "changeit", "-file", file.toString());
        run(keytool, "-importcert", "-noprompt", "-alias", "other", "-keystore", trust.toString(), "-storepass", "changeit", "-storetype", "PKCS12", "-file", file.toString());
        return trust;
    }

    private static void run(String... command) throws Exception {
        Process process = new ProcessBuilder(command).inheritIO().start();
        assertThat(process.waitFor()).isZero();
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    @BeforeEach
    void startRedis() {
        REDIS.start();
        REDIS.ask("FLUSHALL");
        log = HuntMParts.log();
    }

    @AfterEach
    void end() {
        open.forEach(QuickLeases::close);
        processes.forEach(Process::destroyForcibly);
        threads.shutdownNow();
    }

    private static PGSimpleDataSource physical() {
        return LockParts.physical(server.jdbcUrl(DATABASE), server.user(), server.password());
    }

    private QuickLeases leases(String url, int limit, String user, String password) {
        QuickLeases leases = new RedisLeases(
                new LockConfiguration.Redis(RedisAddress.parse(url), user, password == null ? null : new Secret(password)),
                () -> "twinbox:" + DATABASE + ':',
                limit);
        open.add(leases);
        return leases;
    }

    private HuntMParts on(String url) {
        QuickLeases leases = leases(url, PATIENT, null, null);
        for (int i = 0; i < 50; i++) {
            try {
                leases.isHeld("warm-up", "nobody");
                break;
            } catch (QuickLeases.AwayException e) {
                sleep(100);
            }
        }
        return new HuntMParts(physical(), leases, threads);
    }

    // `rediss` "encrypted", a password: who listens must be the host of the URL before it gets the password.
    @Test
    void r01_theCertificateIsOfAnotherHost() throws Exception {
        KeyStore store = KeyStore.getInstance("PKCS12");
        try (InputStream in = Files.newInputStream(folder.resolve("other.p12"))) {
            store.load(in, "changeit".toCharArray());
        }
        KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
        keys.init(store, "changeit".toCharArray());
        SSLContext context = SSLContext.getInstance("TLS");
        context.init(keys.getKeyManagers(), null, null);
        StringBuffer heard = new StringBuffer();
        try (ServerSocket listener = context.getServerSocketFactory().createServerSocket(0, 10, InetAddress.getLoopbackAddress())) {
            threads.submit(() -> listen(listener, heard, "+OK\r\n"));
            HuntMParts a = new HuntMParts(
                    physical(), leases("rediss://127.0.0.1:" + listener.getLocalPort(), PATIENT, null, "geheim-42"), threads);
            Optional<KeyLock> lock = a.tryLock(key, LONG);
            sleep(500);
            say("R01", "granted " + lock.isPresent() + ", the other host heard: " + heard + ", log " + log);
            assertThat(heard.toString()).doesNotContain("geheim-42");
        }
    }

    private static Object listen(ServerSocket listener, StringBuffer heard, String answer) throws IOException {
        while (!listener.isClosed()) {
            try (Socket socket = listener.accept()) {
                byte[] buffer = new byte[4_096];
                int n;
                while ((n = socket.getInputStream().read(buffer)) > 0) {
                    heard.append(new String(buffer, 0, n, StandardCharsets.ISO_8859_1));
                    socket.getOutputStream().write(answer.getBytes(StandardCharsets.ISO_8859_1));
                    socket.getOutputStream().flush();
                }
            } catch (IOException e) {
                heard.append("<").append(e.getMessage()).append(">");
            }
        }
        return null;
    }

    // "slower than 50 ms: The lease in the database decides." TLS is asked for and nobody answers.
    @Test
    void r02_tlsAndSilence() throws Exception {
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            HuntMParts a = new HuntMParts(physical(), leases("rediss://127.0.0.1:" + listener.getLocalPort(), 50, null, "x"), threads);
            a.tryLock(key + " first", LONG);
            sleep(1_100);
            long before = System.nanoTime();
            Optional<KeyLock> lock = a.tryLock(key, LONG);
            long millis = (System.nanoTime() - before) / 1_000_000;
            say("R02", "granted " + lock.isPresent() + " in " + millis + " ms, log " + log);
            assertThat(lock).isPresent();
            assertThat(millis).isLessThan(1_000);
        }
    }

    // TLS against a plain Redis, and plain against something that speaks HTTP: the log says what is wrong.
    @Test
    void r03_theWrongProtocol() throws Exception {
        HuntMParts a = new HuntMParts(physical(), leases("rediss://127.0.0.1:" + REDIS.port(), PATIENT, null, null), threads);
        assertThat(a.tryLock(key, LONG)).isPresent();
        StringBuffer heard = new StringBuffer();
        try (ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            threads.submit(() -> listen(listener, heard, "HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n"));
            HuntMParts b = new HuntMParts(physical(), leases("redis://127.0.0.1:" + listener.getLocalPort(), PATIENT, null, null), threads);
            assertThat(b.tryLock(key + " b", LONG)).isPresent();
        }
        say("R03", log);
        assertThat(log).hasSize(2);
    }

    private Process redis(int port, String... more) throws Exception {
        Path program = folder.resolve("redis-server");
        if (!Files.exists(program)) {
            try (InputStream in = getClass().getResourceAsStream("/redis-server-6.2.6-v5-linux-amd64")) {
                Files.copy(in, program, StandardCopyOption.REPLACE_EXISTING);
            }
            program.toFile().setExecutable(true);
        }
        Path own = Files.createTempDirectory(folder, "node").toAbsolutePath();
        List<String> command = new ArrayList<>(List.of(program.toAbsolutePath().toString(), "--bind", "127.0.0.1", "--port", Integer.toString(port), "--save", "", "--dir", own.toString()));
        command.addAll(List.of(more));
        Process process = new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(own.resolve("log").toFile()).start();
        processes.add(process);
        for (int i = 0; i < 300; i++) {
            try {
                if (ask(port, "PING").startsWith("+PONG")) {
                    return process;
                }
            } catch (IOException e) {
                sleep(50);
            }
        }
        throw new IllegalStateException("Redis does not start: " + Files.readString(own.resolve("log")));
    }

    private static String ask(int port, String line) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(5_000);
            socket.getOutputStream().write((line + "\r\n").getBytes(StandardCharsets.ISO_8859_1));
            byte[] buffer = new byte[8_192];
            int n = socket.getInputStream().read(buffer);
            return new String(buffer, 0, Math.max(n, 0), StandardCharsets.ISO_8859_1);
        }
    }

    // A cluster of two: half of the keys are MOVED. Either it is refused with a remedy, or it works.
    @Test
    void r04_redisIsACluster() throws Exception {
        String on = "--cluster-enabled yes --cluster-node-timeout 5000";
        redis(41_001, (on + " --cluster-config-file n1").split(" "));
        redis(41_002, (on + " --cluster-config-file n2").split(" "));
        ask(41_001, "CLUSTER ADDSLOTS " + slots(0, 8191));
        ask(41_002, "CLUSTER ADDSLOTS " + slots(8192, 16383));
        ask(41_002, "CLUSTER SET-CONFIG-EPOCH 2");
        ask(41_001, "CLUSTER MEET 127.0.0.1 41002");
        for (int i = 0; i < 300 && !ask(41_001, "CLUSTER INFO").contains("cluster_state:ok"); i++) {
            sleep(100);
        }
        HuntMParts a = on("redis://127.0.0.1:41001");
        HuntMParts b = on("redis://127.0.0.1:41001");
        int granted = 0;
        int twice = 0;
        long before = System.nanoTime();
        for (int i = 0; i < 60; i++) {
            granted += a.tryLock(key + " " + i, LONG).isPresent() ? 1 : 0;
            twice += b.tryLock(key + " " + i, LONG).isPresent() ? 1 : 0;
            sleep(60);
        }
        say("R04", granted + " granted, " + twice + " twice, in " + (System.nanoTime() - before) / 1_000_000 + " ms; " + log.size()
                + " log lines, for example " + log.subList(0, Math.min(4, log.size())));
        assertThat(granted).isEqualTo(60);
        assertThat(twice).isZero();
        assertThat(log.size()).as("the log does not flap").isLessThan(5);
    }

    private static String slots(int from, int to) {
        return IntStream.rangeClosed(from, to).mapToObj(Integer::toString).collect(Collectors.joining(" "));
    }

    // Redis evicts the lease: "A second holder gets the lock. The fence refuses the first one."
    @Test
    void r05_redisEvictsTheLease() throws Exception {
        redis(41_003, "--maxmemory", "2mb", "--maxmemory-policy", "allkeys-lru");
        HuntMParts a = on("redis://127.0.0.1:41003");
        KeyLock first = a.tryLock(key, LONG).orElseThrow();
        for (int i = 0; i < 4_000; i++) {
            ask(41_003, "SET filler:" + i + " " + "x".repeat(800));
        }
        Optional<KeyLock> second = a.tryLock(key, LONG);
        Throwable stale = catchThrowable(() -> a.inTransaction(() -> {
            first.fence();
            return true;
        }));
        say("R05", "second " + second.isPresent() + ", fence of the first " + stale + ", log " + log);
        if (second.isPresent()) {
            assertThat(stale).isInstanceOf(StaleLockException.class);
            a.inTransaction(() -> {
                second.get().fence();
                return true;
            });
        }
    }

    // Connections break again and again: none leaks, and Redis is used at the end.
    @Test
    void r06_brokenConnectionsDoNotLeak() throws Exception {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", REDIS.port())) {
            HuntMParts a = on("redis://127.0.0.1:" + proxy.port());
            for (int i = 0; i < 300; i++) {
                KeyLock lock = a.tryLock(key + " " + i, LONG).orElseThrow();
                if (i % 7 == 0) {
                    proxy.cut();
                    proxy.heal();
                }
                lock.close();
            }
            sleep(1_200);
            a.tryLock(key, LONG).orElseThrow();
            String held = REDIS.ask("EXISTS twinbox:" + DATABASE + ':' + key);
            long clients = REDIS.ask("CLIENT LIST").lines().count();
            say("R06", "held in Redis " + held + ", clients " + clients + ", log " + log.size());
            assertThat(held).isEqualTo(":1");
            assertThat(clients).isLessThan(20);
        }
    }

    // "1 millisecond": a short lease is granted, too.
    @Test
    void r07_theShortestLease() {
        HuntMParts a = on(REDIS.url());
        int granted = 0;
        for (int i = 0; i < 20; i++) {
            granted += a.tryLock(key + " " + i, Duration.ofMillis(1)).isPresent() ? 1 : 0;
        }
        say("R07", granted + " of 20 leases of 1 ms were granted");
        assertThat(granted).isPositive();
    }

    // A rolling redeployment takes Redis out of the configuration. Locks were closed, nobody holds them.
    @Test
    void r08_fromRedisToPostgresql() {
        HuntMParts old = on(REDIS.url());
        HuntMParts fresh = new HuntMParts(physical(), null, threads);
        old.tryLock(key, LONG).orElseThrow().close();
        Optional<KeyLock> lock = fresh.tryLock(key, LONG);
        say("R08", "an application without Redis gets the key that was closed: " + lock.isPresent());
        assertThat(lock).isPresent();
    }

    // Redis was emptied. "extend returns false once the lock is lost." Nobody else has it.
    @Test
    void r09_extendAfterRedisWasEmptied() throws Exception {
        HuntMParts a = on(REDIS.url());
        KeyLock lock = a.tryLock(key, LONG).orElseThrow();
        REDIS.ask("FLUSHALL");
        boolean isExtended = lock.extend(LONG);
        Throwable thrown = catchThrowable(() -> a.inTransaction(() -> {
            lock.fence();
            return true;
        }));
        say("R09", "extend " + isExtended + ", isHeld " + lock.isHeld() + ", fence " + thrown);
        assertThat(thrown).isNull();
    }

    // A script of somebody else runs and runs: BUSY. "refusing: The lease in the database decides."
    @Test
    void r10_redisIsBusyWithAScript() throws Exception {
        redis(41_004, "--lua-time-limit", "100");
        HuntMParts a = on("redis://127.0.0.1:41004");
        threads.submit(() -> ask(41_004, "EVAL \"while true do end\" 0"));
        sleep(500);
        long before = System.nanoTime();
        Optional<KeyLock> lock = a.tryLock(key, LONG);
        long millis = (System.nanoTime() - before) / 1_000_000;
        Optional<KeyLock> again = a.tryLock(key, LONG);
        ask(41_004, "SCRIPT KILL");
        sleep(1_200);
        Optional<KeyLock> after = a.tryLock(key, LONG);
        Optional<KeyLock> other = a.tryLock(key + " other", LONG);
        say("R10", lock.isPresent() + " in " + millis + " ms, again " + again.isPresent() + ", after " + after.isPresent() + ", other "
                + other.isPresent() + ", log " + log);
        assertThat(lock).isPresent();
        assertThat(again).isEmpty();
        assertThat(after).isEmpty();
        assertThat(other).isPresent();
    }

    // "A wrong URL is not shown, because it may hold a password."
    @Test
    void r11_noSecretInMessages() {
        List<String> shown = new ArrayList<>();
        for (String url : List.of(
                "redis://user:geheim99%40host:6379",
                "redis://:geheim99",
                "geheim99",
                "redis://host/geheim99",
                "redis:geheim99",
                "redis://host:6379/0/geheim99",
                "redis://host;password=geheim99",
                "redis://host:geheim99/",
                "redis://[geheim99]",
                "rediss://geheim99 :x")) {
            Throwable thrown = catchThrowable(() -> configured(Map.of(
                    "twinbox.locks", "redis", "twinbox.locks.data-source", "java:app/x", "twinbox.locks.redis.url", url)));
            shown.add(url.replace("geheim99", "S") + " -> " + (thrown == null ? "taken" : thrown.getMessage()));
        }
        for (Map<String, String> wrong : List.of(
                Map.of("twinbox.locks.redis.pasword", "geheim99"),
                Map.of("twinbox.locks.redis.password", "geheim99"),
                Map.of("twinbox.locks.password", "geheim99"),
                Map.of("twinbox.locks", "geheim99"))) {
            Throwable thrown = catchThrowable(() -> configured(wrong));
            shown.add(thrown == null ? "taken" : thrown.getMessage());
        }
        shown.forEach(each -> say("R11", each));
        assertThat(shown.subList(0, 13)).noneMatch(each -> each.contains("geheim99"));
    }

    private static LockConfiguration configured(Map<String, String> values) {
        return LockSettings.read(new SmallRyeConfigBuilder()
                .withSources(new PropertiesConfigSource(values, "test", 500))
                .build());
    }

    // An application that deploys with a configuration that cannot work.
    @Test
    void r12_configurationsThatCannotWork() {
        List<String> taken = new ArrayList<>();
        for (Map<String, String> each : List.of(
                Map.of("twinbox.locks", "Redis"),
                Map.of("twinbox.locks", "redis "),
                Map.of("twinbox.locks.redis.url", "redis://h"),
                Map.of("twinbox.locks.redis.user", "u"),
                Map.of("twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://h", "twinbox.locks.redis.user", "u"),
                Map.of("twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://h", "twinbox.locks.redis.password", ""),
                Map.of("twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://h", "twinbox.locks.redis.password", " x "),
                Map.of("twinbox.locks", "redis", "twinbox.locks.redis.url", "redis-cluster://h"),
                Map.of("twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://h1:1,h2:2"),
                Map.of("twinbox.locks", "redis", "twinbox.locks.redis.url", "redis://h/9999"),
                Map.of("twinbox.locks.datasource", "x"),
                Map.of("twinbox.lock.data-source", "x"),
                Map.of("twinbox.locks.data-source", "jdbc:postgresql://h/d"),
                Map.of("twinbox.locks.data-source", ""))) {
            Map<String, String> all = new java.util.HashMap<>(Map.of("twinbox.outbox.data-source", "java:app/x"));
            all.putAll(each);
            Throwable thrown = catchThrowable(() -> configured(all));
            taken.add(each + " -> " + (thrown instanceof InvalidConfigurationException ? thrown.getMessage() : thrown == null ? "TAKEN" : chain(thrown)));
        }
        taken.forEach(each -> say("R12", each));
    }

    // Heartbeat and close with Redis: the key is free afterwards.
    @Test
    void r13_closeMeetsAHeartbeat() throws Exception {
        HuntMParts a = on(REDIS.url());
        int stuck = 0;
        for (int i = 0; i < 100; i++) {
            String mine = key + " " + i;
            KeyLock lock = a.tryLock(mine, LONG).orElseThrow();
            var heartbeat = threads.submit(() -> {
                while (lock.extend(LONG)) {
                    Thread.onSpinWait();
                }
            });
            sleep(1 + i % 17);
            lock.close();
            heartbeat.get();
            stuck += a.tryLock(mine, LONG).isPresent() ? 0 : 1;
        }
        say("R13", stuck + " of 100 keys stay locked");
        assertThat(stuck).isZero();
    }

    // Redis stops and goes on all the time while locks are taken, extended, fenced and closed. No key stays locked.
    @Test
    void r14_redisComesAndGoes() throws Exception {
        HuntMParts a = on(REDIS.url());
        int stuck = 0;
        List<String> odd = new ArrayList<>();
        for (int i = 0; i < 12; i++) {
            String mine = key + " " + i;
            Optional<KeyLock> lock = a.tryLock(mine, LONG);
            if (i % 3 == 0) {
                REDIS.kill();
            }
            boolean extended = lock.map(each -> each.extend(LONG)).orElse(false);
            if (!extended) {
                odd.add(i + ": granted " + lock.isPresent() + ", not extended");
            }
            if (i % 3 == 0) {
                REDIS.start();
            }
            if (i % 2 == 0) {
                sleep(1_100);
            }
            lock.ifPresent(KeyLock::close);
            sleep(1_100);
            if (a.tryLock(mine, LONG).isEmpty()) {
                stuck++;
                odd.add(i + ": not free");
            }
        }
        say("R14", stuck + " of 12 keys stay locked after close; " + odd + "; log " + log.size());
        assertThat(stuck).isZero();
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
