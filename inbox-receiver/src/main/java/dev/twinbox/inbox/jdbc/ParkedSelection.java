package dev.twinbox.inbox.jdbc;

import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which parked events an operator means. All that is not null has to hold.
 *
 * @param numbers one of these
 * @param group consumer group
 * @param topic Kafka topic
 * @param key the record's key, as text
 * @param type type of the event
 * @param handler name of the handler
 * @param error part of the error text, case does not count
 * @param since parked at this time or later
 * @param age parked at most this long ago, by the database's clock
 */
public record ParkedSelection(
        @Nullable List<Long> numbers,
        @Nullable String group,
        @Nullable String topic,
        @Nullable String key,
        @Nullable String type,
        @Nullable String handler,
        @Nullable String error,
        @Nullable Instant since,
        @Nullable Duration age) {

    private record Condition(String sql, Object value) {}

    private List<Condition> conditions() {
        List<Condition> all = new ArrayList<>();
        add(all, "p.number = any (?)", numbers == null ? null : numbers.toArray(Long[]::new));
        add(all, "p.consumer_group = ?", group);
        add(all, "p.topic = ?", topic);
        add(all, "p.record_key = ?", key == null ? null : key.getBytes(StandardCharsets.UTF_8));
        add(all, "p.event_type = ?", type);
        add(all, "p.handler = ?", handler);
        add(all, "position(lower(?) in lower(p.error)) > 0", error);
        add(all, "p.parked_at >= ?", since == null ? null : Timestamp.from(since));
        add(
                all,
                "p.parked_at >= clock_timestamp() - make_interval(secs => ?)",
                age == null ? null : age.toMillis() / 1e3);
        return all;
    }

    private static void add(List<Condition> conditions, String sql, @Nullable Object value) {
        if (value != null) {
            conditions.add(new Condition(sql, value));
        }
    }

    /** The conditions on a table {@code p}. What a receiver only records before a call is not parked. */
    String sql() {
        StringBuilder sql = new StringBuilder("p.state <> 'begun'");
        conditions().forEach(condition -> sql.append(" and ").append(condition.sql()));
        return sql.toString();
    }

    /** Sets the values of {@link #sql}; returns the index of the next parameter. */
    int bind(Connection connection, PreparedStatement statement, int first) throws SQLException {
        int index = first;
        for (Condition condition : conditions()) {
            if (condition.value() instanceof Long[] several) {
                statement.setArray(index, connection.createArrayOf("bigint", several));
            } else {
                statement.setObject(index, condition.value());
            }
            index++;
        }
        return index;
    }
}
