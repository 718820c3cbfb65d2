package dev.twinbox.inbox.jdbc;

import static java.util.Map.entry;

import dev.twinbox.inbox.jdbc.ReplayJob.Counts;
import dev.twinbox.inbox.jdbc.ReplayJob.Partition;
import dev.twinbox.inbox.jdbc.ReplayJob.State;
import java.sql.Array;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.ToLongFunction;
import org.jspecify.annotations.Nullable;

/** Reads jobs from the columns of their table. */
final class ReplayColumns {

    static final Map<String, String> TYPES = Map.ofEntries(
            entry("number", "bigint"),
            entry("consumer_group", "text"),
            entry("handler", "text"),
            entry("topic", "text"),
            entry("topic_id", "uuid"),
            entry("record_key", "text"),
            entry("again", "boolean"),
            entry("asked_from", "text"),
            entry("asked_to", "text"),
            entry("partitions", "integer[]"),
            entry("from_offsets", "bigint[]"),
            entry("to_offsets", "bigint[]"),
            entry("next_offsets", "bigint[]"),
            entry("state", "text"),
            entry("owner", "uuid"),
            entry("lease_until", "timestamp with time zone"),
            entry("handled", "bigint"),
            entry("skipped", "bigint"),
            entry("parked", "bigint"),
            entry("unreadable", "bigint"),
            entry("gone", "bigint"),
            entry("error", "text"),
            entry("requested_at", "timestamp with time zone"),
            entry("ended_at", "timestamp with time zone"));

    static final String NAMES = """
            j.number, j.consumer_group, j.handler, j.topic, j.topic_id, j.record_key, j.again, j.asked_from, j.asked_to,
            j.partitions, j.from_offsets, j.to_offsets, j.next_offsets, j.state, j.handled, j.skipped, j.parked,
            j.unreadable, j.gone, j.error, j.requested_at, j.ended_at""";

    private ReplayColumns() {}

    static Array offsets(Connection connection, List<Partition> partitions, ToLongFunction<Partition> offset)
            throws SQLException {
        return connection.createArrayOf(
                "bigint",
                partitions.stream().map(each -> (Long) offset.applyAsLong(each)).toArray(Long[]::new));
    }

    static ReplayJob read(ResultSet row) throws SQLException {
        return new ReplayJob(
                row.getLong("number"),
                row.getString("consumer_group"),
                row.getString("handler"),
                row.getString("topic"),
                row.getObject("topic_id", UUID.class),
                row.getString("record_key"),
                row.getBoolean("again"),
                row.getString("asked_from"),
                row.getString("asked_to"),
                partitions(row),
                State.of(row.getString("state")),
                new Counts(
                        row.getLong("handled"),
                        row.getLong("skipped"),
                        row.getLong("parked"),
                        row.getLong("unreadable"),
                        row.getLong("gone")),
                row.getString("error"),
                row.getObject("requested_at", OffsetDateTime.class).toInstant(),
                instant(row, "ended_at"));
    }

    private static @Nullable Instant instant(ResultSet row, String column) throws SQLException {
        OffsetDateTime time = row.getObject(column, OffsetDateTime.class);
        return time == null ? null : time.toInstant();
    }

    private static List<Partition> partitions(ResultSet row) throws SQLException {
        Integer[] numbers = (Integer[]) row.getArray("partitions").getArray();
        Long[] from = (Long[]) row.getArray("from_offsets").getArray();
        Long[] to = (Long[]) row.getArray("to_offsets").getArray();
        Long[] next = (Long[]) row.getArray("next_offsets").getArray();
        List<Partition> partitions = new ArrayList<>(numbers.length);
        for (int i = 0; i < numbers.length; i++) {
            partitions.add(new Partition(numbers[i], from[i], to[i], next[i]));
        }
        return partitions;
    }
}
