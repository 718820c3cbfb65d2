package dev.twinbox.relay.jdbc;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Which parked events an operator means. All that is not null has to hold.
 *
 * @param numbers one of these
 * @param topic Kafka topic
 * @param key the event's key
 * @param type type of the event
 * @param error part of the error text, case does not count
 * @param since parked at this time or later
 * @param age parked at most this long ago, by the database's clock
 * @param cause why it is parked; those after it in its key are not meant
 */
public record ParkedSelection(
        @Nullable List<Long> numbers,
        @Nullable String topic,
        @Nullable String key,
        @Nullable String type,
        @Nullable String error,
        @Nullable Instant since,
        @Nullable Duration age,
        ParkedCauses.@Nullable Cause cause) {

    /** All parked events. */
    public static final ParkedSelection ALL = new ParkedSelection(null, null, null, null, null, null, null);

    /** For any cause. */
    public ParkedSelection(
            @Nullable List<Long> numbers,
            @Nullable String topic,
            @Nullable String key,
            @Nullable String type,
            @Nullable String error,
            @Nullable Instant since,
            @Nullable Duration age) {
        this(numbers, topic, key, type, error, since, age, null);
    }

    /** @param values of the parameters, in order */
    private record Condition(String sql, List<Object> values) {}

    /** Only conditions that are given, so that each selection has a plan of its own. */
    private List<Condition> conditions() {
        List<Condition> all = new ArrayList<>();
        add(all, "p.number = any (?)", numbers == null ? null : numbers.toArray(Long[]::new));
        add(all, "p.topic = ?", topic);
        add(all, "p.key = ?", key);
        if (topic != null && key != null) { // finds the rows by an index
            String hash = ParkedTable.keyHash("p.topic", "p.key") + " = " + ParkedTable.keyHash("?", "?");
            all.add(new Condition(hash, List.of(topic, key)));
        }
        add(all, "p.type = ?", type);
        add(all, "position(lower(?) in lower(p.error)) > 0", error);
        add(all, "p.since >= ?", since == null ? null : since.atOffset(ZoneOffset.UTC));
        add(all, "p.since >= clock_timestamp() - make_interval(secs => ?)", age == null ? null : age.toMillis() / 1e3);
        add(all, ParkedCauses.CAUSE + " = ?", cause == null ? null : cause.text());
        return all;
    }

    private static void add(List<Condition> conditions, String sql, @Nullable Object value) {
        if (value != null) {
            conditions.add(new Condition(sql, List.of(value)));
        }
    }

    /** The conditions on a table {@code p}, each with {@code and} before it. */
    String sql() {
        StringBuilder sql = new StringBuilder();
        conditions().forEach(condition -> sql.append(" and ").append(condition.sql()));
        return sql.toString();
    }

    /** Sets the values of {@link #sql}; returns the index of the next parameter. */
    int bind(Connection connection, PreparedStatement statement, int first) throws SQLException {
        int index = first;
        for (Condition condition : conditions()) {
            for (Object value : condition.values()) {
                if (value instanceof Long[] several) {
                    statement.setArray(index, connection.createArrayOf("int8", several));
                } else {
                    statement.setObject(index, value);
                }
                index++;
            }
        }
        return index;
    }
}
