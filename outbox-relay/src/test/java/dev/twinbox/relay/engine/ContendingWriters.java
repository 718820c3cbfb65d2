package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.OutboxDatabaseFixture;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;

/**
 * Many writers whose transactions end in another order than they began. They draw xids early, wait for locks, run long,
 * use savepoints, roll back or prepare. Each key is a business row with a version. A writer that changes it holds its
 * row lock, and its event carries the version.
 */
final class ContendingWriters {
    private static final int WRITERS = 14;
    private static final int KEYS = 100;
    private static final int TRANSACTIONS = 120;

    private final CountDownLatch writing = new CountDownLatch(WRITERS);
    /** Payload of each committed event; {@code key:version:part}. */
    private final Set<String> committed = ConcurrentHashMap.newKeySet();

    private final OutboxDatabaseFixture database;
    private final List<Future<?>> writers = new ArrayList<>();

    /** Creates the business rows. */
    ContendingWriters(OutboxDatabaseFixture database) throws SQLException {
        this.database = database;
        try (Connection connection = database.connect()) {
            OutboxDatabaseFixture.execute(
                    connection,
                    "create table account (id int primary key, version bigint not null);"
                            + "create table noise (id bigserial primary key);"
                            + "insert into account select i, 0 from generate_series(0, " + (KEYS - 1) + ") i");
        }
    }

    void start(ExecutorService threads, long seed) {
        for (int i = 0; i < WRITERS; i++) {
            Random random = new Random(seed + i);
            writers.add(threads.submit(() -> write(random)));
        }
    }

    void awaitEnd() throws Exception {
        for (Future<?> writer : writers) {
            writer.get(120, TimeUnit.SECONDS);
        }
    }

    boolean areWriting() {
        return writing.getCount() > 0;
    }

    int committed() {
        return committed.size();
    }

    /** Checks that each committed event appears once, and those of a key in order of their versions. */
    void assertExact(List<String> seen) {
        Set<String> once = new HashSet<>(seen);
        assertThat(seen.size() - once.size()).as("repeated events").isZero();
        Set<String> lost = new HashSet<>(committed);
        lost.removeAll(once);
        assertThat(lost).as("lost events").isEmpty();
        once.removeAll(committed);
        assertThat(once).as("events nobody committed").isEmpty();
        assertThat(seen).as("the run was worth it").hasSizeGreaterThan(1_000);
        Map<String, String> last = new HashMap<>();
        List<String> disorder = new ArrayList<>();
        for (String event : seen) {
            String[] parts = event.split(":");
            String order = "%012d:%04d".formatted(Long.parseLong(parts[1]), Integer.parseInt(parts[2]));
            String before = last.put(parts[0], order);
            if (before != null && before.compareTo(order) >= 0) {
                disorder.add(event + " after " + before);
            }
        }
        assertThat(disorder).as("events of a key out of order").isEmpty();
    }

    private Void write(Random random) throws SQLException {
        try (Connection connection = database.connect()) {
            connection.setAutoCommit(false);
            for (int i = 0; i < TRANSACTIONS; i++) {
                transaction(connection, random);
            }
        } finally {
            writing.countDown();
        }
        return null;
    }

    private void transaction(Connection connection, Random random) throws SQLException {
        if (random.nextInt(3) == 0) { // draws an xid long before any event
            OutboxDatabaseFixture.execute(connection, "insert into noise default values");
            pause(random, 10);
        }
        List<String> events = new ArrayList<>();
        int first = random.nextInt(KEYS);
        int keys = 1 + random.nextInt(3);
        Map<Integer, Long> versions = new LinkedHashMap<>();
        for (int key = first; key < Math.min(KEYS, first + keys); key++) { // in order of ids, so there are no deadlocks
            versions.put(key, change(connection, key));
        }
        if (random.nextInt(8) == 0) {
            pause(random, random.nextInt(40) == 0 ? 1_000 : 15); // a long transaction that holds its locks
        }
        for (Map.Entry<Integer, Long> version : versions.entrySet()) {
            int parts = 1 + random.nextInt(4);
            for (int part = 0; part < parts; part++) {
                publish(connection, random, events, version.getKey() + ":" + version.getValue() + ":" + part);
            }
        }
        end(connection, random, events);
    }

    private static long change(Connection connection, int key) throws SQLException {
        return Long.parseLong(OutboxDatabaseFixture.query(
                connection, "update account set version = version + 1 where id = " + key + " returning version"));
    }

    /** Sometimes within a savepoint, which is sometimes rolled back. */
    private static void publish(Connection connection, Random random, List<String> events, String event)
            throws SQLException {
        boolean within = random.nextInt(4) == 0;
        if (within) {
            OutboxDatabaseFixture.execute(connection, "savepoint s");
        }
        String padding = " ".repeat(random.nextInt(50) == 0 ? 5_000 : random.nextInt(300));
        OutboxDatabaseFixture.insert(connection, event.substring(0, event.indexOf(':')), event + padding);
        if (within && random.nextInt(3) == 0) {
            OutboxDatabaseFixture.execute(connection, "rollback to savepoint s");
        } else {
            events.add(event);
        }
    }

    private void end(Connection connection, Random random, List<String> events) throws SQLException {
        int end = random.nextInt(100);
        if (end < 20) {
            connection.rollback();
        } else if (end < 22) {
            String name = "doubt-" + Long.toHexString(random.nextLong());
            OutboxDatabaseFixture.execute(connection, "prepare transaction '" + name + "'");
            pause(random, 200); // in doubt: no session holds it, but its rows stay locked
            connection.setAutoCommit(true);
            OutboxDatabaseFixture.execute(connection, (end == 20 ? "rollback" : "commit") + " prepared '" + name + "'");
            connection.setAutoCommit(false);
            if (end == 21) {
                committed.addAll(events);
            }
        } else {
            connection.commit();
            committed.addAll(events);
        }
    }

    private static void pause(Random random, int maxMillis) {
        LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(random.nextInt(maxMillis)));
    }
}
