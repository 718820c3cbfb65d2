package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlState;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.EnumMap;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;

/**
 * What the tables hold of each topic. Counting stops at a limit, so the cost does not grow with what they hold.
 *
 * @param topics of unsent, parked and the newest events
 * @param unsent topics of unsent events
 * @param parked events by topic and state
 * @param isCut whether a limit ended the counting
 */
public record TopicCounts(
        SortedSet<String> topics,
        Set<String> unsent,
        SortedMap<String, Map<ParkedState, Integer>> parked,
        boolean isCut) {
    /** Counting of each kind stops here. */
    static final int LIMIT = 10_000;

    /** For each statement. */
    private static final Duration TIME = Duration.ofSeconds(2);

    static final String PARKED = """
            -- operator: parked events by topic
            select topic, state, count(*) from (
              select topic, state from {parked} where relay = ? order by number limit ?) p
            group by topic, state
            """;

    static final String NEWEST = """
            -- operator: topics of the newest events
            select distinct topic from (select topic from {events} order by seq desc limit ?) e where topic is not null
            """;

    private interface Reading {
        /** Returns whether a limit ended it. */
        boolean run() throws SQLException;
    }

    /**
     * Counts now.
     *
     * @param connection for this only: its statements have a timeout from now on
     */
    public static TopicCounts of(Connection connection, OutboxSchema tables, String relay) throws SQLException {
        SortedSet<String> topics = new TreeSet<>();
        Set<String> unsent = new TreeSet<>();
        SortedMap<String, Map<ParkedState, Integer>> parked = new TreeMap<>();
        try (Statement statement = connection.createStatement()) {
            statement.execute("set statement_timeout = " + TIME.toMillis());
        }
        boolean isCut = isCut(() -> {
            Position position =
                    new PositionTable(connection, tables, relay).load().position();
            Backlog backlog = Backlog.behind(position, connection, tables.events());
            unsent.addAll(backlog.topics());
            return backlog.events() >= Backlog.LIMIT;
        });
        isCut |= isCut(() -> count(connection, tables, relay, parked) >= LIMIT);
        isCut |= isCut(() -> {
            addNewest(connection, tables, topics);
            return false; // More of them are not missed: they are the topics of yesterday.
        });
        topics.addAll(unsent);
        topics.addAll(parked.keySet());
        return new TopicCounts(topics, unsent, parked, isCut);
    }

    private static boolean isCut(Reading reading) throws SQLException {
        try {
            return reading.run();
        } catch (SQLException e) {
            if (SqlState.QUERY_CANCELED.isOf(e)) {
                return true;
            }
            throw e;
        }
    }

    private static int count(
            Connection connection,
            OutboxSchema tables,
            String relay,
            SortedMap<String, Map<ParkedState, Integer>> parked)
            throws SQLException {
        int all = 0;
        try (PreparedStatement count = connection.prepareStatement(ParkedTable.sql(PARKED, tables))) {
            count.setString(1, relay);
            count.setInt(2, LIMIT);
            try (ResultSet row = count.executeQuery()) {
                while (row.next()) {
                    parked.computeIfAbsent(row.getString(1), topic -> new EnumMap<>(ParkedState.class))
                            .put(ParkedState.of(row.getString(2)), row.getInt(3));
                    all += row.getInt(3);
                }
            }
        }
        return all;
    }

    private static void addNewest(Connection connection, OutboxSchema tables, Set<String> topics) throws SQLException {
        try (PreparedStatement newest = connection.prepareStatement(ParkedTable.sql(NEWEST, tables))) {
            newest.setInt(1, LIMIT);
            try (ResultSet row = newest.executeQuery()) {
                while (row.next()) {
                    topics.add(row.getString(1));
                }
            }
        }
    }
}
