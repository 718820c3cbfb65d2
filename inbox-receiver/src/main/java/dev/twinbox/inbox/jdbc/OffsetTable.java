package dev.twinbox.inbox.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Array;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * All SQL of the table that remembers how far a group was.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class OffsetTable {

    static final Map<String, String> COLUMNS = Map.of(
            "consumer_group", "text",
            "topic_id", "uuid",
            "partition", "integer",
            "topic", "text",
            "next_offset", "bigint",
            "saved_at", "timestamp with time zone");

    /** Appended to the inbox table's name. */
    private static final String SUFFIX = "_offset";

    /** If an offset is hidden, the group would start elsewhere. */
    private static final String FIND = AllRows.required("""
            -- inbox: find remembered offsets
            select topic_id, partition, topic, next_offset, saved_at is not null as is_read
              from %s
             where consumer_group = ? and topic = any (?::text[])""");

    /** Of a topic that was created anew, the offset that was saved last. */
    private static final String LIST = """
            -- inbox: list remembered offsets
            select distinct on (o.consumer_group, o.topic, o.partition)
                   o.consumer_group, o.topic, o.partition, o.next_offset
              from %s o
             where o.saved_at is not null
             order by o.consumer_group, o.topic, o.partition, o.saved_at desc
             limit ?""";

    /** Most rows of a list. */
    private static final int MOST_LISTED = 10_000;

    /** The first member of a group decides where all partitions of a topic start. Others find its decision. */
    private static final String PROPOSE = """
            -- inbox: decide where a group starts
            insert into %s (consumer_group, topic_id, partition, topic, next_offset)
            select ?, n.topic_id, n.partition, n.topic, n.next_offset
              from unnest(?::uuid[], ?::int[], ?::text[], ?::bigint[]) as n (topic_id, partition, topic, next_offset)
            on conflict do nothing""";

    /** A row that would not change is not written. */
    private static final String SAVE = """
            -- inbox: remember offsets
            insert into %s as o (consumer_group, topic_id, partition, topic, next_offset, saved_at)
            select ?, n.topic_id, n.partition, n.topic, n.next_offset, clock_timestamp()
              from unnest(?::uuid[], ?::int[], ?::text[], ?::bigint[]) as n (topic_id, partition, topic, next_offset)
            on conflict (consumer_group, topic_id, partition)
            do update set next_offset = excluded.next_offset, saved_at = excluded.saved_at
             where o.next_offset <> excluded.next_offset or o.saved_at is null""";

    private final SqlIdentifier table;

    private OffsetTable(SqlIdentifier table) {
        this.table = table;
    }

    /**
     * The table that belongs to an inbox table.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static OffsetTable of(SqlIdentifier inbox) {
        return new OffsetTable(name(inbox));
    }

    /**
     * The name of the table. It follows from the name of the inbox table.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static SqlIdentifier name(SqlIdentifier inbox) {
        return inbox.withSuffix(SUFFIX);
    }

    /**
     * How far a group was in one partition.
     *
     * @param topicId identifies the topic; a topic that is created anew has another id
     * @param next offset of the first record that is not settled
     * @param isRead false if the offset was chosen for the partition's first member, and no member has taken it yet
     */
    public record Remembered(UUID topicId, String topic, int partition, long next, boolean isRead) {

        private static final Comparator<Remembered> BY_KEY =
                Comparator.comparing(Remembered::topicId).thenComparing(Remembered::partition);
    }

    /**
     * A row as an operator sees it.
     *
     * @param next offset of the first record that is not settled
     */
    public record Row(String group, String topic, int partition, long next) {}

    /** What is remembered of all groups, by group, topic and partition; at most 10,000 partitions. */
    public List<Row> list(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LIST.formatted(table.sql()))) {
            statement.setInt(1, MOST_LISTED);
            List<Row> found = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    found.add(new Row(rows.getString(1), rows.getString(2), rows.getInt(3), rows.getLong(4)));
                }
            }
            return found;
        }
    }

    /** All that is remembered of these topics, also of former topics of the same names. */
    public List<Remembered> find(Connection connection, String group, Collection<String> topics) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(FIND.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.setArray(2, connection.createArrayOf("text", topics.toArray()));
            List<Remembered> found = new ArrayList<>();
            try (ResultSet rows = AllRows.query(statement)) {
                while (rows.next()) {
                    found.add(new Remembered(
                            rows.getObject("topic_id", UUID.class),
                            rows.getString("topic"),
                            rows.getInt("partition"),
                            rows.getLong("next_offset"),
                            rows.getBoolean("is_read")));
                }
            }
            return found;
        }
    }

    /** Inserts what is not there yet. Another member may have decided first; its decision stays. */
    public void propose(Connection connection, String group, Collection<Remembered> starts) throws SQLException {
        write(connection, PROPOSE, group, starts);
    }

    /** Stores how far the group is. */
    public void save(Connection connection, String group, Collection<Remembered> offsets) throws SQLException {
        write(connection, SAVE, group, offsets);
    }

    /** In the order of the key, so that two members cannot deadlock. */
    private void write(Connection connection, String sql, String group, Collection<Remembered> offsets)
            throws SQLException {
        List<Remembered> sorted = offsets.stream().sorted(Remembered.BY_KEY).toList();
        try (PreparedStatement statement = connection.prepareStatement(sql.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.setArray(2, array(connection, "uuid", sorted.stream().map(Remembered::topicId)));
            statement.setArray(3, array(connection, "int4", sorted.stream().map(Remembered::partition)));
            statement.setArray(4, array(connection, "text", sorted.stream().map(Remembered::topic)));
            statement.setArray(5, array(connection, "int8", sorted.stream().map(Remembered::next)));
            statement.executeUpdate();
        }
    }

    private static Array array(Connection connection, String type, Stream<?> values) throws SQLException {
        return connection.createArrayOf(type, values.toArray());
    }
}
