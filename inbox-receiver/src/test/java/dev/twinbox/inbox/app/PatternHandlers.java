package dev.twinbox.inbox.app;

import dev.twinbox.AlreadyDoneException;
import dev.twinbox.DeliveryContract;
import dev.twinbox.InboxHandler;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import jakarta.enterprise.context.ApplicationScoped;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import javax.sql.DataSource;

/** The handlers of docs/how-to/patterns.md. An order's id is the business key, its times the version. */
@ApplicationScoped
public class PatternHandlers {

    @Resource(lookup = "java:app/jdbc/inbox")
    private DataSource dataSource;

    /** Makes one booking for each business key, whatever the events' ids. */
    @InboxHandler(topic = "patterns", type = "payment", name = "booking")
    public void onPayment(Order payment) throws SQLException {
        execute("insert into audit (note) values (?)", payment.id());
        if (execute("insert into booking (payment) values (?) on conflict do nothing", payment.action()) == 0) {
            throw new AlreadyDoneException("payment " + payment.action() + " is booked");
        }
    }

    /** Does the same in an EJB, whose container wraps its exceptions. */
    @Stateless
    public static class Ejb {

        @jakarta.inject.Inject
        private PatternHandlers patterns;

        @InboxHandler(topic = "patterns", type = "ejb-payment", name = "ejb-booking")
        public void onPayment(Order payment) throws SQLException {
            patterns.onPayment(payment);
        }
    }

    /** The event has the customer's whole state, so it may be applied again, and late. */
    @InboxHandler(topic = "patterns", type = "customer", name = "customer", delivery = DeliveryContract.AT_LEAST_ONCE)
    public void onCustomer(Order customer) throws SQLException {
        execute(
                "insert into customer (id, version, calls) values (?, ?, 1) on conflict (id) do update "
                        + "set version = greatest(customer.version, excluded.version), calls = customer.calls + 1",
                customer.action(),
                customer.times());
    }

    /** Only one handler at a time works on this key, in all instances and programs. */
    @InboxHandler(topic = "patterns", type = "locked", name = "locked")
    public void onLocked(Order order) throws SQLException {
        if (!tryLock(order.action())) {
            throw new IllegalStateException("somebody is at " + order.action());
        }
        execute("insert into audit (note) values (?)", order.id());
    }

    private boolean tryLock(String key) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("select pg_try_advisory_xact_lock(hashtextextended(?, 0))")) {
            statement.setString(1, key);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }

    private int execute(String sql, Object... arguments) throws SQLException {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < arguments.length; i++) {
                statement.setObject(i + 1, arguments[i]);
            }
            return statement.executeUpdate();
        }
    }

    /** Stores the event as a task. The worker has a transaction of its own. */
    @InboxHandler(topic = "patterns", type = "task", name = "task")
    public void onTask(Order order) throws SQLException {
        execute("insert into task (what) values (?)", order.id());
    }
}
