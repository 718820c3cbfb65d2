package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.proof.landscape.Landscape;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantReadWriteLock;

/**
 * Writes events of some types to one topic, in SQL. The events of a type and key are numbered from 1 without gaps. A
 * table beside the outbox holds what is committed.
 */
final class SeriesTraffic implements AutoCloseable {

    static final String NOTICES = "notices";
    static final String RETURNS = "returns";
    static final String NOTICE_GIVEN = "notice.given";
    static final String RETURN_ASKED = "return.asked";
    static final String RETURN_REFUNDED = "return.refunded";

    private static final int WRITERS = 2;
    private static final int KEYS = 12;
    private static final int MOST_EVENTS = 6;
    private static final int LONGEST_PAUSE_MS = 1_500;
    private static final Duration DATABASE_LIMIT = Duration.ofSeconds(60);
    private static final long PAUSE_AFTER_FAILURE_NANOS = 1_000_000_000;

    private static final String NUMBER = """
            -- soak: number of a series
            insert into series as s (type, key, last) values (?, ?, 1)
            on conflict (type, key) do update set last = s.last + 1 returning last""";

    private static final String WRITTEN =
            "-- soak: written\ninsert into series_event (id, type, key, number) values (?, ?, ?, ?)";

    private static final String EVENT = """
            -- soak: event of a series
            insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)
            values (?, ?, ?, ?, '/soak', clock_timestamp(), 'application/json', ?)""";

    private final PostgresServer postgres;
    private final String topic;
    private final List<String> types;
    private final Workers writers;
    private final ReentrantReadWriteLock gate = new ReentrantReadWriteLock(true);

    SeriesTraffic(PostgresServer postgres, String topic, List<String> types, long seed) {
        this.postgres = postgres;
        this.topic = topic;
        this.types = types;
        this.writers = new Workers(topic, WRITERS, seed, this::run);
    }

    void start() {
        writers.start();
    }

    /** Held by whoever wants no transaction to be in progress. */
    Lock stopped() {
        return gate.writeLock();
    }

    private void run(Random random) {
        gate.readLock().lock();
        try (Connection connection = postgres.connect(Landscape.ORDERS_DATABASE, DATABASE_LIMIT)) {
            connection.setAutoCommit(false);
            String type = types.get(random.nextInt(types.size()));
            String key = "key-" + random.nextInt(KEYS);
            int events = 1 + random.nextInt(MOST_EVENTS);
            for (int i = 0; i < events; i++) {
                write(connection, type, key);
            }
            if (random.nextInt(10) == 0) {
                connection.rollback();
            } else {
                connection.commit();
            }
        } catch (SQLException e) {
            // Only the database knows whether it was committed.
            writers.pause(PAUSE_AFTER_FAILURE_NANOS);
        } finally {
            gate.readLock().unlock();
        }
        writers.pause(random.nextInt(LONGEST_PAUSE_MS) * 1_000_000L);
    }

    private void write(Connection connection, String type, String key) throws SQLException {
        UUID id = UUID.randomUUID();
        long number = number(connection, type, key);
        try (PreparedStatement statement = connection.prepareStatement(WRITTEN)) {
            statement.setObject(1, id);
            statement.setString(2, type);
            statement.setString(3, key);
            statement.setLong(4, number);
            statement.executeUpdate();
        }
        String payload = "{\"key\":\"" + key + "\",\"number\":" + number + "}";
        try (PreparedStatement statement = connection.prepareStatement(EVENT)) {
            statement.setObject(1, id);
            statement.setString(2, topic);
            statement.setString(3, key);
            statement.setString(4, type);
            statement.setBytes(5, payload.getBytes(StandardCharsets.UTF_8));
            statement.executeUpdate();
        }
    }

    private static long number(Connection connection, String type, String key) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(NUMBER)) {
            statement.setString(1, type);
            statement.setString(2, key);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }
    }

    /** Returns when the last transaction has ended. */
    @Override
    public void close() {
        writers.close();
    }
}
