package dev.twinbox.proof.bench.receive;

import dev.twinbox.InboxHandler;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/** Fails for the customers that a table names, as a handler fails on unexpected data. */
@Stateless
public class FailingKeyDesk {

    private static final String IS_BLOCKED = "select 1 from blocked_customer where id = ?";
    private static final String APPLY = "insert into applied_order (order_id, customer_id) values (?, ?)";

    @Resource(lookup = "java:app/jdbc/bench")
    private DataSource dataSource;

    @InboxHandler(topic = "bench-slow-key", name = "slow-key")
    public void place(OrderPlaced order) throws SQLException {
        try (Connection connection = dataSource.getConnection()) {
            requireNotBlocked(connection, order);
            try (PreparedStatement apply = connection.prepareStatement(APPLY)) {
                apply.setLong(1, order.orderId());
                apply.setLong(2, order.customerId());
                apply.executeUpdate();
            }
        }
    }

    private static void requireNotBlocked(Connection connection, OrderPlaced order) throws SQLException {
        try (PreparedStatement look = connection.prepareStatement(IS_BLOCKED)) {
            look.setLong(1, order.customerId());
            try (ResultSet row = look.executeQuery()) {
                if (row.next()) {
                    throw new IllegalStateException("customer " + order.customerId() + " is blocked");
                }
            }
        }
    }
}
