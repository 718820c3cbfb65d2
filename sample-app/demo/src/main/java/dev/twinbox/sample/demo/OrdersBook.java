package dev.twinbox.sample.demo;

import jakarta.json.bind.Jsonb;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Reads the producer's database. */
final class OrdersBook {

    private static final String SNAPSHOT = "-- demo: snapshot\nselect pg_snapshot_xmin(pg_current_snapshot())::text";

    private static final String ORDERS = "-- demo: orders\nselect id from purchase_order";

    // What was in progress at the last look has an xid at or above that look's xmin: read again, or seen for the first
    // time, never missed.
    private static final String EVENTS = """
            -- demo: events
            select id::text, convert_from(payload, 'UTF8') from outbox_event where tx >= ?::xid8""";

    private static final String POSITION = """
            -- demo: position
            select number, pg_snapshot_xmax(window_from)::text::bigint
              from outbox_position where relay = 'relay' order by number desc limit 1""";

    private final Jsonb jsonb;
    private String seenBelow = "0";

    OrdersBook(Jsonb jsonb) {
        this.jsonb = jsonb;
    }

    /** Adds what was committed since the last look. */
    void read(Connection connection, Books books) throws SQLException {
        connection.setAutoCommit(false);
        connection.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        connection.setReadOnly(true);
        String xmin = readXmin(connection);
        List<OrderEvent> events = readEvents(connection);
        books.committed(readOrders(connection), events);
        connection.commit();
        seenBelow = xmin;
    }

    /** How far the relay is; null before its first save. */
    static @Nullable Position readPosition(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(POSITION);
                ResultSet rows = statement.executeQuery()) {
            Position position = rows.next() ? new Position(rows.getLong(1), rows.getLong(2)) : null;
            connection.commit();
            return position;
        }
    }

    private static String readXmin(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SNAPSHOT);
                ResultSet rows = statement.executeQuery()) {
            rows.next();
            return rows.getString(1);
        }
    }

    private List<OrderEvent> readEvents(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(EVENTS)) {
            statement.setString(1, seenBelow);
            List<OrderEvent> events = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    events.add(OrderEvent.parse(rows.getString(1), rows.getString(2), jsonb));
                }
            }
            return events;
        }
    }

    private static Set<Long> readOrders(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ORDERS);
                ResultSet rows = statement.executeQuery()) {
            Set<Long> orders = new HashSet<>();
            while (rows.next()) {
                orders.add(rows.getLong(1));
            }
            return orders;
        }
    }

    /**
     * A position of the relay.
     *
     * @param number counts the saves
     * @param transaction all that was committed by transactions before this one has been sent, but for those then in progress
     */
    record Position(long number, long transaction) {}
}
