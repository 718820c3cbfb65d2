package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.lock.FenceTable.Decider;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import javax.sql.XAConnection;
import javax.transaction.xa.XAResource;
import javax.transaction.xa.Xid;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.postgresql.xa.PGXADataSource;

/** Hunt: fences of prepared, killed and long transactions. */
class HuntLockFenceIT {

    private static PostgresServer server;
    private static EffectDatabase database;

    private final String key = HuntLockRig.key("fence");

    @BeforeAll
    static void start() throws Exception {
        server = PostgresServer.create().start();
        database = EffectDatabase.create(server, "hunt_fence");
    }

    @AfterAll
    static void stop() {
        server.close();
    }

    private static final java.util.Map<Integer, Xid> XIDS = new java.util.concurrent.ConcurrentHashMap<>();

    /** The driver compares them by identity. */
    private static Xid xid(int number) {
        return XIDS.computeIfAbsent(number, HuntLockFenceIT::newXid);
    }

    private static Xid newXid(int number) {
        return new Xid() {
            @Override
            public int getFormatId() {
                return 77;
            }

            @Override
            public byte[] getGlobalTransactionId() {
                return new byte[] {1, (byte) number};
            }

            @Override
            public byte[] getBranchQualifier() {
                return new byte[] {2};
            }
        };
    }

    private Connection xa(XAConnection xa, Xid id) throws Exception {
        xa.getXAResource().start(id, XAResource.TMNOFLAGS);
        return xa.getConnection();
    }

    private static XAConnection xaConnection() throws Exception {
        PGXADataSource source = new PGXADataSource();
        source.setUrl(database.url());
        return source.getXAConnection(database.user(), database.password());
    }

    /** A transaction of two resources that is in doubt, through a crash of the database. */
    @Test
    void aPreparedFenceHoldsThroughACrash() throws Exception {
        LockParts parts = database.parts(null);
        KeyLock lock = parts.tryLock(key, Duration.ofMillis(1)).orElseThrow();
        XAConnection xa = xaConnection();
        Connection connection = xa(xa, xid(1));
        assertThat(new FenceTable(LockParts.TABLES).fence(connection, key, lock.token())).isEqualTo(Passage.PASSED);
        EffectDatabase.insertEffect(connection, key, "in doubt");
        xa.getXAResource().end(xid(1), XAResource.TMSUCCESS);
        xa.getXAResource().prepare(xid(1));
        assertThat(parts.tryLock(key, HuntLockRig.LONG)).isEmpty();
        server.kill();
        server.start();
        assertThat(parts.tryLock(key, HuntLockRig.LONG)).isEmpty();
        assertThat(database.holders(key)).isEmpty();
        XAConnection again = xaConnection();
        again.getXAResource().commit(xid(1), false);
        again.close();
        KeyLock next = parts.tryLock(key, HuntLockRig.LONG).orElseThrow();
        HuntLockRig.write(parts, next, key, "next");
        assertThatThrownBy(() -> HuntLockRig.write(parts, lock, key, "late")).isInstanceOf(StaleLockException.class);
        assertThat(database.holders(key)).containsExactly("in doubt", "next");
    }

    /** XA without a transaction manager that shares: suspend and resume a branch around the fence. */
    @Test
    void aSuspendedBranchKeepsItsFence() throws Exception {
        LockParts parts = database.parts(null);
        KeyLock lock = parts.tryLock(key, Duration.ofMillis(1)).orElseThrow();
        XAConnection xa = xaConnection();
        Connection connection = xa(xa, xid(2));
        new FenceTable(LockParts.TABLES).fence(connection, key, lock.token());
        xa.getXAResource().end(xid(2), XAResource.TMSUCCESS);
        assertThat(parts.tryLock(key, HuntLockRig.LONG)).isEmpty();
        xa.getXAResource().start(xid(2), XAResource.TMJOIN);
        EffectDatabase.insertEffect(connection, key, "joined");
        xa.getXAResource().end(xid(2), XAResource.TMSUCCESS);
        xa.getXAResource().commit(xid(2), true);
        xa.close();
        assertThat(parts.tryLock(key, HuntLockRig.LONG)).isPresent();
        assertThat(database.holders(key)).containsExactly("joined");
    }

    /** In an XA branch: grant by the same statement, prepared and rolled back. */
    @Test
    void aGrantThatIsPreparedAndRolledBackIsNone() throws Exception {
        LockParts parts = database.parts(null);
        KeyLock lock = parts.tryLock(key, Duration.ofMillis(1)).orElseThrow();
        XAConnection xa = xaConnection();
        Connection connection = xa(xa, xid(3));
        OptionalLong token =
                new FenceTable(LockParts.TABLES).grant(connection, key, HuntLockRig.LONG, Decider.DATABASE);
        assertThat(token).isPresent();
        xa.getXAResource().end(xid(3), XAResource.TMSUCCESS);
        xa.getXAResource().prepare(xid(3));
        assertThat(parts.tryLock(key, HuntLockRig.LONG)).isEmpty();
        xa.getXAResource().rollback(xid(3));
        xa.close();
        HuntLockRig.write(parts, lock, key, "still");
        assertThat(parts.tryLock(key, HuntLockRig.LONG)).isPresent();
    }

    @Test
    void aFenceThatMeetsAGrantOnItsWayFollowsItsEnd() throws Exception {
        for (boolean isCommitted : new boolean[] {true, false}) {
            String each = key + isCommitted;
            LockParts parts = database.parts(null);
            KeyLock lock = parts.tryLock(each, Duration.ofMillis(1)).orElseThrow();
            try (Connection other = database.connect()) {
                other.setAutoCommit(false);
                assertThat(new FenceTable(LockParts.TABLES).grant(other, each, HuntLockRig.LONG, Decider.DATABASE))
                        .isPresent();
                CompletableFuture<Void> written =
                        CompletableFuture.runAsync(() -> HuntLockRig.write(parts, lock, each, "x"));
                await().until(() -> database.query("select count(*) from pg_stat_activity where wait_event_type = 'Lock'"
                                + " and query like '%fence, waiting%'")
                        .equals("1"));
                if (isCommitted) {
                    other.commit();
                    assertThatThrownBy(() -> written.get(20, TimeUnit.SECONDS)).hasCauseInstanceOf(StaleLockException.class);
                } else {
                    other.rollback();
                    written.get(20, TimeUnit.SECONDS);
                }
            } catch (CompletionException e) {
                throw new AssertionError(e);
            }
        }
    }

    @Test
    void theServerEndsAFencedTransactionThatIdles() throws Exception {
        String url = database.url() + (database.url().contains("?") ? "&" : "?")
                + "options=-c%20idle_in_transaction_session_timeout=500";
        LockParts parts = HuntLockRig.parts(url, database.user(), database.password());
        KeyLock lock = parts.tryLock(key, Duration.ofMillis(1)).orElseThrow();
        LockParts other = database.parts(null);
        assertThatThrownBy(() -> parts.inTransaction(() -> {
                    lock.fence();
                    try (Connection connection = parts.database.dataSource().getConnection()) {
                        EffectDatabase.insertEffect(connection, key, "idle");
                    }
                    KeyLock next = await().until(
                                    () -> other.tryLock(key, HuntLockRig.LONG), java.util.Optional::isPresent)
                            .orElseThrow();
                    HuntLockRig.write(other, next, key, "next");
                    return true;
                }))
                .isInstanceOf(IllegalStateException.class);
        assertThat(database.holders(key)).containsExactly("next");
    }

    /** "For long work take a short lease and call extend from time to time." */
    @Test
    void aHeartbeatKeepsTheLockThroughALongFencedTransaction() throws Exception {
        LockParts parts = database.parts(null);
        LockParts other = database.parts(null);
        KeyLock lock = parts.tryLock(key, Duration.ofMillis(500)).orElseThrow();
        java.util.concurrent.atomic.AtomicBoolean over = new java.util.concurrent.atomic.AtomicBoolean();
        java.util.concurrent.atomic.AtomicInteger stolen = new java.util.concurrent.atomic.AtomicInteger();
        CompletableFuture<Void> rival = CompletableFuture.runAsync(() -> {
            while (!over.get()) {
                if (other.tryLock(key, HuntLockRig.LONG).isPresent()) {
                    stolen.incrementAndGet();
                    return;
                }
            }
        });
        boolean allTrue = true;
        java.util.List<Boolean> beats = new java.util.ArrayList<>();
        parts.inTransaction(() -> {
            lock.fence();
            for (int i = 0; i < 20; i++) {
                beats.add(CompletableFuture.supplyAsync(() -> lock.extend(Duration.ofMillis(500))).join());
                Thread.onSpinWait();
                java.util.concurrent.locks.LockSupport.parkNanos(100_000_000);
            }
            return true;
        });
        for (int i = 0; i < 10; i++) {
            allTrue &= lock.extend(Duration.ofMillis(500));
            java.util.concurrent.locks.LockSupport.parkNanos(50_000_000);
        }
        over.set(true);
        rival.get(20, TimeUnit.SECONDS);
        System.out.println("HEARTBEAT in the transaction " + beats + ", after it " + allTrue + ", stolen " + stolen);
        assertThat(beats).containsOnly(true);
        assertThat(stolen).hasValue(0);
    }

    /** "Later grants of any key have greater ones." */
    @Test
    void aSequenceWithACacheIsRefusedOrHarmless() throws Exception {
        database.execute("alter sequence outbox_lock_token cache 50");
        try {
            LockCheck check = new LockCheck(
                    new LockConfiguration("java:x", LockParts.TABLES, null, null), database.parts(null).database);
            Throwable thrown = org.assertj.core.api.Assertions.catchThrowable(check::find);
            System.out.println("CACHE: " + thrown);
            if (thrown == null) {
                try (Connection one = database.connect();
                        Connection two = database.connect()) {
                    FenceTable fences = new FenceTable(LockParts.TABLES);
                    long a = fences.grant(one, key + "a", HuntLockRig.LONG, Decider.DATABASE).getAsLong();
                    long b = fences.grant(two, key + "b", HuntLockRig.LONG, Decider.DATABASE).getAsLong();
                    long c = fences.grant(one, key + "c", HuntLockRig.LONG, Decider.DATABASE).getAsLong();
                    assertThat(b).isGreaterThan(a);
                    assertThat(c).as("granted later than b").isGreaterThan(b);
                }
            }
        } finally {
            database.execute("alter sequence outbox_lock_token cache 1");
        }
    }

    @Test
    void aTableThatIsTruncatedAndASequenceThatStartsAgainRefuseTheOldHolder() throws Exception {
        LockParts parts = database.parts(null);
        KeyLock lock = parts.tryLock(key, HuntLockRig.LONG).orElseThrow();
        long last = Long.parseLong(database.query("select last_value from outbox_lock_token"));
        database.execute("truncate outbox_lock");
        database.execute("alter sequence outbox_lock_token restart with " + last);
        KeyLock next = parts.tryLock(key, HuntLockRig.LONG).orElseThrow();
        database.execute("select setval('outbox_lock_token', " + (last + 1_000) + ")");
        assertThatThrownBy(() -> HuntLockRig.write(parts, lock, key, "old")).isInstanceOf(StaleLockException.class);
        HuntLockRig.write(parts, next, key, "next");
        assertThat(database.holders(key)).containsExactly("next");
    }

    @Test
    void anOperatorWhoReindexesAndVacuumsDoesNotLetTwoIn() throws Exception {
        try (HuntLockRig.Crowd crowd = new HuntLockRig.Crowd(database, "vac", 2)) {
            crowd.run(4, () -> database.parts(null));
            for (int i = 0; i < 5; i++) {
                Thread.sleep(300);
                database.execute("vacuum full outbox_lock");
                database.execute("reindex table concurrently outbox_lock");
                database.execute("cluster outbox_lock using outbox_lock_pkey");
                database.execute("delete from outbox_lock");
            }
            crowd.stop();
            crowd.verify(database);
        }
    }

    @Test
    void aDatabaseThatIsKilledUnderACrowd() throws Exception {
        try (HuntLockRig.Crowd crowd = new HuntLockRig.Crowd(database, "crash", 2)) {
            crowd.run(4, () -> database.parts(null));
            for (int i = 0; i < 3; i++) {
                Thread.sleep(1_500);
                server.kill();
                server.start();
            }
            Thread.sleep(1_000);
            crowd.stop();
            crowd.verify(database);
        }
    }

    /** A caller's transaction that has changed the lock's own row, or holds it. */
    @Test
    void tryLockInsideOfATransactionThatHasFencedTheSameKeyWaitsForNobody() throws Exception {
        LockParts parts = database.parts(null);
        KeyLock lock = parts.tryLock(key, Duration.ofMillis(1)).orElseThrow();
        parts.inTransaction(() -> {
            lock.fence();
            long asked = System.nanoTime();
            assertThat(parts.tryLock(key, HuntLockRig.LONG)).isEmpty();
            assertThat(Duration.ofNanos(System.nanoTime() - asked)).isLessThan(Duration.ofSeconds(5));
            return true;
        });
    }

    /** A session of another program holds the advisory lock that grants use. */
    @Test
    void aForeignAdvisoryLockStopsAKeyWithoutAWord() throws Exception {
        try (Connection foreign = database.connect();
                Statement statement = foreign.createStatement()) {
            statement.execute("select pg_advisory_lock(hashtextextended('dev.twinbox.lock grant ' || "
                    + "'outbox_lock'::regclass::oid || ' " + key + "', 0))");
            assertThat(database.parts(null).tryLock(key, HuntLockRig.LONG)).isEmpty();
        }
    }
}
