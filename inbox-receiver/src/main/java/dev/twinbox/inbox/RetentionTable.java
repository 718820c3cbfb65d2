package dev.twinbox.inbox;

import dev.twinbox.SchemaException;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Timestamp;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/** All SQL of the table that says how far retention got. Each method works in its caller's transaction. */
final class RetentionTable {

    /** What comes behind the inbox table's name. */
    private static final String SUFFIX = "_retention";

    private static final String ENSURE = """
            -- inbox: enter the group for retention
            insert into %s (consumer_group, done_to) values (?, 'epoch') on conflict do nothing""";

    /**
     * The lock writes no version of the row. Plans are made for the values: one made once, while the table is empty, may be a
     * scan of all of it. Rows of the inbox that somebody has locked, by hand, are waited for no longer than a moment.
     */
    private static final String TAKE = """
            -- inbox: take retention's turn
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

    private static final String INSPECT = """
            -- inbox: check retention table
            select t.oid is not null,
                   (select count(*) from pg_attribute a
                     where a.attrelid = t.oid and not a.attisdropped
                       and a.attname in ('consumer_group', 'done_to', 'swept_at')) = 3,
                   coalesce(has_table_privilege(t.oid, 'SELECT'), false)
                     and coalesce(has_table_privilege(t.oid, 'INSERT'), false)
                     and coalesce(has_table_privilege(t.oid, 'UPDATE'), false),
                   current_user, current_database(), current_setting('search_path')
              from (select to_regclass(?)::oid) t (oid)""";

    private final SqlIdentifier table;

    private RetentionTable(SqlIdentifier table) {
        this.table = table;
    }

    /** @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix */
    static RetentionTable of(SqlIdentifier inbox) {
        return new RetentionTable(name(inbox));
    }

    /** @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix */
    static SqlIdentifier name(SqlIdentifier inbox) {
        return inbox.withSuffix(SUFFIX);
    }

    /**
     * A round's right to delete, until the transaction ends.
     *
     * @param doneTo rows handled before have been looked at
     * @param sweptAt when it last began at the oldest row
     * @param until rows handled before this time have had their retention
     * @param sweepIsDue whether it is time to begin at the oldest row again
     */
    record Turn(Instant doneTo, Instant sweptAt, Instant until, boolean sweepIsDue) {}

    /** Makes sure that there is a row to take. */
    void ensure(Connection connection, String group) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ENSURE.formatted(table.sql()))) {
            statement.setString(1, group);
            statement.executeUpdate();
        }
    }

    /** Never waits; null: another instance is at it. */
    @Nullable Turn take(Connection connection, String group, Duration keep, Duration betweenSweeps) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(TAKE.formatted(table.sql()))) {
            statement.setDouble(1, keep.toMillis() / 1000.0);
            statement.setDouble(2, betweenSweeps.toMillis() / 1000.0);
            statement.setString(3, group);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? new Turn(time(row, 1), time(row, 2), time(row, 3), row.getBoolean(4)) : null;
            }
        }
    }

    /** By whoever has the turn. */
    void save(Connection connection, String group, Instant doneTo) throws SQLException {
        write(connection, group, doneTo, false);
    }

    /** By whoever has the turn, and has begun at the oldest row; returns the time that others know the sweep by. */
    Instant saveSweep(Connection connection, String group, Instant doneTo) throws SQLException {
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

    /** @throws SchemaException names what is missing and the remedy */
    void check(Connection connection, String migrateCommand) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INSPECT)) {
            statement.setString(1, table.sql());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                String where = "database " + row.getString(5) + ", search_path " + row.getString(6);
                if (!row.getBoolean(1)) {
                    throw new SchemaException("Table " + table + ", which says how far retention got, does not exist ("
                            + where + "). Bring the inbox up to date: " + migrateCommand);
                }
                if (!row.getBoolean(2)) {
                    throw new SchemaException("Table " + table + " (" + where
                            + ") lacks one of the columns consumer_group, done_to, swept_at. Bring the inbox up to date: "
                            + migrateCommand);
                }
                if (!row.getBoolean(3)) {
                    throw new SchemaException("User " + row.getString(4) + " may not use table " + table + " (" + where
                            + "): grant select, insert, update on " + table + " to "
                            + SqlIdentifier.quote(row.getString(4)));
                }
            }
        }
    }
}
