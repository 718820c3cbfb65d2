package dev.twinbox.inbox.jdbc;

import static java.util.Map.entry;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The table of topics and handlers that an operator has paused. Only an operator changes it. Tables of a version before
 * 10 do not have it.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class PausedTable {

    static final Map<String, String> COLUMNS = Map.ofEntries(
            entry("consumer_group", "text"),
            entry("what", "text"),
            entry("name", "text"),
            entry("since", "timestamp with time zone"));

    private static final String SUFFIX = "_paused";

    private static final String EXISTS = """
            -- inbox: can topics and handlers be paused
            select to_regclass(?) is not null""";

    /** A pause that is hidden from the receiver would not be obeyed. */
    private static final String READ = AllRows.required("""
            -- inbox: what is paused
            select what, name, since from %s where consumer_group = ?""");

    private static final String LIST = """
            -- inbox: list what is paused
            select consumer_group, what, name, since from %s order by what desc, name, consumer_group""";

    private static final String PAUSE = """
            -- inbox: pause a topic or a handler
            insert into %s (consumer_group, what, name) values (?, ?, ?) on conflict do nothing""";

    private static final String RESUME = """
            -- inbox: resume a topic or a handler
            delete from %s where (?::text is null or consumer_group = ?) and what = ? and name = ?""";

    /** What can be paused. */
    public enum Kind {
        TOPIC,
        HANDLER;

        /** In the table, and for operators. */
        public String text() {
            return name().toLowerCase(Locale.ROOT);
        }

        private static Kind of(String text) {
            return valueOf(text.toUpperCase(Locale.ROOT));
        }
    }

    /**
     * What is paused in a group.
     *
     * @param since by the database's clock
     */
    public record Row(String group, Kind kind, String name, Instant since) {}

    private final SqlIdentifier table;

    /** A table that was seen is not looked for again. */
    private volatile boolean isThere;

    private PausedTable(SqlIdentifier table) {
        this.table = table;
    }

    /**
     * The table of an inbox table.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static PausedTable of(SqlIdentifier inbox) {
        return new PausedTable(name(inbox));
    }

    /**
     * Its name, which follows from that of the inbox table: {@code inbox_paused} for {@code inbox_event}.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static SqlIdentifier name(SqlIdentifier inbox) {
        return inbox.sibling(SUFFIX);
    }

    /** Whether anything can be paused: the tables are new enough. */
    public boolean exists(Connection connection) throws SQLException {
        if (!isThere) {
            try (PreparedStatement statement = connection.prepareStatement(EXISTS)) {
                statement.setString(1, table.sql());
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    isThere = row.getBoolean(1);
                }
            }
        }
        return isThere;
    }

    /** What is paused in the group of an application. Fails while row-level security hides rows. */
    public Paused read(Connection connection, String group) throws SQLException {
        if (!exists(connection)) {
            return Paused.NOTHING;
        }
        SortedMap<String, Instant> topics = new TreeMap<>();
        SortedMap<String, Instant> handlers = new TreeMap<>();
        try (PreparedStatement statement = connection.prepareStatement(READ.formatted(table.sql()))) {
            statement.setString(1, group);
            try (ResultSet row = AllRows.query(statement)) {
                while (row.next()) {
                    (Kind.of(row.getString("what")) == Kind.TOPIC ? topics : handlers)
                            .put(row.getString("name"), since(row));
                }
            }
        }
        return new Paused(topics, handlers);
    }

    private static Instant since(ResultSet row) throws SQLException {
        return row.getObject("since", OffsetDateTime.class).toInstant();
    }

    /** What is paused in all groups, topics first. */
    public List<Row> list(Connection connection) throws SQLException {
        List<Row> all = new ArrayList<>();
        if (!exists(connection)) {
            return all;
        }
        try (PreparedStatement statement = connection.prepareStatement(LIST.formatted(table.sql()));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                all.add(new Row(
                        row.getString("consumer_group"),
                        Kind.of(row.getString("what")),
                        row.getString("name"),
                        since(row)));
            }
        }
        return all;
    }

    /** Pauses a topic or a handler of a group; false if it was paused before. */
    public boolean pause(Connection connection, String group, Kind kind, String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(PAUSE.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.setString(2, kind.text());
            statement.setString(3, name);
            return statement.executeUpdate() == 1;
        }
    }

    /**
     * Resumes a topic or a handler; returns in how many groups it was paused.
     *
     * @param group null for all groups
     */
    public int resume(Connection connection, @Nullable String group, Kind kind, String name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(RESUME.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.setString(2, group);
            statement.setString(3, kind.text());
            statement.setString(4, name);
            return statement.executeUpdate();
        }
    }
}
