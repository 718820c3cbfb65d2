package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.schema.OutboxSchema;
import jakarta.transaction.TransactionalException;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.ds.PGSimpleDataSource;

/** What the fence lets through, on a real database and without a container. */
class FenceIT {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final String DATABASE = "fence";
    private static final AtomicInteger KEYS = new AtomicInteger();

    private static PostgresServer server;
    private static LockParts first;
    private static LockParts second;

    private final String key = "key " + KEYS.incrementAndGet();

    @BeforeAll
    static void create() throws SQLException {
        server = SharedServers.postgres();
        server.createDatabase(DATABASE);
        PGSimpleDataSource owner = new PGSimpleDataSource();
        owner.setUrl(server.jdbcUrl(DATABASE));
        owner.setUser(server.user());
        owner.setPassword(server.password());
        new OutboxSchema(null, OutboxSchema.DEFAULT_TABLE).migrate(owner);
        first = parts();
        second = parts();
        try (Connection connection = server.connect(DATABASE)) {
            execute(connection, "create table effect (key text not null, holder text not null)");
        }
    }

    @BeforeEach
    void clean() throws SQLException {
        try (Connection connection = server.connect(DATABASE)) {
            execute(connection, "truncate effect");
        }
    }

    @Test
    void aKeyIsGrantedOnceUntilItIsGivenBack() {
        KeyLock lock = first.tryLock(key, LONG).orElseThrow();

        assertThat(second.tryLock(key, LONG)).isEmpty();
        assertThat(second.tryLock(key + " other", LONG)).isPresent();
        lock.close();

        assertThat(second.tryLock(key, LONG).orElseThrow().token()).isGreaterThan(lock.token());
        assertThat(lock.isHeld()).isFalse();
    }

    @Test
    void ofManyWhoAskAtOnceForANewKeyOneGetsIt() throws InterruptedException {
        int threads = 16;
        CountDownLatch barrier = new CountDownLatch(threads);
        List<CompletableFuture<Optional<KeyLock>>> asked = IntStream.range(0, threads)
                .mapToObj(i -> CompletableFuture.supplyAsync(
                        () -> {
                            barrier.countDown();
                            awaitQuietly(barrier);
                            return (i % 2 == 0 ? first : second).tryLock(key, LONG);
                        },
                        task -> new Thread(task).start()))
                .toList();

        assertThat(asked.stream().map(CompletableFuture::join).filter(Optional::isPresent))
                .hasSize(1);
    }

    @Test
    void aLeaseThatEndedIsGrantedToAnother() {
        KeyLock late = first.tryLock(key, SHORT).orElseThrow();

        KeyLock next = awaitGrant();

        assertThat(late.isHeld()).isFalse();
        assertThat(next.token()).isGreaterThan(late.token());
        assertThat(late.extend(LONG)).isFalse();
    }

    @Test
    void aHolderWhoseLeaseEndedMayWriteWhileNobodyElseWasGrantedTheKey() {
        KeyLock late = first.tryLock(key, SHORT).orElseThrow();
        await().until(() -> !late.isHeld());

        write(first, late, "late");

        assertThat(effects()).containsExactly("late");
    }

    @Test
    void anEarlierHolderIsRefusedAlthoughTheNewOneHasNotWrittenYet() {
        KeyLock late = first.tryLock(key, SHORT).orElseThrow();
        KeyLock next = awaitGrant();

        assertThatThrownBy(() -> write(first, late, "late"))
                .isInstanceOf(StaleLockException.class)
                .hasMessageContaining(key)
                .hasMessageContaining("granted to another holder");
        assertThat(effects()).isEmpty();

        write(second, next, "next");
        assertThatThrownBy(() -> write(first, late, "late")).isInstanceOf(StaleLockException.class);
        assertThat(effects()).containsExactly("next");
    }

    @Test
    void aTransactionThatCatchesTheRefusalIsRolledBackNevertheless() {
        KeyLock late = first.tryLock(key, SHORT).orElseThrow();
        awaitGrant();

        first.inTransaction(() -> {
            insert(first, "late");
            assertThatThrownBy(late::fence).isInstanceOf(StaleLockException.class);
            return true;
        });

        assertThat(effects()).isEmpty();
    }

    @Test
    void aKeyIsNotGrantedWhileATransactionHasFencedIt() {
        KeyLock late = first.tryLock(key, SHORT).orElseThrow();

        first.inTransaction(() -> {
            late.fence();
            await().until(() -> !late.isHeld());
            assertThat(second.tryLock(key, LONG)).isEmpty();
            insert(first, "late");
            return true;
        });

        assertThat(effects()).containsExactly("late");
        assertThat(second.tryLock(key, LONG)).isPresent();
    }

    @Test
    void aRowThatWasDeletedRefusesItsHolder() throws SQLException {
        KeyLock lock = first.tryLock(key, LONG).orElseThrow();
        try (Connection connection = server.connect(DATABASE)) {
            execute(connection, "delete from outbox_lock");
        }

        assertThatThrownBy(() -> write(first, lock, "first")).isInstanceOf(StaleLockException.class);
        KeyLock next = second.tryLock(key, LONG).orElseThrow();
        assertThat(next.token()).isGreaterThan(lock.token());
        assertThatThrownBy(() -> write(first, lock, "first")).isInstanceOf(StaleLockException.class);
    }

    @Test
    void aClosedLockIsRefused() {
        KeyLock lock = first.tryLock(key, LONG).orElseThrow();
        lock.close();

        assertThatThrownBy(() -> write(first, lock, "first"))
                .isInstanceOf(StaleLockException.class)
                .hasMessageContaining("it was closed");
        assertThat(lock.extend(LONG)).isFalse();
        assertThat(effects()).isEmpty();
    }

    @Test
    void closeInsideOfTheFencedTransactionWaitsForItsEnd() {
        KeyLock lock = first.tryLock(key, LONG).orElseThrow();

        first.inTransaction(() -> {
            lock.fence();
            lock.close();
            assertThat(lock.isHeld()).isFalse();
            assertThat(second.tryLock(key, LONG)).isEmpty();
            return true;
        });

        assertThat(second.tryLock(key, LONG)).isPresent();
    }

    @Test
    void closeTakesEffectAlsoWhenTheTransactionRollsBack() {
        KeyLock lock = first.tryLock(key, LONG).orElseThrow();

        first.inTransaction(() -> {
            lock.fence();
            lock.close();
            first.transactions.setRollbackOnly();
            return true;
        });

        assertThat(second.tryLock(key, LONG)).isPresent();
    }

    @Test
    void closeInAnInnerTransactionDoesNotWaitForTheOuterOne() {
        KeyLock lock = first.tryLock(key, LONG).orElseThrow();

        first.inTransaction(() -> {
            lock.fence();
            return first.inTransaction(() -> {
                lock.close();
                return true;
            });
        });

        assertThat(second.tryLock(key, LONG)).isPresent();
    }

    @Test
    void extendInsideOfTheFencedTransactionTakesEffectAfterIt() throws SQLException {
        KeyLock lock = first.tryLock(key, Duration.ofSeconds(1)).orElseThrow();

        first.inTransaction(() -> {
            lock.fence();
            assertThat(lock.extend(LONG)).isTrue();
            return true;
        });

        assertThat(query("select lease_until > clock_timestamp() + interval '5 minutes' from outbox_lock where key = '"
                        + key + "'"))
                .isEqualTo("t");
        assertThat(lock.isHeld()).isTrue();
    }

    @Test
    void extendStartsTheLeaseAnew() {
        KeyLock lock = first.tryLock(key, Duration.ofSeconds(2)).orElseThrow();

        assertThat(lock.extend(LONG)).isTrue();

        assertThat(second.tryLock(key, LONG)).isEmpty();
        assertThat(lock.isHeld()).isTrue();
    }

    @Test
    void twoTransactionsOfOneHolderFollowEachOther() {
        KeyLock lock = first.tryLock(key, LONG).orElseThrow();
        CountDownLatch fenced = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        CompletableFuture<Boolean> one = CompletableFuture.supplyAsync(() -> first.inTransaction(() -> {
            lock.fence();
            fenced.countDown();
            awaitQuietly(goOn);
            insert(first, "one");
            return true;
        }));
        awaitQuietly(fenced);
        CompletableFuture<Boolean> two = CompletableFuture.supplyAsync(() -> {
            write(first, lock, "two");
            return true;
        });
        await().until(() -> query("select count(*) from pg_stat_activity where query like '-- locks: fence%' "
                        + "and wait_event_type = 'Lock'")
                .equals("1"));
        goOn.countDown();

        assertThat(one.join() && two.join()).isTrue();
        assertThat(effects()).containsExactly("one", "two");
    }

    @Test
    void aGrantIsDurableAlsoWhereCommitsAreNot() throws SQLException {
        try (Connection connection = server.connect(DATABASE)) {
            connection.setAutoCommit(false);
            execute(connection, "set local synchronous_commit = off");
            first.fences.grant(connection, key, LONG, FenceTable.Takeover.AFTER_THE_LEASE);

            assertThat(query(connection, "show synchronous_commit")).isEqualTo("on");
            connection.rollback();
        }
    }

    @Test
    void oldRowsAreRemoved() throws SQLException {
        try (Connection connection = server.connect(DATABASE)) {
            execute(
                    connection,
                    "insert into outbox_lock select 'old ' || i, nextval('outbox_lock_token'), "
                            + "clock_timestamp() - interval '2 days' from generate_series(1, 20) i");
            execute(connection, "select setval('outbox_lock_token', 100000 - 1)");
        }
        first.tryLock(key, LONG).orElseThrow();

        assertThat(query("select count(*) from outbox_lock where key like 'old %'"))
                .isEqualTo("0");
        assertThat(query("select count(*) from outbox_lock where key = '" + key + "'"))
                .isEqualTo("1");
    }

    @Test
    void aLockOfATransactionEndsWithIt() throws SQLException {
        first.inTransaction(() -> {
            assertThat(lockInTransaction(first)).isTrue();
            assertThat(lockInTransaction(first)).isTrue();
            assertThat(second.<Boolean>inTransaction(() -> lockInTransaction(second)))
                    .isFalse();
            return true;
        });

        assertThat(second.<Boolean>inTransaction(() -> lockInTransaction(second)))
                .isTrue();
    }

    @Test
    void fenceWithoutATransactionIsRefused() {
        KeyLock lock = first.tryLock(key, LONG).orElseThrow();

        assertThatThrownBy(lock::fence)
                .isInstanceOf(TransactionalException.class)
                .hasMessageContaining("KeyLock.fence needs an active JTA transaction, but there is none");
    }

    private KeyLock awaitGrant() {
        List<KeyLock> granted = new ArrayList<>();
        await().until(() -> {
            second.tryLock(key, LONG).ifPresent(granted::add);
            return !granted.isEmpty();
        });
        return granted.get(0);
    }

    private void write(LockParts parts, KeyLock lock, String holder) {
        parts.inTransaction(() -> {
            lock.fence();
            insert(parts, holder);
            return true;
        });
    }

    private void insert(LockParts parts, String holder) throws SQLException {
        try (Connection connection = parts.database.dataSource().getConnection()) {
            execute(connection, "insert into effect values ('" + key + "', '" + holder + "')");
        }
    }

    private boolean lockInTransaction(LockParts parts) throws SQLException {
        return parts.database.inCallersTransaction(connection -> parts.fences.lockInTransaction(connection, key));
    }

    private List<String> effects() {
        try {
            String all = query("select string_agg(holder, ',' order by ctid) from effect where key = '" + key + "'");
            return all == null ? List.of() : List.of(all.split(",", -1));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static LockParts parts() {
        return new LockParts(server.jdbcUrl(DATABASE), server.user(), server.password(), null);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    private static String query(String sql) throws SQLException {
        try (Connection connection = server.connect(DATABASE)) {
            return query(connection, sql);
        }
    }

    private static String query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }
}
