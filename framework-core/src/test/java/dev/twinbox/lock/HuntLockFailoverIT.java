package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.TcpProxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.sql.Connection;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.HashSet;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Hunt: a primary, a synchronous standby, and the fail-over. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class HuntLockFailoverIT {

    private static final String NAME = "hunt_ha";
    private static PostgresServer primary;
    private static PostgresServer standby;
    private static TcpProxy clients;
    private static TcpProxy replication;
    private static EffectDatabase database;
    private static KeyLock before;
    private static KeyLock earlier;

    @BeforeAll
    static void start() throws Exception {
        Path folder = Files.createTempDirectory("hunt-ha");
        Files.setPosixFilePermissions(folder, PosixFilePermissions.fromString("rwxr-xr-x"));
        primary = PostgresServer.create().withDataDirectory(folder.resolve("p")).withSetting("wal_level", "replica");
        primary.start();
        database = EffectDatabase.create(primary, NAME);
        database.execute("create table hunted (key text primary key, n bigint not null)");
        primary.stop();
        HuntLockDriverIT.run("cp", "-a", folder + "/p", folder + "/s");
        HuntLockDriverIT.run("touch", folder + "/s/standby.signal");
        HuntLockDriverIT.run("chown", "65534:65534", folder + "/s/standby.signal");
        primary.withSetting("synchronous_standby_names", "*");
        primary.start();
        replication = TcpProxy.to("127.0.0.1", primary.port());
        standby = PostgresServer.create()
                .withDataDirectory(folder.resolve("s"))
                .withSetting(
                        "primary_conninfo",
                        "host=127.0.0.1 port=" + replication.port() + " user=" + primary.user() + " password="
                                + primary.password());
        standby.start();
        await().atMost(Duration.ofMinutes(1))
                .until(() -> database.query("select count(*) from pg_stat_replication where sync_state = 'sync'")
                        .equals("1"));
        clients = TcpProxy.to("127.0.0.1", primary.port());
    }

    @AfterAll
    static void stop() {
        standby.close();
        primary.close();
        clients.close();
        replication.close();
    }

    private static LockParts throughProxy() {
        return HuntLockRig.parts(primary.jdbcUrl(NAME, clients), primary.user(), primary.password());
    }

    private static LockParts at(PostgresServer server) {
        return HuntLockRig.parts(server.jdbcUrl(NAME), server.user(), server.password());
    }

    /** As in the minutes of a fail-over: the address leads to a server that is not promoted yet. */
    @Test
    @Order(1)
    void anApplicationThatStartsWhileTheStandbyIsNotPromotedYet() {
        LockCheck check =
                new LockCheck(new LockConfiguration("java:x", LockParts.TABLES, null, null), at(standby).database);
        Throwable thrown = catchThrowable(check::find);
        System.out.println("STANDBY start: " + thrown);
        assertThat(thrown).hasMessageContaining("standby");
    }

    @Test
    @Order(2)
    void tryLockAtTheStandbyIsAFailureWithARemedy() {
        Throwable thrown = catchThrowable(() -> at(standby).tryLock("ha-0", HuntLockRig.LONG));
        System.out.println("STANDBY tryLock: " + thrown);
        assertThat(LockFailures.remedy((java.sql.SQLException) thrown.getCause())).contains("primary");
    }

    /** The commit is local only; the database says so by a warning. */
    @Test
    @Order(3)
    void aGrantWhoseReplicationWasCancelledIsNotHandedOut() throws Exception {
        String key = HuntLockRig.key("ha");
        KeyLock old = at(primary).tryLock(key, Duration.ofMillis(1)).orElseThrow();
        replication.blackHole();
        try {
            CompletableFuture<Optional<KeyLock>> asked =
                    CompletableFuture.supplyAsync(() -> at(primary).tryLock(key, HuntLockRig.LONG));
            try (Connection operator = primary.connect("postgres")) {
                await().atMost(Duration.ofSeconds(30))
                        .until(() -> EffectDatabase.query(
                                        operator,
                                        "select count(*) from pg_stat_activity where wait_event = 'SyncRep'")
                                .equals("1"));
                EffectDatabase.query(
                        operator,
                        "select pg_cancel_backend(pid) from pg_stat_activity where wait_event = 'SyncRep'");
            }
            Object result;
            try {
                result = asked.get(30, TimeUnit.SECONDS);
            } catch (java.util.concurrent.ExecutionException e) {
                result = e.getCause();
            }
            System.out.println("SYNC CANCELLED: tryLock answered " + result + "; old " + old.token() + ", standby has "
                    + at(standby).inTransaction(() -> HuntLockRig.ask(
                            at(standby), "select 'x'")));
            assertThat(result).as("it is not on the standby").isNotInstanceOf(Optional.class);
        } finally {
            replication.heal();
        }
    }

    @Test
    @Order(4)
    void aCrowdThroughTheFailOver() throws Exception {
        replication.heal();
        await().atMost(Duration.ofMinutes(1))
                .until(() -> database.query("select count(*) from pg_stat_replication where sync_state = 'sync'")
                        .equals("1"));
        LockParts holder = throughProxy();
        before = holder.tryLock("ha-before", HuntLockRig.LONG).orElseThrow();
        earlier = holder.tryLock("ha-earlier", Duration.ofMillis(1)).orElseThrow();
        KeyLock later = at(primary).tryLock("ha-earlier", HuntLockRig.LONG).orElseThrow();
        assertThat(later.token()).isGreaterThan(earlier.token());
        Set<String> tokens = new HashSet<>(java.util.List.of(
                database.query("select string_agg(token::text, ',') from outbox_lock").split(",")));
        try (HuntLockRig.Crowd crowd = new HuntLockRig.Crowd(database, "ha", 2)) {
            crowd.run(4, HuntLockFailoverIT::throughProxy);
            Thread.sleep(3_000);
            primary.kill();
            Thread.sleep(500);
            try (Connection operator = DriverManager.getConnection(
                    standby.jdbcUrl("postgres"), standby.user(), standby.password())) {
                EffectDatabase.query(operator, "select pg_promote()");
            }
            clients.redirect(standby.port());
            Thread.sleep(4_000);
            crowd.stop();
            long sum = at(standby).inTransaction(() -> 0L);
            try (Connection operator =
                    DriverManager.getConnection(standby.jdbcUrl(NAME), standby.user(), standby.password())) {
                sum = Long.parseLong(
                        EffectDatabase.query(operator, "select sum(n) from hunted where key like 'ha%'"));
            }
            crowd.verify(sum);
        }
        HuntLockRig.write(holder, before, "ha-before", "before");
        assertThatThrownBy(() -> HuntLockRig.write(holder, earlier, "ha-earlier", "earlier"))
                .isInstanceOf(StaleLockException.class);
        assertThat(holder.tryLock("ha-before", HuntLockRig.LONG)).isEmpty();
        KeyLock fresh = holder.tryLock("ha-fresh", HuntLockRig.LONG).orElseThrow();
        assertThat(tokens).doesNotContain(Long.toString(fresh.token()));
        assertThat(fresh.token()).isGreaterThan(before.token());
    }

    /** A driver that knows both servers. */
    @Test
    @Order(5)
    void aUrlWithBothServersAfterTheFailOver() throws Exception {
        String url = "jdbc:postgresql://127.0.0.1:" + primary.port() + ",127.0.0.1:" + standby.port() + "/" + NAME
                + "?targetServerType=primary&connectTimeout=3";
        LockParts parts = HuntLockRig.parts(url, standby.user(), standby.password());
        KeyLock lock = parts.tryLock("ha-two", HuntLockRig.LONG).orElseThrow();
        HuntLockRig.write(parts, lock, "ha-two", "two");
    }
}
