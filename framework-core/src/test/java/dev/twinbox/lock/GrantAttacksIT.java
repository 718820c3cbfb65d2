package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import dev.twinbox.TwinboxException;
import dev.twinbox.fixtures.SharedServers;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.OptionalLong;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.postgresql.ds.PGSimpleDataSource;

/** Attacks on grants that have succeeded once: on their tokens, their commits, their leases and their rows. */
@Timeout(60)
class GrantAttacksIT {

    private static final Duration LONG = Duration.ofMinutes(10);
    private static final String LITTLE = "grant_attacks_little";
    private static final AtomicInteger KEYS = new AtomicInteger();

    private static EffectDatabase database;

    private final String key = "key " + KEYS.incrementAndGet();

    @BeforeAll
    static void create() throws SQLException {
        database = EffectDatabase.create(SharedServers.postgres(), "grant_attacks");
        database.execute("create role " + LITTLE + " login password 'twinbox';"
                + "grant select, insert, update, delete on outbox_lock to " + LITTLE
                + "; grant usage on sequence outbox_lock_token to " + LITTLE);
    }

    @BeforeEach
    void clear() {
        database.execute("delete from outbox_lock");
    }

    /** As after a restore, or on a logical replica that takes over: it has the rows and an old sequence. */
    @Test
    void fault101AnEarlierTokenDoesNotComeAgainWithAnOldSequence() {
        LockParts holder = parts();
        KeyLock early = holder.tryLock(key, LONG).orElseThrow();
        String number = database.query("select last_value from outbox_lock_token");
        database.execute("update outbox_lock set lease_until = clock_timestamp() where key = '" + key + "'");
        parts().tryLock(key, LONG).orElseThrow().close();
        database.execute("select setval('outbox_lock_token', " + number + ", false)");
        LockParts successor = parts();
        KeyLock next = successor.tryLock(key, LONG).orElseThrow();
        assertThat(database.query("select last_value from outbox_lock_token")).isEqualTo(number);

        assertThatThrownBy(() -> holder.inTransaction(() -> fence(early))).isInstanceOf(StaleLockException.class);
        assertThat(successor.<Boolean>inTransaction(() -> fence(next))).isTrue();
    }

    /**
     * The slow grant stands between its number and its row, where another session of a busy machine can take a whole lock and
     * give it back. What fences by the token's number, as other systems do, would let the earlier holder pass.
     */
    @Test
    void fault116TheTokensOfAKeyRiseInTheOrderOfItsGrants() throws Exception {
        database.execute("create table go_on (n int)");
        database.execute("""
                create function stand() returns trigger language plpgsql as $$ begin
                  while current_setting('test.stands', true) = 'on' and not exists (select from go_on) loop
                    perform pg_sleep(0.01);
                  end loop;
                  return new;
                end $$;
                create trigger stand before insert on outbox_lock for each row execute function stand()""");
        LockParts quick = parts();
        FenceTable fences = new FenceTable(LockParts.TABLES);
        try (Connection slow = database.connect()) {
            slow.setAutoCommit(false);
            slow.createStatement().execute("set application_name = 'slow grant'; set test.stands = 'on'");
            CompletableFuture<OptionalLong> late = CompletableFuture.supplyAsync(
                    () -> {
                        try {
                            OptionalLong token = fences.grant(slow, key, LONG, FenceTable.Decider.DATABASE);
                            slow.commit();
                            return token;
                        } catch (SQLException e) {
                            throw new IllegalStateException(e);
                        }
                    },
                    task -> new Thread(task).start());
            await().until(() -> database.query(
                            "select count(*) from pg_stat_activity where application_name = 'slow grant' "
                                    + "and wait_event = 'PgSleep'")
                    .equals("1"));
            Optional<KeyLock> meanwhile = quick.tryLock(key, LONG);
            meanwhile.ifPresent(KeyLock::close);
            database.execute("insert into go_on values (1)");

            long token = late.join().orElseThrow();
            assertThat(meanwhile)
                    .as("granted while another grant of the key had drawn its token")
                    .isEmpty();
            assertThat(database.query("select token from outbox_lock where key = '" + key + "'"))
                    .isEqualTo(Long.toString(token));
        } finally {
            database.execute("drop trigger stand on outbox_lock; drop function stand; drop table go_on");
        }
    }

    @Test
    void fault104AGrantWhoseAnswerWasLostIsGivenBack() {
        LockParts parts = new LockParts(new LostAnswers(1), new FenceTable(LockParts.TABLES), null);

        assertThatThrownBy(() -> parts.tryLock(key, LONG))
                .cause()
                .hasMessageContaining("the transaction was not committed, or the answer to its commit was lost");

        assertThat(parts().tryLock(key, LONG)).isPresent();
    }

    @Test
    void fault104AGrantWhoseAnswerWasLostAndThatCannotBeGivenBackIsReported() {
        LostAnswers source = new LostAnswers(1);
        LockParts parts = new LockParts(source, new FenceTable(LockParts.TABLES), null, release -> {
            source.isExhausted = true;
            release.run();
        });
        try (LogLines log = new LogLines(LockGrants.class)) {
            assertThatThrownBy(() -> parts.tryLock(key, LONG)).isInstanceOf(IllegalStateException.class);

            assertThat(log.lines())
                    .singleElement()
                    .asString()
                    .startsWith("WARNING It is not known whether the lock of \"" + key + "\" was granted");
        }
    }

    /** First in the queue for the row, then for the session that has it. */
    @Test
    void fault109AFenceWaitsOnceAlthoughPostgreSQLWaitsTwice() throws Exception {
        Duration limit = Duration.ofSeconds(4);
        LockParts parts = new LockParts(physical(), new FenceTable(LockParts.TABLES, limit), null);
        KeyLock lock = parts.tryLock(key, LONG).orElseThrow();
        String row = "select from outbox_lock where key = '" + key + "' for update";
        try (Connection holder = database.connect();
                Connection queued = database.connect()) {
            holder.setAutoCommit(false);
            queued.setAutoCommit(false);
            holder.createStatement().execute(row);
            queued.createStatement().execute("set local lock_timeout = '3600ms'");
            CompletableFuture<Throwable> first = CompletableFuture.supplyAsync(
                    () -> catchThrowable(() -> queued.createStatement().execute(row)));
            await().until(() -> database.query(
                            "select count(*) from pg_locks where locktype = 'tuple' and granted and database ="
                                    + " (select oid from pg_database where datname = current_database())")
                    .equals("1"));

            long begun = System.nanoTime();
            assertThatThrownBy(() -> parts.inTransaction(() -> fence(lock)))
                    .isInstanceOf(TwinboxException.class)
                    .hasMessageContaining("pg_locks");
            Duration waited = Duration.ofNanos(System.nanoTime() - begun);

            assertThat(first.join()).hasMessageContaining("lock timeout");
            assertThat(waited).isBetween(Duration.ofMillis(3_900), Duration.ofMillis(6_500));
        }
    }

    @Test
    void fault109TheCallersLimitOfStatementsStays() {
        LockParts parts = new LockParts(physical(), new FenceTable(LockParts.TABLES, Duration.ofSeconds(4)), null);
        KeyLock lock = parts.tryLock(key, LONG).orElseThrow();
        CompletableFuture<String> limits;
        try (Connection holder = database.connect()) {
            holder.setAutoCommit(false);
            holder.createStatement().execute("select from outbox_lock where key = '" + key + "' for update");
            limits = CompletableFuture.supplyAsync(() -> parts.inTransaction(() -> {
                try (Connection of = parts.transactions.dataSource().getConnection()) {
                    EffectDatabase.query(of, "select set_config('statement_timeout', '50s', true)");
                    lock.fence();
                    return EffectDatabase.query(of, "show statement_timeout");
                }
            }));
            await().until(() -> database.query(
                            "select count(*) from pg_stat_activity where datname = current_database()"
                                    + " and query like '%locks: fence, waiting%' and wait_event_type = 'Lock'")
                    .equals("1"));
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }

        assertThat(limits.join()).isEqualTo("50s");
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
            alter sequence outbox_lock_token maxvalue 1000000 restart 1000000 | alter sequence outbox_lock_token no maxvalue | a higher maximum
            alter table outbox_lock add column more int not null | alter table outbox_lock drop column more | give the columns that were added
            alter table outbox_lock drop constraint outbox_lock_pkey | alter table outbox_lock add primary key (key) | restore the primary key
            alter table outbox_lock enable row level security | alter table outbox_lock disable row level security | disable row-level security
            """)
    void fault111ARemedyThatHelpsIsNamed(String damage, String repair, String remedy) {
        LockParts parts = new LockParts(
                LockParts.physical(database.url(), LITTLE, "twinbox"), new FenceTable(LockParts.TABLES), null);
        database.execute(damage);
        Throwable failure;
        try {
            parts.tryLock(key + " before", LONG);
            failure = catchThrowable(() -> parts.tryLock(key, LONG));
        } catch (IllegalStateException e) {
            failure = e;
        } finally {
            database.execute(repair);
        }

        assertThat(failure).cause().isInstanceOf(SQLException.class);
        assertThat(LockFailures.remedy((SQLException) failure.getCause())).contains(remedy);
    }

    /** Nobody was granted the key. */
    @Test
    void fault111ARowThatAPolicyHidesIsNotLostToAnother() {
        LockParts parts = new LockParts(
                LockParts.physical(database.url(), LITTLE, "twinbox"), new FenceTable(LockParts.TABLES), null);
        KeyLock lock = parts.tryLock(key, LONG).orElseThrow();
        database.execute("alter table outbox_lock enable row level security");
        try {
            assertThatThrownBy(() -> parts.inTransaction(() -> fence(lock)))
                    .isInstanceOf(TwinboxException.class)
                    .isNotInstanceOf(StaleLockException.class)
                    .hasMessageContaining("row-level security of the table can hide the row");
        } finally {
            database.execute("alter table outbox_lock disable row level security");
        }
        assertThat(lock.isHeld()).isTrue();
        assertThat(parts.<Boolean>inTransaction(() -> fence(lock))).isTrue();
    }

    @Test
    void fault112AllOldRowsAreRemovedAlsoIfARemovalHasFailedBefore() {
        database.execute("insert into outbox_lock select 'old ' || i, i, clock_timestamp() - interval '2 days'"
                + " from generate_series(1, 2500) i");
        database.execute(
                "select setval('outbox_lock_token', (select last_value / 1000 * 1000 + 999 from outbox_lock_token))");
        parts().tryLock(key, LONG).orElseThrow();

        assertThat(database.query("select count(*) from outbox_lock where key like 'old %'"))
                .isEqualTo("0");
    }

    @Test
    void fault113AClockThatWasTwoHoursAheadDoesNotLockTheKeyForTwoHours() {
        parts().tryLock(key, Duration.ofMillis(10)).orElseThrow();
        parts().tryLock(key + " long", Duration.ofHours(10)).orElseThrow();
        database.execute("update outbox_lock set lease_until = lease_until + interval '2 hours'");

        assertThat(parts().tryLock(key, LONG)).isPresent();
        assertThat(parts().tryLock(key + " long", LONG))
                .as("what may be a lease is one")
                .isEmpty();
    }

    /** Of a version that did not write how long leases are. */
    @Test
    void fault113ALeaseOfUnknownLengthMayBeLong() {
        database.execute("insert into outbox_lock values ('" + key
                + "', 7, date_trunc('milliseconds', clock_timestamp()) + interval '20 hours')");

        assertThat(parts().tryLock(key, LONG)).isEmpty();
    }

    private static boolean fence(KeyLock lock) {
        lock.fence();
        return true;
    }

    private static LockParts parts() {
        return new LockParts(physical(), new FenceTable(LockParts.TABLES), null);
    }

    private static PGSimpleDataSource physical() {
        return LockParts.physical(database.url(), database.user(), database.password());
    }

    /** The first commits happen, and their answers are lost. */
    private static final class LostAnswers extends PGSimpleDataSource {

        private static final long serialVersionUID = 1;

        private final AtomicInteger lost;
        private volatile boolean isExhausted;

        LostAnswers(int number) {
            lost = new AtomicInteger(number);
            setUrl(database.url());
            setUser(database.user());
            setPassword(database.password());
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (isExhausted) {
                throw new SQLException("no connection became free in time");
            }
            Connection real = super.getConnection();
            return (Connection) Proxy.newProxyInstance(
                    Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (p, m, a) -> {
                        try {
                            Object result = m.invoke(real, a);
                            if (m.getName().equals("commit") && lost.getAndDecrement() > 0) {
                                throw new SQLException("An I/O error occurred", "08006");
                            }
                            return result;
                        } catch (InvocationTargetException e) {
                            throw e.getCause();
                        }
                    });
        }
    }
}
