package dev.twinbox.inbox.jdbc;

import static java.util.Map.entry;

import dev.twinbox.ParkedEvent;
import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import java.nio.charset.StandardCharsets;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.jspecify.annotations.Nullable;

/** Writes parked events to the columns of the table and reads them. */
final class ParkedColumns {

    static final String NAMES = """
            number, consumer_group, handler, event_id, event_type, claims, state, topic, partition, record_offset,
            record_time, record_key, record_value, header_names, header_values, attempts, error, parked_at, failed_at,
            next_try_at""";

    /** Those of {@link #NAMES}, and the hash that statements look for. */
    static final Map<String, String> TYPES = Map.ofEntries(
            entry("number", "bigint"),
            entry("consumer_group", "text"),
            entry("handler", "text"),
            entry("event_id", "text"),
            entry("event_source", "bigint"),
            entry("event_type", "text"),
            entry("claims", "boolean"),
            entry("state", "text"),
            entry("topic", "text"),
            entry("partition", "integer"),
            entry("record_offset", "bigint"),
            entry("record_time", "timestamp with time zone"),
            entry("record_key", "bytea"),
            entry("key_hash", "bytea"),
            entry("record_value", "bytea"),
            entry("header_names", "bytea[]"),
            entry("header_values", "bytea[]"),
            entry("attempts", "integer"),
            entry("error", "text"),
            entry("parked_at", "timestamp with time zone"),
            entry("failed_at", "timestamp with time zone"),
            entry("next_try_at", "timestamp with time zone"));

    /**
     * The time of the next attempt, see {@link Backoff}. Half of a wait that grows is random, so that events that failed
     * together are not retried together.
     */
    static final String NEXT_TRY = "clock_timestamp() + make_interval(secs => "
            + "greatest(?, least(?, ? * power(2, least(%s, 30) - 1)) * (0.5 + random() / 2)))";

    private ParkedColumns() {}

    static int setIdentity(PreparedStatement statement, String group, ReceivedEvent event, @Nullable Handler handler)
            throws SQLException {
        statement.setString(1, group);
        statement.setString(2, handler == null ? null : handler.name());
        statement.setString(3, event.idOrNull());
        statement.setString(4, event.typeOrNull());
        statement.setBoolean(5, handler != null && handler.claims());
        statement.setLong(6, event.source());
        return 6;
    }

    static int setRecord(
            Connection connection, PreparedStatement statement, int before, ConsumerRecord<byte[], byte[]> record)
            throws SQLException {
        int i = before;
        List<byte[]> names = new ArrayList<>();
        List<byte @Nullable []> values = new ArrayList<>();
        for (Header header : record.headers()) {
            names.add(header.key().getBytes(StandardCharsets.UTF_8));
            values.add(header.value());
        }
        statement.setString(++i, record.topic());
        statement.setInt(++i, record.partition());
        statement.setLong(++i, record.offset());
        statement.setTimestamp(++i, OmittedTimestamp.time(record));
        statement.setBytes(++i, record.key());
        statement.setBytes(++i, record.value());
        statement.setArray(++i, connection.createArrayOf("bytea", names.toArray(new byte[0][])));
        statement.setArray(++i, connection.createArrayOf("bytea", values.toArray(new byte[0][])));
        return i;
    }

    static int setBackoff(PreparedStatement statement, int before, Backoff backoff) throws SQLException {
        statement.setDouble(before + 1, backoff.atLeast().toNanos() / 1e9);
        statement.setDouble(before + 2, backoff.max().toMillis() / 1000.0);
        statement.setDouble(before + 3, backoff.initial().toMillis() / 1000.0);
        return before + 3;
    }

    static ParkedEvent read(ResultSet row) throws SQLException {
        int partition = row.getInt("partition");
        return new ParkedEvent(
                row.getLong("number"),
                row.getString("consumer_group"),
                row.getString("handler"),
                row.getString("event_id"),
                row.getString("event_type"),
                state(row.getString("state")),
                row.getString("topic"),
                partition,
                row.getLong("record_offset"),
                instant(row, "record_time"),
                row.getBytes("record_key"),
                row.getBytes("record_value"),
                headers(row),
                row.getInt("attempts"),
                row.getString("error"),
                row.getTimestamp("parked_at").toInstant(),
                instant(row, "failed_at"),
                instant(row, "next_try_at"));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        Timestamp time = row.getTimestamp(column);
        return time == null ? null : time.toInstant();
    }

    private static List<ParkedEvent.RawHeader> headers(ResultSet row) throws SQLException {
        byte[][] names = bytes(row.getArray("header_names"));
        byte[][] values = bytes(row.getArray("header_values"));
        List<ParkedEvent.RawHeader> headers = new ArrayList<>(names.length);
        for (int i = 0; i < names.length; i++) {
            headers.add(new ParkedEvent.RawHeader(new String(names[i], StandardCharsets.UTF_8), values[i]));
        }
        return headers;
    }

    private static byte[][] bytes(Array array) throws SQLException {
        return (byte[][]) array.getArray();
    }

    static String text(State state) {
        return state.name().toLowerCase(Locale.ROOT);
    }

    static State state(String text) {
        return State.valueOf(text.toUpperCase(Locale.ROOT));
    }
}
