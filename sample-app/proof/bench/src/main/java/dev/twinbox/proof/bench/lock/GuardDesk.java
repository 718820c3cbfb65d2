package dev.twinbox.proof.bench.lock;

import dev.twinbox.HandlerTransaction;
import dev.twinbox.InboxHandler;
import dev.twinbox.proof.bench.receive.OrderPlaced;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.locks.LockSupport;
import javax.sql.DataSource;

/** One handler with a guard and one without. Both take a while, as one that calls a slow system. */
@Stateless
public class GuardDesk {

    private static final String APPLY = "insert into applied_order (order_id, customer_id) values (?, ?)";

    private static volatile Duration length = Duration.ZERO;

    @Resource(lookup = "java:app/jdbc/bench")
    private DataSource dataSource;

    static void take(Duration fromNowOn) {
        length = fromNowOn;
    }

    @InboxHandler(topic = "bench-unguarded", name = "unguarded", transaction = HandlerTransaction.PER_EVENT)
    public void unguarded(OrderPlaced order) throws SQLException {
        apply(order);
    }

    @InboxHandler(topic = "bench-guarded", name = "guarded", guard = true)
    public void guarded(OrderPlaced order) throws SQLException {
        apply(order);
    }

    private void apply(OrderPlaced order) throws SQLException {
        long end = System.nanoTime() + length.toNanos();
        for (long left = length.toNanos(); left > 0; left = end - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
        try (Connection connection = dataSource.getConnection();
                PreparedStatement apply = connection.prepareStatement(APPLY)) {
            apply.setLong(1, order.orderId());
            apply.setLong(2, order.customerId());
            apply.executeUpdate();
        }
    }
}
