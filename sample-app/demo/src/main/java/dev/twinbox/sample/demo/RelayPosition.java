package dev.twinbox.sample.demo;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * A saved position of the relay.
 *
 * @param number counts the saves
 * @param transaction all events of transactions before this one are sent, except of those that were in progress then
 */
record RelayPosition(long number, long transaction) {

    private static final String LATEST = """
            -- demo: position
            select number, pg_snapshot_xmax(window_from)::text::bigint as transaction
              from outbox_position where relay = 'relay' order by number desc limit 1""";

    /** Null before the relay's first save. */
    static @Nullable RelayPosition read(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LATEST);
                ResultSet rows = statement.executeQuery()) {
            return rows.next() ? new RelayPosition(rows.getLong("number"), rows.getLong("transaction")) : null;
        }
    }
}
