package dev.twinbox.proof.soak;

import dev.twinbox.fixtures.PostgresServer;
import dev.twinbox.proof.landscape.Landscape;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Random;
import java.util.UUID;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Transactions that no request makes. They last up to half a minute and get their transaction id long before their
 * locks. They write in two parts, and end with a commit, a rollback or a lost connection.
 *
 * <p>In SQL they do what the orders service does: lock the customer, insert the order, insert the event.
 */
final class LongTransactions implements AutoCloseable {

    private static final int WRITERS = 3;
    private static final int MOST_ORDERS = 15;
    private static final int LONGEST_WAIT_MS = 12_000;
    private static final Duration DATABASE_LIMIT = Duration.ofSeconds(60);
    private static final long PAUSE_AFTER_FAILURE_NANOS = 1_000_000_000;

    private static final String TAKE_XID = "-- soak: take a transaction id\nselect pg_current_xact_id()";

    private static final String LOCK = """
            -- soak: lock the customer
            update customer set order_count = order_count + 1 where id = ? returning order_count""";

    // Negative ids: the orders service takes positive ones, in blocks.
    private static final String ORDER = """
            -- soak: order
            insert into purchase_order (id, customer_id, number, product, quantity)
            values (- nextval('soak_order'), ?, ?, 'anvil', 1) returning id""";

    private static final String EVENT = """
            -- soak: event
            insert into outbox_event (id, topic, key, type, source, occurred_at, content_type, payload)
            values (?, 'orders', ?, 'order.placed', '/sample/orders', clock_timestamp(), 'application/json', ?)""";

    private final PostgresServer postgres;
    private final Workers writers;
    private final AtomicLong committed = new AtomicLong();
    private final AtomicLong rolledBack = new AtomicLong();
    private final AtomicLong abandoned = new AtomicLong();
    private final AtomicLong failed = new AtomicLong();

    LongTransactions(PostgresServer postgres, long seed) {
        this.postgres = postgres;
        this.writers = new Workers("long-transaction", WRITERS, seed, this::run);
    }

    void start() {
        writers.start();
    }

    private void run(Random random) {
        try (Connection connection = postgres.connect(Landscape.ORDERS_DATABASE, DATABASE_LIMIT)) {
            connection.setAutoCommit(false);
            write(connection, random);
            end(connection, random);
        } catch (SQLException e) {
            // The server was killed before or after the commit. Only the database knows which.
            failed.incrementAndGet();
            writers.pause(PAUSE_AFTER_FAILURE_NANOS);
        }
    }

    private void write(Connection connection, Random random) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(TAKE_XID)) {
            statement.execute();
        }
        pause(random);
        long customers = SoakLandscape.CUSTOMERS - SoakLandscape.FIRST_CUSTOMER_OF_LONG_TRANSACTIONS + 1;
        long customer = SoakLandscape.FIRST_CUSTOMER_OF_LONG_TRANSACTIONS + random.nextInt((int) customers);
        int orders = 1 + random.nextInt(MOST_ORDERS);
        int orderBeforePause = random.nextInt(orders);
        for (int order = 0; order < orders; order++) {
            place(connection, customer);
            if (order == orderBeforePause) {
                pause(random);
            }
        }
    }

    private void pause(Random random) {
        writers.pause(random.nextInt(LONGEST_WAIT_MS) * 1_000_000L);
    }

    private static void place(Connection connection, long customer) throws SQLException {
        long number = number(connection, LOCK, customer);
        long orderId = number(connection, ORDER, customer, number);
        String payload = "{\"orderId\":" + orderId + ",\"customerId\":" + customer + ",\"number\":" + number
                + ",\"product\":\"anvil\",\"quantity\":1}";
        try (PreparedStatement statement = connection.prepareStatement(EVENT)) {
            statement.setObject(1, UUID.randomUUID());
            statement.setString(2, Long.toString(customer));
            statement.setBytes(3, payload.getBytes(StandardCharsets.UTF_8));
            statement.executeUpdate();
        }
    }

    private static long number(Connection connection, String sql, long... parameters) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setLong(i + 1, parameters[i]);
            }
            try (ResultSet rows = statement.executeQuery()) {
                rows.next();
                return rows.getLong(1);
            }
        }
    }

    private void end(Connection connection, Random random) throws SQLException {
        switch (random.nextInt(5)) {
            case 0 -> {
                connection.rollback();
                rolledBack.incrementAndGet();
            }
            case 1 -> {
                connection.abort(Runnable::run);
                abandoned.incrementAndGet();
            }
            default -> {
                connection.commit();
                committed.incrementAndGet();
            }
        }
    }

    long committed() {
        return committed.get();
    }

    /** How many were rolled back, or ended with their connection. */
    long rolledBack() {
        return rolledBack.get() + abandoned.get();
    }

    /** How many ended with an error, mostly because the server was killed. */
    long failed() {
        return failed.get();
    }

    /** Returns when the last transaction has ended. */
    @Override
    public void close() {
        writers.close();
    }
}
