package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import dev.twinbox.TwinboxException;
import dev.twinbox.fixtures.SharedServers;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.lock.FenceTable.Decider;
import dev.twinbox.schema.LockSchema;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.jdbc.AutoSave;

/** Attacks on fences and on locks in transactions that have succeeded once. */
@Timeout(60)
class FenceAttacksIT {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final Duration SHORT = Duration.ofMillis(20);
    private static final AtomicInteger KEYS = new AtomicInteger();

    private static EffectDatabase database;

    private final String key = "key " + KEYS.incrementAndGet();

    @BeforeAll
    static void create() throws SQLException {
        database = EffectDatabase.create(SharedServers.postgres(), "fence_attacks");
    }

    @Test
    void fault76AFenceThatGotNoConnectionRollsBackAlthoughItIsCaught() {
        LockParts early = parts();
        KeyLock first = early.tryLock(key, SHORT).orElseThrow();
        awaitGrant();

        early.inTransaction(() -> {
            try (Connection of = connection(early)) {
                early.isExhausted = true;
                assertThatThrownBy(first::fence)
                        .isInstanceOf(TwinboxException.class)
                        .hasMessageContaining(
                                "The transaction rolls back; wait until the database works, then try again");
                EffectDatabase.insertEffect(of, key, "first");
            }
            return true;
        });

        assertThat(database.holders(key)).isEmpty();
    }

    @Test
    void fault76AnOldSnapshotMakesTheEarlierHolderStaleAndRollsBackAlthoughItIsCaught() {
        PGSimpleDataSource source = isolated("repeatable read");
        source.setAutosave(AutoSave.ALWAYS);
        LockParts early = parts(source);
        KeyLock first = early.tryLock(key, SHORT).orElseThrow();

        early.inTransaction(() -> {
            try (Connection of = connection(early)) {
                EffectDatabase.query(of, "select count(*) from effect");
                awaitGrant();
                assertThatThrownBy(first::fence)
                        .isInstanceOf(StaleLockException.class)
                        .hasMessageContaining("its row has changed since the transaction began");
                EffectDatabase.insertEffect(of, key, "first");
            }
            return true;
        });

        assertThat(database.holders(key)).isEmpty();
    }

    @Test
    void fault77TheSchemaSpelledOrNotIsOneLockOfTheTransaction() throws SQLException {
        LockParts without = parts();
        LockParts with = new LockParts(
                physical(), new FenceTable(LockSchema.of(new SqlIdentifier("public", "outbox_event"))), null);

        without.inTransaction(() -> {
            assertThat(lockInTransaction(without)).isTrue();
            assertThat(with.<Boolean>inTransaction(() -> lockInTransaction(with)))
                    .isFalse();
            return true;
        });
        try (Connection connection = database.connect()) {
            assertThat(without.fences.name(connection))
                    .isEqualTo(with.fences.name(connection))
                    .isEqualTo("public.outbox_lock");
        }
    }

    @Test
    void fault78AFenceInsideOfATransactionThatHasFencedIsRefusedAtOnce() {
        LockParts parts = parts();
        KeyLock lock = parts.tryLock(key, LONG).orElseThrow();

        parts.inTransaction(() -> {
            lock.fence();
            insert(parts, "outer");
            return parts.inTransaction(() -> {
                assertThatThrownBy(lock::fence)
                        .isInstanceOf(TwinboxException.class)
                        .hasMessageContaining("fenced by a transaction that this thread has suspended");
                return true;
            });
        });

        assertThat(database.holders(key)).containsExactly("outer");
    }

    @Test
    void fault78AFenceDoesNotWaitForeverForAGrantAndTheCallersLimitStays() throws SQLException {
        Duration limit = Duration.ofMillis(300);
        LockParts impatient = new LockParts(physical(), new FenceTable(LockParts.TABLES, limit), null);
        KeyLock first = impatient.tryLock(key, SHORT).orElseThrow();
        await().until(() -> !first.isHeld());
        try (Connection stopped = database.connect()) {
            stopped.setAutoCommit(false);
            assertThat(impatient.fences.grant(stopped, key, LONG, Decider.DATABASE))
                    .isPresent();
            assertThatThrownBy(() -> fence(impatient, first))
                    .isInstanceOf(TwinboxException.class)
                    .hasMessageContaining("wait for the session that holds the key's row");
            stopped.rollback();
        }

        assertThat(fence(impatient, first))
                .as("limit after a fence that did not wait")
                .isEqualTo("7s");
        try (Connection other = database.connect()) {
            other.setAutoCommit(false);
            impatient.fences.fence(other, key, first.token());
            LockParts patient = parts();
            CompletableFuture<String> waiting =
                    CompletableFuture.supplyAsync(() -> fence(patient, first(patient, first)));
            await().until(() -> database.query(
                            "select count(*) from pg_stat_activity where datname = current_database()"
                                    + " and query like '%locks: fence, waiting%' and wait_event_type = 'Lock'")
                    .equals("1"));
            other.rollback();
            assertThat(waiting.join()).as("limit after a fence that has waited").isEqualTo("7s");
        }
    }

    /** The same grant, as another instance of the parts would have it. */
    private KeyLock first(LockParts parts, KeyLock lock) {
        return new FencedLock(
                new FencedLock.Store(parts.database, parts.fences, null, Runnable::run),
                key,
                lock.token(),
                new FencedLock.Lease(null, Decider.DATABASE),
                Long.MAX_VALUE);
    }

    /** Returns the caller's lock_timeout after it. */
    private String fence(LockParts parts, KeyLock lock) {
        return parts.inTransaction(() -> {
            try (Connection of = connection(parts)) {
                EffectDatabase.query(of, "select set_config('lock_timeout', '7s', true)");
                lock.fence();
                return EffectDatabase.query(of, "show lock_timeout");
            }
        });
    }

    @Test
    void fault79AnOldSnapshotIsNamedAndDoesNotMakeTheLatestHolderLoseItsLock() {
        LockParts parts = parts(isolated("repeatable read"));

        KeyLock lock = parts.inTransaction(() -> {
            try (Connection of = connection(parts)) {
                EffectDatabase.query(of, "select count(*) from effect");
            }
            KeyLock latest = parts.tryLock(key, LONG).orElseThrow();
            assertThatThrownBy(latest::fence)
                    .isInstanceOf(StaleLockException.class)
                    .hasMessageContaining("is not READ COMMITTED");
            return latest;
        });

        assertThat(lock.isHeld()).isTrue();
        parts.inTransaction(() -> {
            lock.fence();
            insert(parts, "latest");
            return true;
        });
        assertThat(database.holders(key)).containsExactly("latest");
    }

    @Test
    void fault79ALockOfATransactionIsRefusedAboveReadCommitted() {
        for (String level : new String[] {"repeatable read", "serializable"}) {
            LockParts parts = parts(isolated(level));
            assertThatThrownBy(() -> parts.inTransaction(() -> lockInTransaction(parts)))
                    .isInstanceOf(TwinboxException.class)
                    .hasMessageContaining("needs the isolation level READ COMMITTED");
        }
    }

    @Test
    void fault85AClockThatWasAYearAheadDoesNotLockTheKeyForAYear() {
        parts().tryLock(key, SHORT).orElseThrow();
        database.execute(
                "update outbox_lock set lease_until = lease_until + interval '1 year' where key = '" + key + "'");

        assertThat(parts().tryLock(key, Duration.ofDays(1))).isPresent();
        assertThat(parts().tryLock(key, LONG)).as("a day is a legal lease").isEmpty();
    }

    @Test
    void fault87AFailedFenceSaysWhatToDo() {
        LockParts parts = parts();
        KeyLock one = parts.tryLock(key + " 1", LONG).orElseThrow();
        KeyLock two = parts.tryLock(key + " 2", LONG).orElseThrow();
        assertThatThrownBy(() -> parts.inTransaction(() -> {
                    try (Connection of = connection(parts)) {
                        EffectDatabase.query(of, "select set_config('transaction_read_only', 'on', true)");
                        one.fence();
                    }
                    return true;
                }))
                .hasMessageContaining("choose a transaction that may write, on the primary, then try again");

        CountDownLatch both = new CountDownLatch(2);
        CompletableFuture<String> forth = CompletableFuture.supplyAsync(() -> fenceBoth(parts, one, two, both));
        CompletableFuture<String> back = CompletableFuture.supplyAsync(() -> fenceBoth(parts, two, one, both));
        assertThat(forth.join() + back.join())
                .contains("done")
                .contains("fence locks in the same order in all transactions");
    }

    private static String fenceBoth(LockParts parts, KeyLock one, KeyLock two, CountDownLatch both) {
        try {
            return parts.inTransaction(() -> {
                one.fence();
                both.countDown();
                await().atMost(30, TimeUnit.SECONDS).until(() -> both.getCount() == 0);
                two.fence();
                return "done";
            });
        } catch (TwinboxException e) {
            return e.getMessage();
        }
    }

    @Test
    void fault87WhatIsNoKeyIsNamed() {
        assertThatThrownBy(() -> LockRules.checkKey(null)).hasMessageContaining("The key of a lock is null: pass");
    }

    private static LockParts parts() {
        return parts(physical());
    }

    private static LockParts parts(PGSimpleDataSource source) {
        return new LockParts(source, new FenceTable(LockParts.TABLES), null);
    }

    private static PGSimpleDataSource physical() {
        return LockParts.physical(database.url(), database.user(), database.password());
    }

    private static PGSimpleDataSource isolated(String level) {
        PGSimpleDataSource source = physical();
        source.setOptions("-c default_transaction_isolation=" + level.replace(" ", "\\ "));
        return source;
    }

    private void awaitGrant() {
        LockParts other = parts();
        await().until(() -> other.tryLock(key, LONG).isPresent());
    }

    private void insert(LockParts parts, String holder) throws SQLException {
        try (Connection connection = connection(parts)) {
            EffectDatabase.insertEffect(connection, key, holder);
        }
    }

    private static Connection connection(LockParts parts) throws SQLException {
        return parts.transactions.dataSource().getConnection();
    }

    private boolean lockInTransaction(LockParts parts) throws SQLException {
        return parts.database.inCallersTransaction(connection -> parts.fences.lockInTransaction(connection, key));
    }
}
