package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.KeyLock;
import dev.twinbox.fixtures.Ports;
import dev.twinbox.fixtures.SharedServers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Hunt: a real PgBouncer (1.18) in each of its modes. */
class HuntLockPoolerIT {

    private static final String ROOT = System.getProperty("hunt.root", "/tmp/hunt-tools/root");
    private static EffectDatabase database;
    private final List<Process> started = new ArrayList<>();

    @BeforeAll
    static void start() throws Exception {
        database = EffectDatabase.create(SharedServers.postgres(), "hunt_pooler");
    }

    @AfterEach
    void stop() {
        started.forEach(Process::destroyForcibly);
    }

    private int bouncer(String mode, String more) throws Exception {
        int port = Ports.pick();
        Path folder = Files.createTempDirectory("hunt-bouncer");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxrwxrwx"));
        Path ini = folder.resolve("b.ini");
        Files.writeString(ini, """
                [databases]
                hunt_pooler = host=127.0.0.1 port=%d dbname=hunt_pooler user=%s password=%s
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                auth_type = any
                unix_socket_dir =
                pool_mode = %s
                default_pool_size = 20
                ignore_startup_parameters = extra_float_digits
                %s
                """.formatted(SharedServers.postgres().port(), database.user(), database.password(), port, mode, more));
        Process process = new ProcessBuilder(
                        "setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", "env",
                        "LD_LIBRARY_PATH=" + ROOT + "/usr/lib/x86_64-linux-gnu", ROOT + "/usr/sbin/pgbouncer",
                        ini.toString())
                .redirectErrorStream(true)
                .redirectOutput(folder.resolve("log").toFile())
                .start();
        started.add(process);
        await().atMost(Duration.ofSeconds(30)).ignoreExceptions().until(() -> {
            new java.net.Socket("127.0.0.1", port).close();
            return true;
        });
        return port;
    }

    private LockParts parts(int port, String options) {
        return HuntLockRig.parts(
                "jdbc:postgresql://127.0.0.1:" + port + "/hunt_pooler" + options, database.user(), database.password());
    }

    @Test
    void sessionMode() throws Exception {
        HuntLockRig.contract(parts(bouncer("session", ""), ""), database);
    }

    @Test
    void sessionModeThatResetsNothing() throws Exception {
        LockParts parts = parts(bouncer("session", "server_reset_query =\nmax_client_conn = 50\ndefault_pool_size = 3"), "");
        HuntLockRig.contract(parts, database);
        HuntLockRig.contract(parts, database);
        assertThat(HuntLockRig.ask(parts, "select current_setting('lock_timeout')")).isEqualTo("0");
        assertThat(HuntLockRig.ask(parts, "select count(*) from pg_locks where locktype = 'advisory' and pid = pg_backend_pid()"))
                .isEqualTo("0");
    }

    @Test
    void transactionMode() throws Exception {
        HuntLockRig.contract(parts(bouncer("transaction", ""), "?prepareThreshold=0"), database);
    }

    @Test
    void transactionModeWithACrowd() throws Exception {
        int port = bouncer("transaction", "default_pool_size = 4");
        try (HuntLockRig.Crowd crowd = new HuntLockRig.Crowd(database, "tmode", 2)) {
            crowd.run(6, () -> parts(port, "?prepareThreshold=0"));
            Thread.sleep(4_000);
            crowd.stop();
            crowd.verify(database);
        }
    }

    @Test
    void sessionModeWithACrowdAndKilledServers() throws Exception {
        int port = bouncer("session", "default_pool_size = 20");
        try (HuntLockRig.Crowd crowd = new HuntLockRig.Crowd(database, "smode", 2)) {
            crowd.run(5, () -> parts(port, ""));
            for (int i = 0; i < 6; i++) {
                Thread.sleep(500);
                database.execute("select pg_terminate_backend(pid) from pg_stat_activity where backend_type = 'client backend'"
                        + " and pid <> pg_backend_pid() and datname = current_database()");
            }
            crowd.stop();
            crowd.verify(database);
        }
    }

    /** It cannot work. The failure has to say so, with a remedy that helps. */
    @Test
    void statementModeIsAnErrorWithARemedy() throws Exception {
        LockParts parts = parts(bouncer("statement", ""), "?prepareThreshold=0");
        Throwable thrown = org.assertj.core.api.Assertions.catchThrowable(
                () -> parts.tryLock(HuntLockRig.key("st"), HuntLockRig.LONG));
        System.out.println("STATEMENT tryLock: " + thrown);
        java.sql.SQLException cause = (java.sql.SQLException) thrown.getCause();
        System.out.println("STATEMENT state " + cause.getSQLState() + " remedy: " + LockFailures.remedy(cause));
        assertThat(LockFailures.remedy(cause)).doesNotContain("prepareThreshold").contains("statement mode");
    }

    @Test
    void statementModeIsRefusedAtTheStart() throws Exception {
        LockParts parts = parts(bouncer("statement", ""), "?prepareThreshold=0");
        LockCheck check = new LockCheck(new LockConfiguration("java:x", LockParts.TABLES, null, null), parts.database);
        Throwable thrown = org.assertj.core.api.Assertions.catchThrowable(check::find);
        System.out.println("STATEMENT start: " + thrown);
        assertThat(thrown)
                .as("a wrong pooler is no outage: FencedKeyLocks starts the application on SQLException")
                .isNotInstanceOf(java.sql.SQLException.class);
    }

    @Test
    void theWarningOfTransactionMode() throws Exception {
        int port = bouncer("transaction", "");
        try (LogLines log = new LogLines(PoolerCheck.class)) {
            PoolerCheck.run(
                    LockParts.physical(
                            "jdbc:postgresql://127.0.0.1:" + port + "/hunt_pooler", database.user(), database.password()),
                    "java:x");
            assertThat(log.lines()).anyMatch(line -> line.contains("prepareThreshold=0"));
        }
    }

    /** Clients see no port then. */
    @Test
    void noWarningInSessionModeWithASmallPool() throws Exception {
        int port = bouncer("session", "");
        try (LogLines log = new LogLines(PoolerCheck.class)) {
            PoolerCheck.run(
                    LockParts.physical(
                            "jdbc:postgresql://127.0.0.1:" + port + "/hunt_pooler", database.user(), database.password()),
                    "java:x");
            assertThat(log.lines()).isEmpty();
        }
    }

    @Test
    void thePoolerIsKilledInAFencedTransaction() throws Exception {
        int port = bouncer("transaction", "");
        LockParts parts = parts(port, "?prepareThreshold=0");
        String key = HuntLockRig.key("killed");
        KeyLock lock = parts.tryLock(key, Duration.ofMillis(1)).orElseThrow();
        assertThatThrownBy(() -> parts.inTransaction(() -> {
                    lock.fence();
                    try (var connection = parts.database.dataSource().getConnection()) {
                        EffectDatabase.insertEffect(connection, key, "lost");
                    }
                    started.get(0).destroyForcibly();
                    // setpriv and env have become pgbouncer by exec
                    started.get(0).onExit().join();
                    return true;
                }))
                .isInstanceOf(IllegalStateException.class);
        LockParts direct = database.parts(null);
        KeyLock next = await().atMost(Duration.ofSeconds(30))
                .until(() -> direct.tryLock(key, HuntLockRig.LONG), java.util.Optional::isPresent)
                .orElseThrow();
        HuntLockRig.write(direct, next, key, "next");
        assertThat(database.holders(key)).containsExactly("next");
    }

    @Test
    void thePoolerEndsIdleTransactions() throws Exception {
        LockParts parts = parts(bouncer("transaction", "idle_transaction_timeout = 1"), "?prepareThreshold=0");
        String key = HuntLockRig.key("idle");
        KeyLock lock = parts.tryLock(key, Duration.ofMillis(1)).orElseThrow();
        LockParts direct = database.parts(null);
        assertThatThrownBy(() -> parts.inTransaction(() -> {
                    lock.fence();
                    try (var connection = parts.database.dataSource().getConnection()) {
                        EffectDatabase.insertEffect(connection, key, "lost");
                    }
                    KeyLock next = await().atMost(Duration.ofSeconds(30))
                            .until(() -> direct.tryLock(key, HuntLockRig.LONG), java.util.Optional::isPresent)
                            .orElseThrow();
                    HuntLockRig.write(direct, next, key, "next");
                    return true;
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(database.holders(key)).containsExactly("next");
    }
}
