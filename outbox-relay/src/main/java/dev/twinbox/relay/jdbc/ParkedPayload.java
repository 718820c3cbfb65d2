package dev.twinbox.relay.jdbc;

import dev.twinbox.console.operator.Payload;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** The payload of a parked event as it is in the table. */
public final class ParkedPayload {
    private static final String SELECT = """
            -- parked: payload
            select octet_length(p.payload) as bytes, substring(p.payload for ?) as beginning
            from {parked} p where p.relay = ? and p.number = ?
            """;

    private ParkedPayload() {}

    /**
     * Null if there is no such event, or no longer.
     *
     * @param most bytes that are read
     */
    public static @Nullable Payload of(long number, int most, Connection connection, OutboxSchema schema, String relay)
            throws SQLException {
        try (PreparedStatement select = connection.prepareStatement(ParkedTable.sql(SELECT, schema))) {
            select.setInt(1, most);
            select.setString(2, relay);
            select.setLong(3, number);
            try (ResultSet row = select.executeQuery()) {
                return row.next() ? new Payload(row.getInt("bytes"), row.getBytes("beginning")) : null;
            }
        }
    }
}
