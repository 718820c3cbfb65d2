package dev.twinbox.relay;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * A JVM of writers with a hundred threads. Each runs transactions that insert an event and wait 0 to 300 ms. Four of
 * five commit, one rolls back. Arguments: JDBC URL, user, password, topic, a prefix for the keys. Exits with 0 when all
 * is written.
 */
final class PausingWriters {
    private static final int THREADS = 100;
    private static final int TRANSACTIONS = 5;
    private static final int ROLLBACK_PERCENT = 20;
    private static final long LONGEST_PAUSE = TimeUnit.MILLISECONDS.toNanos(300);

    private PausingWriters() {}

    public static void main(String[] args) throws InterruptedException, ExecutionException {
        ExecutorService threads = Executors.newFixedThreadPool(THREADS);
        List<Future<?>> results = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            String key = args[4] + "-" + i;
            results.add(threads.submit(() -> {
                write(args[0], args[1], args[2], args[3], key);
                return null;
            }));
        }
        for (Future<?> result : results) {
            result.get();
        }
        threads.shutdown();
    }

    private static void write(String url, String user, String password, String topic, String key) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url, user, password)) {
            connection.setAutoCommit(false);
            for (int i = 0; i < TRANSACTIONS; i++) {
                insert(connection, topic, key);
                LockSupport.parkNanos(ThreadLocalRandom.current().nextLong(LONGEST_PAUSE));
                if (ThreadLocalRandom.current().nextInt(100) < ROLLBACK_PERCENT) {
                    connection.rollback();
                } else {
                    connection.commit();
                }
            }
        }
    }

    private static void insert(Connection connection, String topic, String key) throws SQLException {
        try (PreparedStatement insert = connection.prepareStatement("insert into outbox_event"
                + " (id, topic, key, type, source, occurred_at, content_type, payload)"
                + " values (?, ?, ?, 'test.happened', '/test', clock_timestamp(), 'text/plain', ''::bytea)")) {
            insert.setObject(1, UUID.randomUUID());
            insert.setString(2, topic);
            insert.setString(3, key);
            insert.executeUpdate();
        }
    }
}
