package dev.twinbox.inbox.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** All SQL of the table that says how far retention got. Each method works in its caller's transaction. */
public final class RetentionTable {

    static final Map<String, String> COLUMNS = Map.of(
            "consumer_group", "text",
            "done_to", "timestamp with time zone",
            "swept_at", "timestamp with time zone");

    /** What comes behind the inbox table's name. */
    private static final String SUFFIX = "_retention";

    private static final String ENSURE = """
            -- inbox: enter the group for retention
            insert into %s (consumer_group, done_to) values (?, 'epoch') on conflict do nothing""";

    /**
     * The lock writes no version of the row. Plans are made for the values: one made once, while the table is empty, may be a
     * scan of all of it. A row of the inbox that an operator has locked by hand is waited for no longer than a second.
     */
    private static final String LOCK = """
            -- inbox: lock how far retention got
            select r.done_to, r.swept_at, statement_timestamp() - make_interval(secs => ?),
                   r.swept_at <= statement_timestamp() - make_interval(secs => ?),
                   set_config('plan_cache_mode', 'force_custom_plan', true), set_config('lock_timeout', '1s', true)
              from %s r
             where r.consumer_group = ?
               for update skip locked""";

    private static final String SAVE = """
            -- inbox: save how far retention got
            update %s
               set done_to = ?, swept_at = case when ? then clock_timestamp() else swept_at end
             where consumer_group = ?
            returning swept_at""";

    private final SqlIdentifier table;

    private RetentionTable(SqlIdentifier table) {
        this.table = table;
    }

    /**
     * The retention table of an inbox table.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static RetentionTable of(SqlIdentifier inbox) {
        return new RetentionTable(name(inbox));
    }

    /**
     * Its name, which follows from that of the inbox table.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static SqlIdentifier name(SqlIdentifier inbox) {
        return inbox.withSuffix(SUFFIX);
    }

    /**
     * How far retention got. Whoever has it may delete, until the transaction ends.
     *
     * @param doneTo rows handled before have been looked at
     * @param sweptAt when it last began at the oldest row
     * @param until rows handled before this time have had their retention
     * @param isSweepDue whether it is time to begin at the oldest row again
     */
    public record Progress(Instant doneTo, Instant sweptAt, Instant until, boolean isSweepDue) {}

    /** Makes sure that there is a row to lock. */
    public void ensure(Connection connection, String group) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ENSURE.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.executeUpdate();
        }
    }

    /** Never waits; null: another instance has locked the row. */
    public @Nullable Progress lock(Connection connection, String group, Duration keep, Duration betweenSweeps)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOCK.formatted(table.sql()))) {
            statement.setDouble(1, keep.toMillis() / 1000.0);
            statement.setDouble(2, betweenSweeps.toMillis() / 1000.0);
            statement.setString(3, group);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? new Progress(time(row, 1), time(row, 2), time(row, 3), row.getBoolean(4)) : null;
            }
        }
    }

    /** By the instance that has locked the row. */
    public void save(Connection connection, String group, Instant doneTo) throws SQLException {
        write(connection, group, doneTo, false);
    }

    /** By the instance that has locked the row and started at the oldest event. Returns the time by which others know this sweep. */
    public Instant saveSweep(Connection connection, String group, Instant doneTo) throws SQLException {
        return write(connection, group, doneTo, true);
    }

    private Instant write(Connection connection, String group, Instant doneTo, boolean sweep) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(SAVE.formatted(table.sql()))) {
            statement.setTimestamp(1, Timestamp.from(doneTo));
            statement.setBoolean(2, sweep);
            statement.setString(3, group);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return time(row, 1);
            }
        }
    }

    private static Instant time(ResultSet row, int column) throws SQLException {
        return row.getTimestamp(column).toInstant();
    }
}
