package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import dev.twinbox.fixtures.SharedServers;
import jakarta.transaction.TransactionalException;
import java.sql.Connection;
import java.sql.SQLException;
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
import org.junit.jupiter.api.Test;

/** What the fence lets through, on a real database and without a container. */
class FenceIT {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final AtomicInteger KEYS = new AtomicInteger();

    private static EffectDatabase database;
    private static LockParts first;
    private static LockParts second;

    private final String key = "key " + KEYS.incrementAndGet();

    @BeforeAll
    static void create() throws SQLException {
        database = EffectDatabase.create(SharedServers.postgres(), "fence");
        first = database.parts(null);
        second = database.parts(null);
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

        assertThat(database.holders(key)).containsExactly("late");
    }

    @Test
    void anEarlierHolderIsRefusedAlthoughTheNewOneHasNotWrittenYet() {
        KeyLock late = first.tryLock(key, SHORT).orElseThrow();
        KeyLock next = awaitGrant();

        assertThatThrownBy(() -> write(first, late, "late"))
                .isInstanceOf(StaleLockException.class)
                .hasMessageContaining(key)
                .hasMessageContaining("granted to another holder");
        assertThat(database.holders(key)).isEmpty();

        write(second, next, "next");
        assertThatThrownBy(() -> write(first, late, "late")).isInstanceOf(StaleLockException.class);
        assertThat(database.holders(key)).containsExactly("next");
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

        assertThat(database.holders(key)).isEmpty();
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

        assertThat(database.holders(key)).containsExactly("late");
        assertThat(second.tryLock(key, LONG)).isPresent();
    }

    @Test
    void aRowThatWasDeletedRefusesItsHolder() {
        KeyLock lock = first.tryLock(key, LONG).orElseThrow();
        database.execute("delete from outbox_lock");

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
        assertThat(database.holders(key)).isEmpty();
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
    void extendInsideOfTheFencedTransactionTakesEffectAfterIt() {
        KeyLock lock = first.tryLock(key, Duration.ofSeconds(1)).orElseThrow();

        first.inTransaction(() -> {
            lock.fence();
            assertThat(lock.extend(LONG)).isTrue();
            return true;
        });

        assertThat(database.query(
                        "select lease_until > clock_timestamp() + interval '5 minutes' from outbox_lock where key = '"
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
        await().until(() -> database.query("select count(*) from pg_stat_activity where query like '%locks: fence%' "
                        + "and wait_event_type = 'Lock'")
                .equals("1"));
        goOn.countDown();

        assertThat(one.join() && two.join()).isTrue();
        assertThat(database.holders(key)).containsExactly("one", "two");
    }

    @Test
    void aGrantIsDurableAlsoWhereCommitsAreNot() throws SQLException {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            EffectDatabase.query(connection, "select set_config('synchronous_commit', 'off', true)");
            first.fences.grant(connection, key, LONG, FenceTable.Decider.DATABASE);

            assertThat(EffectDatabase.query(connection, "show synchronous_commit"))
                    .isEqualTo("on");
            connection.rollback();
        }
    }

    @Test
    void oldRowsAreRemoved() {
        database.execute("insert into outbox_lock select 'old ' || i, nextval('outbox_lock_token'), "
                + "clock_timestamp() - interval '2 days' from generate_series(1, 20) i");
        database.execute("select setval('outbox_lock_token', 100000 - 1)");
        first.tryLock(key, LONG).orElseThrow();

        assertThat(database.query("select count(*) from outbox_lock where key like 'old %'"))
                .isEqualTo("0");
        assertThat(database.query("select count(*) from outbox_lock where key = '" + key + "'"))
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
            EffectDatabase.insertEffect(connection, key, holder);
        }
    }

    private boolean lockInTransaction(LockParts parts) throws SQLException {
        return parts.database.inCallersTransaction(connection -> parts.fences.lockInTransaction(connection, key));
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            assertThat(latch.await(30, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
