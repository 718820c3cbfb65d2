package dev.twinbox.relay.jdbc;

import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.EnumMap;
import java.util.Map;
import java.util.stream.Collectors;

/**
 * How many events a relay has parked, by state, counted up to a limit.
 *
 * @param byState holds only states with at least one event
 */
public record ParkedCount(Map<ParkedState, Integer> byState) {
    /** Counting stops here. */
    public static final int LIMIT = 10_000;

    public static final ParkedCount NONE = new ParkedCount(Map.of());

    private static final String COUNT = """
            -- relay: count parked events
            select state, count(*) from (select state from {parked} where relay = ? limit {limit}) p group by state
            """;

    public static ParkedCount of(Connection connection, OutboxSchema tables, String relay) throws SQLException {
        String sql = COUNT.replace("{parked}", tables.parked().sql()).replace("{limit}", Integer.toString(LIMIT));
        Map<ParkedState, Integer> counts = new EnumMap<>(ParkedState.class);
        try (PreparedStatement count = connection.prepareStatement(sql)) {
            count.setString(1, relay);
            try (ResultSet row = count.executeQuery()) {
                while (row.next()) {
                    counts.put(ParkedState.of(row.getString(1)), row.getInt(2));
                }
            }
        }
        return new ParkedCount(counts);
    }

    public int of(ParkedState state) {
        return byState.getOrDefault(state, 0);
    }

    /** For the operator: {@code 2 refused, 7 behind}, or {@code none}. */
    @Override
    public String toString() {
        return byState.isEmpty()
                ? "none"
                : byState.entrySet().stream()
                        .map(each -> each.getValue() + " " + each.getKey().sql())
                        .collect(Collectors.joining(", "));
    }
}
