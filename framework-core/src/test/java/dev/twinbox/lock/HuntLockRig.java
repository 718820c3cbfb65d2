package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.KeyLock;
import dev.twinbox.StaleLockException;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** What the attacks have in common. */
final class HuntLockRig {

    static final Duration LONG = Duration.ofMinutes(10);
    private static final AtomicInteger KEYS = new AtomicInteger();

    private HuntLockRig() {}

    static String key(String prefix) {
        return prefix + "-" + KEYS.incrementAndGet();
    }

    static LockParts parts(String url, String user, String password) {
        return new LockParts(url, user, password, null);
    }

    static void write(LockParts parts, KeyLock lock, String key, String holder) {
        parts.inTransaction(() -> {
            lock.fence();
            try (Connection connection = parts.database.dataSource().getConnection()) {
                EffectDatabase.insertEffect(connection, key, holder);
            }
            return true;
        });
    }

    static String ask(LockParts parts, String sql) throws SQLException {
        try (Connection connection = parts.database.dataSource().getConnection()) {
            return EffectDatabase.query(connection, sql);
        }
    }

    static void end(EffectDatabase database, String key) {
        database.execute("update outbox_lock set lease_until = clock_timestamp() - interval '1 second' where key = '"
                + key + "'");
    }

    /** All that the documents promise in a quiet world. */
    static void contract(LockParts parts, EffectDatabase database) throws Exception {
        String key = key("contract");
        KeyLock first = parts.tryLock(key, Duration.ofMinutes(1)).orElseThrow();
        assertThat(parts.tryLock(key, LONG)).isEmpty();
        write(parts, first, key, "first");
        assertThat(first.extend(Duration.ofMinutes(2))).isTrue();
        assertThat(parts.tryLock(key, LONG)).isEmpty();
        parts.inTransaction(() -> {
            String before = ask(parts, "select current_setting('lock_timeout') || ' ' || current_setting('statement_timeout')");
            first.fence();
            assertThat(ask(parts, "select current_setting('lock_timeout') || ' ' || current_setting('statement_timeout')"))
                    .isEqualTo(before);
            return true;
        });
        end(database, key);
        KeyLock second = parts.tryLock(key, LONG).orElseThrow();
        assertThat(second.token()).isGreaterThan(first.token());
        assertThatThrownBy(() -> write(parts, first, key, "stale")).isInstanceOf(StaleLockException.class);
        assertThat(first.extend(LONG)).isFalse();
        first.close();
        assertThat(parts.tryLock(key, LONG)).isEmpty();
        write(parts, second, key, "second");
        parts.inTransaction(() -> {
            second.fence();
            second.close();
            return true;
        });
        KeyLock third = parts.tryLock(key, LONG).orElseThrow();
        third.close();
        assertThat(database.holders(key)).containsExactly("first", "second");
        parts.inTransaction(() -> {
            assertThat(parts.database.<Boolean>inCallersTransaction(c -> parts.fences.lockInTransaction(c, key)))
                    .isTrue();
            assertThat(parts.<Boolean>inTransaction(() -> parts.database.<Boolean>inCallersTransaction(
                            c -> parts.fences.lockInTransaction(c, key))))
                    .isFalse();
            return true;
        });
    }

    /** Counters that lose a count if two work at once. */
    static final class Crowd implements AutoCloseable {
        final AtomicInteger committed = new AtomicInteger();
        final AtomicInteger unknown = new AtomicInteger();
        final AtomicInteger stale = new AtomicInteger();
        final AtomicInteger empty = new AtomicInteger();
        final AtomicInteger failed = new AtomicInteger();
        final List<String> odd = java.util.Collections.synchronizedList(new ArrayList<>());
        private final AtomicBoolean over = new AtomicBoolean();
        private final ExecutorService threads = Executors.newCachedThreadPool();
        private final List<Future<?>> running = new ArrayList<>();
        private final String name;
        private final int keys;

        Crowd(EffectDatabase database, String name, int keys) {
            this.name = name;
            this.keys = keys;
            database.execute("create table if not exists hunted (key text primary key, n bigint not null)");
            for (int i = 0; i < keys; i++) {
                database.execute("insert into hunted values ('" + name + i + "', 0)");
            }
        }

        void run(int workers, Supplier<LockParts> parts) {
            for (int i = 0; i < workers; i++) {
                LockParts mine = parts.get();
                running.add(threads.submit(() -> {
                    while (!over.get()) {
                        once(mine);
                    }
                }));
            }
        }

        private void once(LockParts parts) {
            String key = name + ThreadLocalRandom.current().nextInt(keys);
            Optional<KeyLock> granted;
            try {
                granted = parts.tryLock(key, Duration.ofMillis(ThreadLocalRandom.current().nextInt(5, 60)));
            } catch (IllegalStateException e) {
                failed.incrementAndGet();
                pause(20);
                return;
            }
            if (granted.isEmpty()) {
                empty.incrementAndGet();
                pause(2);
                return;
            }
            boolean[] atCommit = {false};
            try (KeyLock lock = granted.get()) {
                pause(ThreadLocalRandom.current().nextInt(40));
                parts.inTransaction(() -> {
                    lock.fence();
                    long n = Long.parseLong(ask(parts, "select n from hunted where key = '" + key + "'"));
                    pause(ThreadLocalRandom.current().nextInt(30));
                    try (Connection c = parts.database.dataSource().getConnection();
                            Statement s = c.createStatement()) {
                        s.executeUpdate("update hunted set n = " + (n + 1) + " where key = '" + key + "'");
                    }
                    atCommit[0] = true;
                    return true;
                });
                committed.incrementAndGet();
            } catch (StaleLockException e) {
                stale.incrementAndGet();
            } catch (RuntimeException e) {
                (atCommit[0] ? unknown : failed).incrementAndGet();
                if (!(e.getCause() instanceof SQLException)) {
                    odd.add(e.toString());
                }
            } catch (Throwable e) {
                odd.add(e.toString());
                throw e;
            }
        }

        private static void pause(int millis) {
            LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(millis));
        }

        void stop() throws Exception {
            over.set(true);
            for (Future<?> each : running) {
                each.get(90, TimeUnit.SECONDS);
            }
        }

        void verify(EffectDatabase database) {
            verify(Long.parseLong(database.query("select sum(n) from hunted where key like '" + name + "%'")));
        }

        void verify(long sum) {
            System.out.println("CROWD " + name + ": sum " + sum + " committed " + committed + " unknown " + unknown
                    + " stale " + stale + " empty " + empty + " failed " + failed + " odd " + odd);
            assertThat(committed.get()).isGreaterThan(5);
            assertThat(sum).isBetween((long) committed.get(), (long) committed.get() + unknown.get());
        }

        @Override
        public void close() {
            over.set(true);
            threads.shutdownNow();
        }
    }
}
