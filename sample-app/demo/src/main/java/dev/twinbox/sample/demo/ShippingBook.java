package dev.twinbox.sample.demo;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/** Reads the receiver's database. */
final class ShippingBook {

    // Ids come from one sequence in one server: their order is the order of handling, as far as one customer is
    // concerned.
    private static final String SHIPMENTS = """
            -- demo: shipments
            select event_id, order_id, customer_id, order_number from shipment order by id""";

    private ShippingBook() {}

    /** All shipments, in the order in which they were handled. */
    static List<OrderEvent> read(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SHIPMENTS);
                ResultSet rows = statement.executeQuery()) {
            List<OrderEvent> shipments = new ArrayList<>();
            while (rows.next()) {
                shipments.add(new OrderEvent(rows.getString(1), rows.getLong(2), rows.getLong(3), rows.getLong(4)));
            }
            return shipments;
        }
    }
}
