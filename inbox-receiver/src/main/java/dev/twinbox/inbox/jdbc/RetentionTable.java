package dev.twinbox.inbox.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * All SQL of the table that stores how far the deletion of old inbox rows got.
 *
 * <p>Each method runs in its caller's transaction.
 */
public final class RetentionTable {

    static final Map<String, String> COLUMNS = Map.of(
            "consumer_group", "text",
            "done_to", "timestamp with time zone",
            "swept_at", "timestamp with time zone");

    /** Appended to the inbox table's name. */
    private static final String SUFFIX = "_retention";

    private static final String ENSURE = """
            -- inbox: insert the group's retention row
            insert into %s (consumer_group, done_to) values (?, 'epoch') on conflict do nothing""";

    /**
     * Locks the group's row and reads it. The lock writes no new version of the row.
     *
     * <p>It also changes two settings for this transaction. Plans are made for the actual values, because a plan made
     * while the table is empty may scan all of it later. An inbox row that an operator has locked is waited for one
     * second at most.
     */
    private static final String LOCK = """
            -- inbox: lock the retention progress
            select r.done_to, r.swept_at,
                   statement_timestamp() - make_interval(secs => ?) as until,
                   r.swept_at <= statement_timestamp() - make_interval(secs => ?) as is_sweep_due,
                   set_config('plan_cache_mode', 'force_custom_plan', true), set_config('lock_timeout', '1s', true)
              from %s r
             where r.consumer_group = ?
               for update skip locked""";

    private static final String LIST = """
            -- inbox: list the retention progress
            select r.consumer_group, r.done_to, r.swept_at from %s r order by r.consumer_group""";

    private static final String SAVE = """
            -- inbox: save the retention progress
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
     * The name of the retention table. It follows from the name of the inbox table.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static SqlIdentifier name(SqlIdentifier inbox) {
        return inbox.withSuffix(SUFFIX);
    }

    /**
     * How far the deletion got. The instance that has it may delete until the transaction ends.
     *
     * @param doneTo rows handled before this time have been looked at
     * @param sweptAt when the last sweep started at the oldest row
     * @param until the retention of rows handled before this time is over
     * @param isSweepDue whether the next sweep from the oldest row is due
     */
    public record Progress(Instant doneTo, Instant sweptAt, Instant until, boolean isSweepDue) {}

    /** Inserts the group's row if it is missing, so that there is a row to lock. */
    public void ensure(Connection connection, String group) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ENSURE.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.executeUpdate();
        }
    }

    /**
     * The row of a group as an operator sees it.
     *
     * @param doneTo rows handled before this time have been looked at
     * @param sweptAt when the last sweep started at the oldest row
     */
    public record Row(String group, Instant doneTo, Instant sweptAt) {}

    /** The rows of all groups. */
    public List<Row> list(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LIST.formatted(table.sql()));
                ResultSet rows = statement.executeQuery()) {
            List<Row> found = new ArrayList<>();
            while (rows.next()) {
                found.add(new Row(rows.getString("consumer_group"), time(rows, "done_to"), time(rows, "swept_at")));
            }
            return found;
        }
    }

    /** Locks the group's row without waiting. Returns null if another instance has locked it. */
    public @Nullable Progress lock(Connection connection, String group, Duration keep, Duration betweenSweeps)
            throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOCK.formatted(table.sql()))) {
            statement.setDouble(1, keep.toMillis() / 1000.0);
            statement.setDouble(2, betweenSweeps.toMillis() / 1000.0);
            statement.setString(3, group);
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? new Progress(
                                time(row, "done_to"),
                                time(row, "swept_at"),
                                time(row, "until"),
                                row.getBoolean("is_sweep_due"))
                        : null;
            }
        }
    }

    /** Stores the progress. Only for the instance that has locked the row. */
    public void save(Connection connection, String group, Instant doneTo) throws SQLException {
        write(connection, group, doneTo, false);
    }

    /**
     * Stores the progress of a sweep. Only for the instance that has locked the row. Returns the time that identifies
     * this sweep for other instances.
     */
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
                return time(row, "swept_at");
            }
        }
    }

    private static Instant time(ResultSet row, String column) throws SQLException {
        return row.getTimestamp(column).toInstant();
    }
}
