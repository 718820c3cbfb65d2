package dev.twinbox.proof.bench.receive;

import java.sql.PreparedStatement;
import java.sql.SQLException;

/** The effect as both JDBC sides write it. */
final class EffectRow {

    static final String INSERT =
            "insert into effect (id, order_id, customer_id, total) values (nextval('effect_seq'), ?, ?, ?)";

    private EffectRow() {}

    static void bind(PreparedStatement insert, OrderPlaced order) throws SQLException {
        insert.setLong(1, order.orderId());
        insert.setLong(2, order.customerId());
        insert.setBigDecimal(3, order.total());
    }
}
