package dev.twinbox.lock;

import static dev.twinbox.lock.HuntMParts.chain;
import static dev.twinbox.lock.HuntMParts.say;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.TcpProxy;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.text.Normalizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;

/** Attacks on the fence. Each asserts what the docs promise; what is red fell. */
@Tag("proof")
@Timeout(120)
class HuntMFenceIT {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final String DATABASE = "huntm";
    private static final AtomicInteger KEYS = new AtomicInteger();
    private static final PostgresServer SERVER = PostgresServer.create();

    private final String key = "key " + KEYS.incrementAndGet();
    private final ExecutorService threads = Executors.newCachedThreadPool();
    private List<String> log;

    @BeforeAll
    static void create() throws SQLException {
        SERVER.start();
        SERVER.createDatabase(DATABASE);
        new OutboxSchema(null, OutboxSchema.DEFAULT_TABLE).migrate(physical());
        execute("create table effect (key text not null, holder text not null, number bigint generated always as identity);"
                + "create table counter (key text primary key, n bigint not null)");
    }

    @AfterAll
    static void stop() {
        SERVER.close();
    }

    @BeforeEach
    void listen() {
        log = HuntMParts.log();
    }

    @AfterEach
    void end() throws SQLException {
        execute("select pg_terminate_backend(pid) from pg_stat_activity where datname = 'huntm' and pid <> pg_backend_pid()");
        threads.shutdownNow();
    }

    private static PGSimpleDataSource physical() {
        return physical(SERVER.jdbcUrl(DATABASE));
    }

    private static PGSimpleDataSource physical(String url) {
        return LockParts.physical(url, SERVER.user(), SERVER.password());
    }

    private HuntMParts parts() {
        return new HuntMParts(physical(), null, threads);
    }

    private static void execute(String sql) throws SQLException {
        try (Connection connection = SERVER.connect(DATABASE);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private String holders() throws SQLException {
        return parts().one("select coalesce(string_agg(holder, ',' order by number), '') from effect where key = '" + key + "'");
    }

    // Javadoc of close: "Gives the lock back." A heartbeat extends while the work ends (ShedLock's KeepAlive).
    @Test
    void m01_closeMeetsAHeartbeat() throws Exception {
        HuntMParts a = parts();
        HuntMParts b = parts();
        List<String> stuck = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            String mine = key + " " + i;
            KeyLock lock = a.tryLock(mine, LONG).orElseThrow();
            Future<?> heartbeat = threads.submit(() -> {
                while (lock.extend(LONG)) {
                    Thread.onSpinWait();
                }
            });
            sleep(ThreadLocalRandom.current().nextInt(1, 30));
            lock.close();
            heartbeat.get(10, TimeUnit.SECONDS);
            if (!isSoonFree(b, mine)) {
                stuck.add(mine);
            }
        }
        say("M01", stuck.size() + " of 100 keys stay locked after close; log " + log);
        assertThat(stuck).isEmpty();
    }

    // "extend and close in a transaction that has called fence() take effect after its end."
    @Test
    void m02_extendInTheFencedTransactionThenClose() throws Exception {
        HuntMParts a = parts();
        HuntMParts b = parts();
        List<String> stuck = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            String mine = key + " " + i;
            try (KeyLock lock = a.tryLock(mine, LONG).orElseThrow()) {
                a.inTransaction(() -> {
                    lock.fence();
                    lock.extend(LONG);
                    return true;
                });
                sleep(i % 20);
            }
            if (!isSoonFree(b, mine)) {
                stuck.add(mine);
            }
        }
        say("M02", stuck.size() + " of 100 keys stay locked after close; log " + log);
        assertThat(stuck).isEmpty();
    }

    private static boolean isSoonFree(HuntMParts parts, String mine) {
        for (int i = 0; i < 20; i++) {
            if (parts.tryLock(mine, LONG).isPresent()) {
                return true;
            }
            sleep(25);
        }
        return false;
    }

    // "extend returns false once the lock is lost." Its own fence waits for the next holder meanwhile.
    @Test
    void m03_extendWhileTheFenceOfALostLockWaits() throws Exception {
        HuntMParts a = parts();
        HuntMParts b = parts();
        KeyLock first = a.tryLock(key, SHORT).orElseThrow();
        sleep(60);
        KeyLock second = b.tryLock(key, LONG).orElseThrow();
        assertThat(first.extend(SHORT)).as("before its fence").isFalse();
        CountDownLatch fenced = new CountDownLatch(1);
        CountDownLatch free = new CountDownLatch(1);
        Future<?> holder = threads.submit(() -> {
            b.inTransaction(() -> {
                second.fence();
                fenced.countDown();
                await(free);
                return true;
            });
            return null;
        });
        await(fenced);
        Future<Throwable> stale = threads.submit(() -> catchThrowable(() -> a.inTransaction(() -> {
            first.fence();
            return true;
        })));
        awaitWaiting("locks: fence");
        boolean isExtended = first.extend(LONG);
        boolean isHeld = first.isHeld();
        free.countDown();
        holder.get(20, TimeUnit.SECONDS);
        say("M03", "extend of the lost lock " + isExtended + ", isHeld " + isHeld + ", its fence " + stale.get(20, TimeUnit.SECONDS)
                + ", isHeld after the fence " + first.isHeld());
        assertThat(isExtended).isFalse();
    }

    // "close takes effect after its end." A heartbeat has asked a few thousand times in a long transaction.
    @Test
    void m04_manyExtensionsInOneFencedTransaction() throws Exception {
        HuntMParts a = parts();
        HuntMParts b = parts();
        KeyLock lock = a.tryLock(key, LONG).orElseThrow();
        a.inTransaction(() -> {
            lock.fence();
            for (int i = 0; i < 3_000; i++) {
                lock.extend(LONG);
            }
            return true;
        });
        lock.close();
        long before = System.nanoTime();
        boolean isFree = false;
        while (!isFree && System.nanoTime() - before < TimeUnit.SECONDS.toNanos(60)) {
            isFree = b.tryLock(key, LONG).isPresent();
            sleep(10);
        }
        say("M04", "free " + isFree + " after " + (System.nanoTime() - before) / 1_000_000 + " ms; log " + log);
        assertThat(isFree).isTrue();
        assertThat(System.nanoTime() - before).isLessThan(TimeUnit.SECONDS.toNanos(5));
    }

    // Javadoc of token: "Later grants of any key have greater numbers."
    @Test
    void m05_aGrantThatSleptHasASmallerToken() throws Exception {
        HuntMParts a = parts();
        HuntMParts b = parts();
        boolean isInverted = false;
        StringBuilder seen = new StringBuilder();
        for (int round = 0; round < 5 && !isInverted; round++) {
            String mine = key + " " + round;
            Connection blocker = SERVER.connect(DATABASE);
            blocker.setAutoCommit(false);
            blocker.createStatement().execute("insert into outbox_lock values ('" + mine + "', 0, clock_timestamp())");
            Future<Optional<KeyLock>> late = threads.submit(() -> a.tryLock(mine, LONG));
            long pid = awaitWaiting("locks: grant");
            signal("STOP", pid);
            blocker.rollback(); // the grant could go on, but its process does not run
            blocker.close();
            Optional<KeyLock> quick = b.tryLock(mine, LONG);
            quick.ifPresent(KeyLock::close);
            signal("CONT", pid);
            Optional<KeyLock> slow = late.get(20, TimeUnit.SECONDS);
            seen.append("quick ").append(quick.map(KeyLock::token)).append(" then slow ").append(slow.map(KeyLock::token)).append("; ");
            isInverted = quick.isPresent() && slow.isPresent() && slow.get().token() < quick.get().token();
        }
        say("M05", seen);
        assertThat(isInverted).isFalse();
    }

    // Of all holders only the latest writes: no lost update, tokens rise in the order of the effects.
    @Test
    void m06_aStormOfShortLeases() throws Exception {
        execute("insert into counter values ('" + key + "', 0)");
        AtomicBoolean isOver = new AtomicBoolean();
        AtomicInteger commits = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        List<Future<?>> all = new ArrayList<>();
        List<String> odd = java.util.Collections.synchronizedList(new ArrayList<>());
        for (int t = 0; t < 8; t++) {
            HuntMParts mine = parts();
            all.add(threads.submit(() -> {
                while (!isOver.get()) {
                    Optional<KeyLock> lock = mine.tryLock(key, Duration.ofMillis(ThreadLocalRandom.current().nextInt(1, 15)));
                    if (lock.isEmpty()) {
                        continue;
                    }
                    sleep(ThreadLocalRandom.current().nextInt(0, 15));
                    try {
                        mine.inTransaction(() -> {
                            lock.get().fence();
                            long n = Long.parseLong(mine.one("select n from counter where key = '" + key + "'"));
                            sleep(ThreadLocalRandom.current().nextInt(0, 5));
                            mine.sql("update counter set n = " + (n + 1) + " where key = '" + key + "'");
                            mine.insert(key, Long.toString(lock.get().token()));
                            return true;
                        });
                        commits.incrementAndGet();
                    } catch (StaleLockException e) {
                        refused.incrementAndGet();
                    } catch (RuntimeException | SQLException e) {
                        odd.add(chain(e));
                    }
                    if (ThreadLocalRandom.current().nextBoolean()) {
                        lock.get().close();
                    }
                }
            }));
        }
        sleep(12_000);
        isOver.set(true);
        for (Future<?> each : all) {
            each.get(30, TimeUnit.SECONDS);
        }
        String n = parts().one("select n from counter where key = '" + key + "'");
        String inverted = parts().one("select count(*) from (select holder::bigint h, lag(holder::bigint) over (order by number) p"
                + " from effect where key = '" + key + "') x where h < p");
        say("M06", commits + " commits, " + refused + " refused, counter " + n + ", tokens that fell " + inverted + ", odd " + odd);
        assertThat(n).isEqualTo(commits.toString());
        assertThat(inverted).isEqualTo("0");
        assertThat(odd).isEmpty();
        assertThat(commits.get()).isPositive();
    }

    // "Errors say place, value and remedy." The statement timeout is shorter than the fence's limit.
    @Test
    void m07_theStatementTimeoutEndsTheFence() throws Exception {
        PGSimpleDataSource source = physical();
        source.setOptions("-c statement_timeout=500");
        HuntMParts a = new HuntMParts(source, null, threads);
        KeyLock lock = a.tryLock(key, LONG).orElseThrow();
        Throwable thrown = whileRowIsLocked(() -> catchThrowable(() -> a.inTransaction(() -> {
            lock.fence();
            return true;
        })));
        say("M07", chain(thrown));
        assertThat(thrown).hasMessageContaining("statement timeout");
        assertThat(thrown.getMessage()).as("the database works").doesNotContain("wait until the database works");
    }

    private <T> T whileRowIsLocked(java.util.concurrent.Callable<T> work) throws Exception {
        try (Connection blocker = SERVER.connect(DATABASE)) {
            blocker.setAutoCommit(false);
            blocker.createStatement().execute("select from outbox_lock where key = '" + key + "' for update");
            return work.call();
        }
    }

    // The same for a right that was taken away, and for a table that was renamed.
    @Test
    void m08_theTableIsGoneOrForbiddenAtTheFence() throws Exception {
        execute("create role little login password 'twinbox'; grant select, insert, update, delete on outbox_lock to little;"
                + "grant usage on sequence outbox_lock_token to little");
        HuntMParts a = new HuntMParts(LockParts.physical(SERVER.jdbcUrl(DATABASE), "little", "twinbox"), null, threads);
        KeyLock lock = a.tryLock(key, LONG).orElseThrow();
        execute("revoke update on outbox_lock from little");
        Throwable forbidden = catchThrowable(() -> a.inTransaction(() -> {
            lock.fence();
            return true;
        }));
        execute("grant update on outbox_lock to little; alter table outbox_lock rename to outbox_lock_old");
        Throwable gone = catchThrowable(() -> a.inTransaction(() -> {
            lock.fence();
            return true;
        }));
        execute("alter table outbox_lock_old rename to outbox_lock");
        say("M08", "forbidden: " + chain(forbidden) + " GONE: " + chain(gone));
        assertThat(forbidden.getMessage()).doesNotContain("wait until the database works");
        assertThat(gone.getMessage()).doesNotContain("wait until the database works");
    }

    // kill -9 between grant, fence and commit. "From the moment of a grant no earlier holder passes its fence."
    @Test
    void m09_theServerIsKilledBetweenTheSteps() throws Exception {
        HuntMParts a = parts();
        HuntMParts b = parts();
        KeyLock first = a.tryLock(key, SHORT).orElseThrow();
        SERVER.kill();
        SERVER.start();
        a.inTransaction(() -> {
            first.fence(); // the latest holder still, although its lease is over
            a.insert(key, "first");
            return true;
        });
        Throwable lostCommit = catchThrowable(() -> a.inTransaction(() -> {
            first.fence();
            a.insert(key, "first lost");
            SERVER.kill();
            SERVER.start();
            return true;
        }));
        KeyLock second = b.tryLock(key, LONG).orElseThrow();
        SERVER.kill();
        SERVER.start();
        Throwable stale = catchThrowable(() -> a.inTransaction(() -> {
            first.fence();
            a.insert(key, "first stale");
            return true;
        }));
        b.inTransaction(() -> {
            second.fence();
            b.insert(key, "second");
            return true;
        });
        second.close();
        say("M09", "lost commit " + lostCommit + ", stale " + stale + ", effects " + holders() + ", tokens " + first.token() + " "
                + second.token());
        assertThat(lostCommit).isNotNull();
        assertThat(stale).isInstanceOf(StaleLockException.class);
        assertThat(holders()).isEqualTo("first,second");
        assertThat(second.token()).isGreaterThan(first.token());
        assertThat(b.tryLock(key, LONG)).isPresent();
    }

    // The answer to the commit of a grant is lost. Nobody has the lock then; how long is the key locked, and who says so?
    @Test
    void m10_theAnswerOfTheGrantsCommitIsLost() throws Exception {
        try (TcpProxy proxy = TcpProxy.to("127.0.0.1", SERVER.port())) {
            PGSimpleDataSource source = new PGSimpleDataSource() {
                private static final long serialVersionUID = 1;

                @Override
                public Connection getConnection() throws SQLException {
                    Connection real = super.getConnection();
                    return (Connection) java.lang.reflect.Proxy.newProxyInstance(
                            getClass().getClassLoader(), new Class<?>[] {Connection.class}, (p, m, arguments) -> {
                                if (m.getName().equals("commit")) {
                                    proxy.holdAnswers();
                                }
                                try {
                                    return m.invoke(real, arguments);
                                } catch (java.lang.reflect.InvocationTargetException e) {
                                    throw e.getCause();
                                }
                            });
                }
            };
            source.setUrl(SERVER.jdbcUrl(DATABASE, proxy));
            source.setUser(SERVER.user());
            source.setPassword(SERVER.password());
            source.setSocketTimeout(2);
            Throwable thrown = catchThrowable(() -> new HuntMParts(source, null, threads).tryLock(key, LONG));
            boolean isFree = parts().tryLock(key, LONG).isPresent();
            say("M10", "free " + isFree + ", thrown " + chain(thrown) + ", log " + log);
            assertThat(thrown).isNotNull();
            assertThat(isFree).as("nobody has got it").isTrue();
        }
    }

    // "close: Never throws." The database is away.
    @Test
    void m11_closeWhileTheDatabaseIsKilled() throws Exception {
        HuntMParts a = parts();
        KeyLock lock = a.tryLock(key, Duration.ofSeconds(3)).orElseThrow();
        SERVER.kill();
        Throwable thrown = catchThrowable(lock::close);
        SERVER.start();
        sleep(3_100);
        say("M11", thrown + ", log " + log);
        assertThat(thrown).isNull();
        assertThat(log).anyMatch(line -> line.startsWith("WARNING") && line.contains(key));
        assertThat(parts().tryLock(key, LONG)).isPresent();
    }

    // One key, taken and closed again and again, while a report holds a snapshot.
    @Test
    void m12_oneKeyManyTimesUnderAnOldSnapshot() throws Exception {
        HuntMParts a = parts();
        try (Connection report = SERVER.connect(DATABASE)) {
            report.setAutoCommit(false);
            report.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
            report.createStatement().execute("select count(*) from effect; select pg_current_xact_id()");
            List<Long> millis = new ArrayList<>();
            for (int i = 0; i < 6; i++) {
                long before = System.nanoTime();
                for (int k = 0; k < 500; k++) {
                    a.tryLock(key, LONG).orElseThrow().close();
                }
                millis.add((System.nanoTime() - before) / 1_000_000);
            }
            say("M12", "ms for each 500 grants and releases: " + millis);
            assertThat(millis.get(5)).isLessThan(5 * millis.get(0) + 500);
        }
    }

    // The session of a holder is ended after its fence; the next one is granted; the first one must not commit.
    @Test
    void m13_theSessionOfAHolderIsEnded() throws Exception {
        HuntMParts a = parts();
        HuntMParts b = parts();
        KeyLock first = a.tryLock(key, SHORT).orElseThrow();
        Throwable thrown = catchThrowable(() -> a.inTransaction(() -> {
            first.fence();
            a.insert(key, "first");
            sleep(40);
            assertThat(b.tryLock(key, LONG)).as("while fenced").isEmpty();
            execute("select pg_terminate_backend(" + a.one("select pg_backend_pid()") + ")");
            KeyLock second = null;
            for (int i = 0; second == null && i < 100; i++) {
                second = b.tryLock(key, LONG).orElse(null);
                sleep(10);
            }
            KeyLock granted = second;
            b.inTransaction(() -> {
                granted.fence();
                b.insert(key, "second");
                return true;
            });
            return true;
        }));
        say("M13", thrown + ", effects " + holders() + ", extend of the first " + first.extend(LONG));
        assertThat(holders()).isEqualTo("second");
    }

    // A backend hangs after its fence (a network without an end): askers of the key are answered, other keys work.
    @Test
    void m14_aHolderHangsAfterItsFence() throws Exception {
        HuntMParts a = parts();
        HuntMParts b = parts();
        KeyLock first = a.tryLock(key, SHORT).orElseThrow();
        a.inTransaction(() -> {
            first.fence();
            long pid = Long.parseLong(a.one("select pg_backend_pid()"));
            sleep(40);
            signal("STOP", pid);
            long before = System.nanoTime();
            boolean same = b.tryLock(key, LONG).isPresent();
            boolean other = b.tryLock(key + " other", LONG).isPresent();
            long millis = (System.nanoTime() - before) / 1_000_000;
            signal("CONT", pid);
            say("M14", "same key " + same + ", other key " + other + " in " + millis + " ms");
            assertThat(same).isFalse();
            assertThat(other).isTrue();
            assertThat(millis).isLessThan(900);
            return true;
        });
    }

    // "empty: somebody else holds the lock, or its row is fenced." Nobody holds it: the table is locked (VACUUM FULL, DDL).
    @Test
    void m15_tryLockWhileTheTableIsLocked() throws Exception {
        HuntMParts a = parts();
        try (Connection operator = SERVER.connect(DATABASE)) {
            operator.setAutoCommit(false);
            operator.createStatement().execute("lock table outbox_lock in access exclusive mode");
            List<String> answers = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                String mine = key + " " + i;
                long before = System.nanoTime();
                Throwable thrown = catchThrowable(() -> answers.add(a.tryLock(mine, LONG).isPresent() ? "granted" : "empty"));
                answers.add(thrown + " " + (System.nanoTime() - before) / 1_000_000 + " ms");
            }
            say("M15", answers + ", log " + log);
            assertThat(answers.contains("empty") && log.isEmpty())
                    .as("says that somebody has the lock, without a word in the log")
                    .isFalse();
        }
    }

    // "extend, close: They do not wait." Nothing bounds them when the table is locked.
    @Test
    void m16_closeAndExtendWhileTheTableIsLocked() throws Exception {
        HuntMParts a = parts();
        KeyLock lock = a.tryLock(key, LONG).orElseThrow();
        KeyLock other = a.tryLock(key + " other", LONG).orElseThrow();
        try (Connection operator = SERVER.connect(DATABASE)) {
            operator.setAutoCommit(false);
            operator.createStatement().execute("lock table outbox_lock in access exclusive mode");
            String closing = within(15, threads.submit(lock::close));
            String extending = within(1, threads.submit(() -> other.extend(LONG)));
            say("M16", "close " + closing + ", extend " + extending + ", log " + log);
            assertThat(closing).isEqualTo("done");
        }
    }

    private static String within(int seconds, Future<?> future) throws Exception {
        try {
            future.get(seconds, TimeUnit.SECONDS);
            return "done";
        } catch (TimeoutException e) {
            return "hangs";
        }
    }

    // Keys as they are: each text is a key of its own.
    @Test
    void m17_keysOfAllKinds() throws Exception {
        HuntMParts a = parts();
        String accented = "\u00e9t\u00e9 " + key;
        List<String> keys = List.of(
                accented,
                Normalizer.normalize(accented, Normalizer.Form.NFD),
                " " + key,
                key + " ",
                key + "\n",
                key + "\t",
                key.toUpperCase(java.util.Locale.ROOT),
                "\u202e" + key,
                "\ufeff" + key,
                "\ud83d\ude00".repeat(250),
                "'; drop table outbox_lock; --" + key,
                "%" + key,
                "\\" + key,
                "\u0001" + key,
                "\uffff" + key);
        List<String> refused = keys.stream().filter(each -> a.tryLock(each, LONG).isEmpty()).toList();
        List<String> again = keys.stream().filter(each -> a.tryLock(each, LONG).isPresent()).toList();
        say("M17", "refused " + refused + ", granted twice " + again);
        assertThat(refused).isEmpty();
        assertThat(again).isEmpty();
        for (String wrong : List.of("", "x".repeat(10_000), "\ud83d\ude00".repeat(251), "a\0b", "\ud83d")) {
            assertThat(catchThrowable(() -> a.tryLock(wrong, LONG))).isInstanceOf(IllegalArgumentException.class);
        }
    }

    // "1 millisecond to 1 day", with an error that says so.
    @Test
    void m18_leasesOfAllKinds() {
        HuntMParts a = parts();
        List<Duration> wrong = List.of(
                Duration.ZERO,
                Duration.ofNanos(1),
                Duration.ofNanos(999_999),
                Duration.ofMillis(-1),
                Duration.ofSeconds(Long.MIN_VALUE),
                Duration.ofSeconds(Long.MAX_VALUE, 999_999_999),
                Duration.ofDays(1).plusNanos(1));
        List<String> messages = new ArrayList<>();
        for (Duration each : wrong) {
            Throwable thrown = catchThrowable(() -> a.tryLock(key, each));
            messages.add(String.valueOf(thrown));
            assertThat(thrown).isInstanceOf(IllegalArgumentException.class);
        }
        Throwable none = catchThrowable(() -> a.tryLock(key, null));
        KeyLock lock = a.tryLock(key, Duration.ofDays(1)).orElseThrow();
        Throwable extendNone = catchThrowable(() -> lock.extend(null));
        say("M18", messages + ", null: " + none + ", extend(null): " + extendNone);
        assertThat(none).hasMessageContaining("lease");
        assertThat(none.getMessage()).doesNotContain("Cannot invoke");
    }

    // Use after the end: fence, extend, close, twice, in other transactions, after another one was granted.
    @Test
    void m19_useAfterClose() throws Exception {
        HuntMParts a = parts();
        KeyLock lock = a.tryLock(key, LONG).orElseThrow();
        a.inTransaction(() -> {
            lock.fence();
            lock.fence();
            return true;
        });
        a.inTransaction(() -> {
            lock.fence();
            lock.close();
            lock.close();
            assertThat(lock.extend(LONG)).isFalse();
            Throwable again = catchThrowable(lock::fence); // closed: the transaction is marked
            say("M19", "fence after close in the fenced transaction: " + again);
            return true;
        });
        sleep(300);
        KeyLock second = a.tryLock(key, LONG).orElseThrow();
        lock.close();
        assertThat(lock.extend(LONG)).isFalse();
        Throwable thrown = catchThrowable(() -> a.inTransaction(() -> {
            lock.fence();
            a.insert(key, "closed");
            return true;
        }));
        assertThat(thrown).isInstanceOf(StaleLockException.class);
        a.inTransaction(() -> {
            second.fence();
            a.insert(key, "second");
            return true;
        });
        assertThat(holders()).isEqualTo("second");
    }

    // extend after a refusal: isHeld and extend agree.
    @Test
    void m20_isHeldAfterTheLockWasLost() throws Exception {
        HuntMParts a = parts();
        HuntMParts b = parts();
        KeyLock first = a.tryLock(key, LONG).orElseThrow();
        execute("update outbox_lock set lease_until = clock_timestamp() - interval '1 second' where key = '" + key + "'");
        b.tryLock(key, LONG).orElseThrow();
        boolean isExtended = first.extend(LONG);
        say("M20", "extend " + isExtended + ", isHeld " + first.isHeld());
        assertThat(isExtended).isFalse();
        assertThat(first.isHeld()).as("extend has said that it is lost").isFalse();
    }

    // Hundreds of keys, taken, fenced and closed or forgotten: no connection and no thread stays.
    @Test
    void m21_thousandsOfLocks() throws Exception {
        HuntMParts a = parts();
        for (int i = 0; i < 600; i++) {
            KeyLock lock = a.tryLock(key + " " + i, LONG).orElseThrow();
            if (i % 3 == 0) {
                a.inTransaction(() -> {
                    lock.fence();
                    return true;
                });
            }
            if (i % 2 == 0) {
                lock.close();
            }
        }
        String sessions = parts().one("select count(*) from pg_stat_activity where datname = 'huntm' and pid <> pg_backend_pid()");
        String rows = parts().one("select count(*) from outbox_lock where key like '" + key + " %'");
        say("M21", "sessions " + sessions + ", rows " + rows + ", log " + log);
        assertThat(rows).isEqualTo("300");
        assertThat(sessions).isEqualTo("0");
    }

    private static long awaitWaiting(String what) throws Exception {
        for (int i = 0; i < 1_000; i++) {
            try (Connection connection = SERVER.connect(DATABASE);
                    java.sql.ResultSet row = connection
                            .createStatement()
                            .executeQuery("select pid from pg_stat_activity where wait_event_type = 'Lock' and query like '%" + what + "%'")) {
                if (row.next()) {
                    return row.getLong(1);
                }
            }
            sleep(5);
        }
        throw new IllegalStateException("nobody waits at " + what);
    }

    private static void signal(String name, long pid) {
        try {
            new ProcessBuilder("kill", "-" + name, Long.toString(pid)).start().waitFor();
        } catch (java.io.IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void await(CountDownLatch latch) {
        try {
            if (!latch.await(30, TimeUnit.SECONDS)) {
                throw new IllegalStateException("too late");
            }
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void sleep(long millis) {
        try {
            Thread.sleep(millis);
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
