package dev.twinbox.proof.bench;

import dev.twinbox.fixtures.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/** The tables to which all consumers write. */
final class Effects {

    private static final String COUNT_EFFECTS = """
            -- bench: count effects
            select count(*), count(distinct order_id), min(order_id), max(order_id) from effect""";

    private static final String COUNT_INBOX = """
            -- bench: count inbox
            select count(*), count(*) filter (where consumer_group = ? and handler = ?) from inbox_event""";

    private final PostgresServer postgres;
    private final String database;

    Effects(PostgresServer postgres, String database) {
        this.postgres = postgres;
        this.database = database;
    }

    /** Empties inbox and effects. A checkpoint makes sure that the next run does not pay for earlier ones. */
    void clear() throws SQLException {
        try (Connection connection = postgres.connect(database);
                Statement statement = connection.createStatement()) {
            statement.execute("truncate effect, inbox_event");
            statement.execute("checkpoint");
        }
    }

    /**
     * @throws InvalidRunException if an event of the workload does not have exactly one effect and one inbox row of
     *     this side
     */
    void requireExactly(Workload workload, ReceiveSide side) throws SQLException {
        try (Connection connection = postgres.connect(database)) {
            requireEffects(connection, workload, side);
            requireInbox(connection, workload, side);
        }
    }

    private static void requireEffects(Connection connection, Workload workload, ReceiveSide side) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(COUNT_EFFECTS)) {
            row.next();
            boolean exact = row.getLong(1) == workload.events()
                    && row.getLong(2) == workload.events()
                    && row.getLong(3) == workload.orderId(0)
                    && row.getLong(4) == workload.orderId(workload.events() - 1);
            if (!exact) {
                throw new InvalidRunException(String.format(
                        "%s: %d events had %d effects on %d orders (%d to %d)",
                        side.label(),
                        workload.events(),
                        row.getLong(1),
                        row.getLong(2),
                        row.getLong(3),
                        row.getLong(4)));
            }
        }
    }

    private static void requireInbox(Connection connection, Workload workload, ReceiveSide side) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(COUNT_INBOX)) {
            statement.setString(1, side.group());
            statement.setString(2, side.handler());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                if (row.getLong(1) != workload.events() || row.getLong(2) != workload.events()) {
                    throw new InvalidRunException(String.format(
                            "%s: %d events left %d inbox rows, %d of them its own",
                            side.label(), workload.events(), row.getLong(1), row.getLong(2)));
                }
            }
        }
    }
}
