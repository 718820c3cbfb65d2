package dev.twinbox.inbox.jdbc;

import dev.twinbox.DeliveryContract;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.Collection;
import java.util.function.Function;

/**
 * A handler that an instance of the application has.
 *
 * @param topic Kafka topic
 * @param type a name of the type that it takes, current or former
 * @param handler its name
 * @param delivery its delivery contract
 */
public record AnnouncedHandler(String topic, String type, String handler, DeliveryContract delivery) {

    /** Sets three parameters: topics, types and handlers, in one order. */
    static int bind(
            Connection connection, PreparedStatement statement, int before, Collection<AnnouncedHandler> handlers)
            throws SQLException {
        statement.setArray(before + 1, column(connection, handlers, AnnouncedHandler::topic));
        statement.setArray(before + 2, column(connection, handlers, AnnouncedHandler::type));
        statement.setArray(before + 3, column(connection, handlers, AnnouncedHandler::handler));
        return before + 3;
    }

    static Array column(
            Connection connection, Collection<AnnouncedHandler> handlers, Function<AnnouncedHandler, String> part)
            throws SQLException {
        return connection.createArrayOf("text", handlers.stream().map(part).toArray());
    }
}
