package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.twinbox.KeyLock;
import dev.twinbox.TwinboxException;
import dev.twinbox.fixtures.SharedServers;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Attacks that have succeeded once: others hold the table or its rows, and one holder does two things at a time. */
@Timeout(60)
class LockTableAttacksIT {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration LIMIT = Duration.ofMillis(300);
    private static final String LITTLE = "lock_table_attacks_little";
    private static final AtomicInteger KEYS = new AtomicInteger();

    private static EffectDatabase database;

    private final String key = "key " + KEYS.incrementAndGet();
    private final LogLines log = new LogLines(FencedLock.class);

    @BeforeAll
    static void create() throws SQLException {
        database = EffectDatabase.create(SharedServers.postgres(), "lock_table_attacks");
        database.execute("create role " + LITTLE + " login password 'twinbox';"
                + "grant select, insert, update, delete on outbox_lock to " + LITTLE
                + "; grant usage on sequence outbox_lock_token to " + LITTLE);
    }

    @AfterEach
    void close() {
        log.close();
    }

    @Test
    void fault89ATableThatIsLockedIsNoHolderOfTheKey() throws SQLException {
        try (Connection operator = after("lock table outbox_lock in access exclusive mode")) {
            String pid = EffectDatabase.query(operator, "select pg_backend_pid()");
            assertThatThrownBy(() -> parts().tryLock(key, LONG))
                    .hasRootCauseInstanceOf(SQLException.class)
                    .hasMessageContaining("the table of locks is locked by session " + pid);
        }
        try (Connection index = after("lock table outbox_lock in share mode")) {
            assertThat(index.isClosed()).isFalse();
            assertThatThrownBy(() -> parts().tryLock(key, LONG)).hasMessageContaining("is locked by session ");
        }

        assertThat(parts().tryLock(key, LONG)).isPresent();
    }

    @Test
    void fault89AnotherGrantOfTheKeyThatDoesNotEndIsStillNoFailure() throws SQLException {
        try (Connection stopped = after("insert into outbox_lock values ('" + key + "', 1, clock_timestamp())")) {
            assertThat(stopped.isClosed()).isFalse();
            assertThat(parts().tryLock(key, LONG)).isEmpty();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void fault90TheKeyIsFreeAfterCloseAlthoughAnExtensionWasUnderWay(boolean isInTransaction) throws Exception {
        ExecutorService held = Executors.newSingleThreadExecutor(task -> new Thread(task, HeldCommits.THREAD));
        HeldCommits source = new HeldCommits();
        LockParts parts = new LockParts(source, new FenceTable(LockParts.TABLES), null, held);
        KeyLock lock = parts.tryLock(key, LONG).orElseThrow();
        if (isInTransaction) {
            parts.inTransaction(() -> {
                lock.fence();
                return lock.extend(LONG);
            });
        } else {
            held.execute(() -> lock.extend(LONG));
        }
        source.commits.await();
        Thread closing = new Thread(lock::close);
        closing.start();
        await().until(() ->
                List.of(Thread.State.TIMED_WAITING, Thread.State.TERMINATED).contains(closing.getState()));
        source.goOn.countDown();
        closing.join(30_000);
        held.shutdown();
        assertThat(held.awaitTermination(30, TimeUnit.SECONDS)).isTrue();

        assertThat(parts().tryLock(key, LONG)).isPresent();
        assertThat(lock.extend(LONG)).isFalse();
        assertThat(log.lines()).isEmpty();
    }

    /** The transaction has ended, and the holder has fenced anew before its extension was carried out. */
    @Test
    void fault90AnExtensionThatMeetsTheNextFenceIsNotALoss() {
        List<Runnable> later = new ArrayList<>();
        LockParts parts = new LockParts(physical(), new FenceTable(LockParts.TABLES), null, later::add);
        KeyLock lock = parts.tryLock(key, Duration.ofSeconds(30)).orElseThrow();
        parts.inTransaction(() -> {
            lock.fence();
            return lock.extend(LONG);
        });
        parts.inTransaction(() -> {
            lock.fence();
            CompletableFuture.runAsync(later.remove(0)).join();
            return true;
        });
        later.forEach(Runnable::run);

        assertThat(lock.isHeld()).isTrue();
        assertThat(database.query("select lease_until > clock_timestamp() + interval '5 minutes' from outbox_lock"
                        + " where key = '" + key + "'"))
                .isEqualTo("t");
    }

    @Test
    void fault90AKeyThatWasNotGivenBackIsReported() throws SQLException {
        KeyLock lock = impatient().tryLock(key, LONG).orElseThrow();
        try (Connection other = after("select from outbox_lock where key = '" + key + "' for update")) {
            assertThat(other.isClosed()).isFalse();
            lock.close();
        }

        assertThat(log.lines())
                .singleElement()
                .asString()
                .startsWith("WARNING The lock of \"" + key + "\" could not be given back");
    }

    @Test
    void fault92ATableThatIsLockedHoldsNobodyForEver() throws Exception {
        LockParts parts = impatient();
        KeyLock closed = parts.tryLock(key + " 1", LONG).orElseThrow();
        KeyLock extended = parts.tryLock(key + " 2", LONG).orElseThrow();
        KeyLock fenced = parts.tryLock(key + " 3", LONG).orElseThrow();
        List<Optional<String>> failures;
        try (Connection operator = after("lock table outbox_lock in access exclusive mode")) {
            assertThat(operator.isClosed()).isFalse();
            failures = List.of(
                    failure(closed::close),
                    failure(() -> extended.extend(LONG)),
                    failure(() -> parts.inTransaction(() -> fence(fenced))));
        }

        assertThat(failures.get(0)).isEmpty();
        assertThat(log.lines()).singleElement().asString().startsWith("WARNING").contains("could not be given back");
        assertThat(failures.get(1).orElseThrow())
                .startsWith("dev.twinbox.TwinboxException: The lock of \"" + key + " 2\" cannot be extended")
                .contains("pg_locks");
        assertThat(failures.get(2).orElseThrow())
                .startsWith("dev.twinbox.TwinboxException: The lock of \"" + key + " 3\" cannot be fenced");
    }

    /** What the work throws; it has to end. */
    private static Optional<String> failure(Runnable work) throws Exception {
        return CompletableFuture.supplyAsync(
                        () -> Optional.ofNullable(catchThrowable(work::run)).map(Throwable::toString))
                .get(15, TimeUnit.SECONDS);
    }

    @Test
    void fault93TheStatementTimeoutIsNamed() throws SQLException {
        PGSimpleDataSource source = physical();
        source.setOptions("-c statement_timeout=500");
        LockParts parts = new LockParts(source, new FenceTable(LockParts.TABLES), null);
        KeyLock lock = parts.tryLock(key, LONG).orElseThrow();
        try (Connection other = after("select from outbox_lock where key = '" + key + "' for update")) {
            assertThat(other.isClosed()).isFalse();
            assertThatThrownBy(() -> parts.inTransaction(() -> fence(lock)))
                    .isInstanceOf(TwinboxException.class)
                    .hasMessageContaining("raise statement_timeout");
        }
    }

    @Test
    void fault93AMissingRightAndAMissingTableAreNamed() {
        PGSimpleDataSource source = LockParts.physical(database.url(), LITTLE, "twinbox");
        LockParts parts = new LockParts(source, new FenceTable(LockParts.TABLES), null);
        KeyLock lock = parts.tryLock(key, LONG).orElseThrow();

        database.execute("revoke update on outbox_lock from " + LITTLE);
        Throwable forbidden = catchThrowable(() -> parts.inTransaction(() -> fence(lock)));
        database.execute("grant update on outbox_lock to " + LITTLE + "; alter table outbox_lock rename to away");
        Throwable gone = catchThrowable(() -> parts.inTransaction(() -> fence(lock)));
        Throwable notExtended = catchThrowable(() -> lock.extend(LONG));
        database.execute("alter table away rename to outbox_lock");

        assertThat(forbidden).hasMessageContaining("grant the role SELECT, INSERT, UPDATE and DELETE");
        assertThat(gone).hasMessageContaining("create or update the tables as their owner");
        assertThat(notExtended).hasMessageContaining("create or update the tables as their owner");
        assertThat(parts.<Boolean>inTransaction(() -> fence(lock))).isTrue();
    }

    @Test
    void fault97ALockWhoseExtensionWasRefusedIsNotHeld() {
        KeyLock first = parts().tryLock(key, LONG).orElseThrow();
        database.execute("update outbox_lock set lease_until = clock_timestamp() where key = '" + key + "'");
        await().until(() -> parts().tryLock(key, LONG).isPresent());

        assertThat(first.isHeld()).as("a hint, which does not ask").isTrue();
        assertThat(first.extend(LONG)).isFalse();
        assertThat(first.isHeld()).isFalse();
    }

    @Test
    void fault97AnExtensionThatMeetsAnotherSessionIsNoLoss() throws SQLException {
        KeyLock lock = parts().tryLock(key, LONG).orElseThrow();
        try (Connection other = after("select from outbox_lock where key = '" + key + "' for update")) {
            assertThat(other.isClosed()).isFalse();
            assertThat(lock.extend(LONG)).isFalse();
            assertThat(lock.isHeld()).isTrue();
        }

        assertThat(lock.extend(LONG)).isTrue();
    }

    private static boolean fence(KeyLock lock) {
        lock.fence();
        return true;
    }

    private static LockParts parts() {
        return new LockParts(physical(), new FenceTable(LockParts.TABLES), null);
    }

    /** Waits a moment only. */
    private static LockParts impatient() {
        return new LockParts(physical(), new FenceTable(LockParts.TABLES, LIMIT), null);
    }

    private static PGSimpleDataSource physical() {
        return LockParts.physical(database.url(), database.user(), database.password());
    }

    /** A transaction that has done this, and ends when it is closed. */
    private static Connection after(String sql) throws SQLException {
        Connection connection = database.connect();
        connection.setAutoCommit(false);
        connection.createStatement().execute(sql);
        return connection;
    }

    /** One thread's first commit waits. */
    private static final class HeldCommits extends PGSimpleDataSource {

        static final String THREAD = "held";

        private static final long serialVersionUID = 1;

        final transient CountDownLatch commits = new CountDownLatch(1);
        final transient CountDownLatch goOn = new CountDownLatch(1);

        HeldCommits() {
            setUrl(database.url());
            setUser(database.user());
            setPassword(database.password());
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection real = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (p, m, a) -> {
                        if (m.getName().equals("commit")
                                && Thread.currentThread().getName().equals(THREAD)) {
                            commits.countDown();
                            goOn.await();
                        }
                        try {
                            return m.invoke(real, a);
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }
}
