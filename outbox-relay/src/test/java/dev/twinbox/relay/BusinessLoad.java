package dev.twinbox.relay;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Threads that work like applications until they are stopped. Each locks the row of a key, changes it, writes one to
 * three events of that key, and commits or rolls back. They survive an outage of the database. The outbox holds what
 * they committed.
 */
final class BusinessLoad implements AutoCloseable {
    private static final int KEYS = 20;
    private static final int ROLLBACK_PERCENT = 20;
    private static final long PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(2);

    private final RelayRig rig;
    private final List<Thread> threads = new ArrayList<>();
    private final AtomicInteger commits = new AtomicInteger();
    private volatile boolean stopping;

    private BusinessLoad(RelayRig rig) {
        this.rig = rig;
    }

    static BusinessLoad start(RelayRig rig, int threads) throws SQLException {
        try (Connection connection = rig.connect();
                Statement statement = connection.createStatement()) {
            statement.execute("create table account (key text primary key, version bigint not null default 0)");
            statement.execute("insert into account (key) select 'key' || n from generate_series(1, " + KEYS + ") n");
        }
        BusinessLoad load = new BusinessLoad(rig);
        for (int i = 0; i < threads; i++) {
            Thread thread = new Thread(load::work, "load-" + i);
            load.threads.add(thread);
            thread.start();
        }
        return load;
    }

    private void work() {
        while (!stopping) {
            try (Connection connection = rig.connect()) {
                connection.setAutoCommit(false);
                while (!stopping) {
                    transaction(connection);
                    LockSupport.parkNanos(PAUSE_NANOS);
                }
            } catch (SQLException e) {
                LockSupport.parkNanos(50 * PAUSE_NANOS); // The database is down, which is the fault under test.
            }
        }
    }

    private void transaction(Connection connection) throws SQLException {
        ThreadLocalRandom random = ThreadLocalRandom.current();
        String key = "key" + (1 + random.nextInt(KEYS));
        String sql = "update account set version = version + 1 where key = ? returning version";
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            update.setString(1, key);
            try (ResultSet row = update.executeQuery()) {
                row.next();
            }
        }
        int events = 1 + random.nextInt(3);
        for (int i = 0; i < events; i++) {
            rig.insert(connection, key);
        }
        if (random.nextInt(100) < ROLLBACK_PERCENT) {
            connection.rollback();
        } else {
            connection.commit();
            commits.incrementAndGet();
        }
    }

    int commits() {
        return commits.get();
    }

    /** Returns when no thread writes any more. */
    @Override
    public void close() {
        stopping = true;
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
