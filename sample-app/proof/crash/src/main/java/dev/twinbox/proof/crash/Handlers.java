package dev.twinbox.proof.crash;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventContext;
import dev.twinbox.InboxHandler;
import jakarta.annotation.Resource;
import jakarta.ejb.Stateless;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import javax.sql.DataSource;

/** One handler for each delivery contract, each with its own topic: one crash shows all three. */
@Stateless
public class Handlers {

    /** The handler refuses the events of the topics in this table. */
    private static final String REFUSED = "select 1 from refused where topic = ?";

    private static final String APPLY = "insert into effect (topic, event_id) values (?, ?)";

    @Resource(lookup = "java:app/jdbc/crash")
    private DataSource database;

    /** Exactly once, by the inbox. */
    @InboxHandler(topic = "crash-once", type = "crash.happened", name = "once")
    public void once(String payload, EventContext event) throws SQLException {
        apply(event);
    }

    /** At least once. */
    @InboxHandler(
            topic = "crash-at-least-once",
            type = "crash.happened",
            name = "atLeastOnce",
            delivery = DeliveryContract.AT_LEAST_ONCE)
    public void atLeastOnce(String payload, EventContext event) throws SQLException {
        apply(event);
    }

    /** At most once. */
    @InboxHandler(
            topic = "crash-at-most-once",
            type = "crash.happened",
            name = "atMostOnce",
            delivery = DeliveryContract.AT_MOST_ONCE)
    public void atMostOnce(String payload, EventContext event) throws SQLException {
        apply(event);
    }

    private void apply(EventContext event) throws SQLException {
        try (Connection connection = database.getConnection()) {
            refuse(connection, event.topic());
            insert(connection, event);
        }
    }

    private static void refuse(Connection connection, String topic) throws SQLException {
        try (PreparedStatement refused = connection.prepareStatement(REFUSED)) {
            refused.setString(1, topic);
            if (refused.executeQuery().next()) {
                throw new IllegalStateException("Events of " + topic + " are refused for now");
            }
        }
    }

    private static void insert(Connection connection, EventContext event) throws SQLException {
        try (PreparedStatement apply = connection.prepareStatement(APPLY)) {
            apply.setString(1, event.topic());
            apply.setString(2, event.id());
            apply.executeUpdate();
        }
    }
}
