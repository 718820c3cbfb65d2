package dev.twinbox.inbox.jdbc;

import dev.twinbox.SchemaException;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.SchemaMigration;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;

/** The tables of the receiver as a whole: creates them, and checks that they are there, are as needed and may be used. */
public final class InboxSchema {

    private static final String LOCATION = "dev/twinbox/inbox/schema";

    /** One row of what is there; the names are given as literals to be found as a statement would find them. */
    private static final String INBOX = """
            -- inbox: check table
            select t.oid is not null,
                   (select count(*) from pg_attribute a
                     where a.attrelid = t.oid and not a.attisdropped
                       and a.attname in ('consumer_group', 'handler', 'event_id', 'handled_at')) = 4,
                   exists (select 1 from pg_index x
                     where x.indrelid = t.oid and x.indisunique and x.indisvalid and x.indpred is null
                       and (select array_agg(a.attname::text order by a.attname::text)
                              from pg_attribute a
                             where a.attrelid = x.indrelid and a.attnum = any (x.indkey::smallint[]))
                           = array['consumer_group', 'event_id', 'handler']),
                   coalesce(has_table_privilege(t.oid, 'SELECT'), false)
                     and coalesce(has_table_privilege(t.oid, 'INSERT'), false)
                     and coalesce(has_table_privilege(t.oid, 'DELETE'), false),
                   current_user, current_database(), current_setting('search_path'),
                   current_setting('synchronous_commit'), pg_is_in_recovery()
              from (select to_regclass(?)::oid) t (oid)""";

    private static final String PARKED = """
            -- inbox: check parked table
            select t.oid is not null,
                   (select count(*) from pg_attribute a
                     where a.attrelid = t.oid and not a.attisdropped and a.attname = any (?)) = ?,
                   coalesce(has_table_privilege(t.oid, 'SELECT'), false)
                     and coalesce(has_table_privilege(t.oid, 'INSERT'), false)
                     and coalesce(has_table_privilege(t.oid, 'UPDATE'), false)
                     and coalesce(has_table_privilege(t.oid, 'DELETE'), false),
                   current_user, current_database(), current_setting('search_path')
              from (select to_regclass(?)::oid) t (oid)""";

    private static final String RETENTION = """
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

    private final SqlIdentifier inbox;
    private final SqlIdentifier parked;
    private final SqlIdentifier retention;

    /**
     * The tables of these names, and the retention table of the inbox table.
     *
     * @throws IllegalArgumentException if the inbox table's name is too long for the table that is named after it
     */
    public InboxSchema(SqlIdentifier inbox, SqlIdentifier parked) {
        this.inbox = inbox;
        this.parked = parked;
        this.retention = RetentionTable.name(inbox);
    }

    /**
     * Creates the tables, or brings them to the version that this code needs. A schema that does not exist is created.
     *
     * @param dataSource connects as the owner of the tables
     */
    public SchemaMigration.Result migrate(DataSource dataSource) {
        return SchemaMigration.migrate(
                dataSource,
                LOCATION,
                inbox.withSuffix("_history"),
                Map.of(
                        "inbox", inbox.sql(),
                        "inbox_literal", inbox.sqlLiteral(),
                        "parked", parked.sql(),
                        "retention", retention.sql()));
    }

    /**
     * Checks all tables.
     *
     * @return what an operator should know although the tables work; empty for nothing
     * @throws SchemaException names what is missing and the remedy
     */
    public String check(Connection connection) throws SQLException {
        String advice = checkInbox(connection);
        checkParked(connection);
        checkRetention(connection);
        return advice;
    }

    private String checkInbox(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INBOX)) {
            statement.setString(1, inbox.sql());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                String where = "database " + row.getString(6) + ", search_path " + row.getString(7);
                if (row.getBoolean(9)) {
                    throw new SchemaException("The inbox's data source leads to a standby (" + where
                            + "), which cannot be written; point it to the primary");
                }
                refuseMissing(row.getBoolean(1), "Table " + inbox + " does not exist (" + where + "). Create it");
                refuseMissing(
                        row.getBoolean(2),
                        "Table " + inbox + " (" + where
                                + ") is not an inbox: it lacks one of the columns consumer_group, handler, event_id, handled_at. "
                                + "Configure another twinbox.inbox.table, or create it");
                if (!row.getBoolean(3)) {
                    throw new SchemaException("Table " + inbox + " (" + where
                            + ") has no unique index on (consumer_group, handler, event_id); without it duplicates would not be "
                            + "noticed. Restore its primary key");
                }
                refuseMissingGrant(row.getBoolean(4), "select, insert, delete", inbox, row.getString(5), where);
                return row.getString(8).equals("off")
                        ? "synchronous_commit is off: after a crash of the database events whose offset is already committed "
                                + "may have lost their effect"
                        : "";
            }
        }
    }

    private void checkParked(Connection connection) throws SQLException {
        String[] columns = ParkedColumns.NAMES.replaceAll("\\s", "").split(",");
        try (PreparedStatement statement = connection.prepareStatement(PARKED)) {
            statement.setArray(1, connection.createArrayOf("text", columns));
            statement.setInt(2, columns.length);
            statement.setString(3, parked.sql());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                String where = "database " + row.getString(5) + ", search_path " + row.getString(6);
                refuseMissing(row.getBoolean(1), "Table " + parked + " does not exist (" + where + "). Create it");
                refuseMissing(
                        row.getBoolean(2),
                        "Table " + parked + " (" + where
                                + ") is not a table of parked events of this version: it lacks one of the columns "
                                + String.join(", ", columns)
                                + ". Configure another twinbox.inbox.parked-table, or bring it up to date");
                refuseMissingGrant(
                        row.getBoolean(3), "select, insert, update, delete", parked, row.getString(4), where);
            }
        }
    }

    private void checkRetention(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(RETENTION)) {
            statement.setString(1, retention.sql());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                String where = "database " + row.getString(5) + ", search_path " + row.getString(6);
                refuseMissing(
                        row.getBoolean(1),
                        "Table " + retention + ", which says how far retention got, does not exist (" + where
                                + "). Bring the inbox up to date");
                refuseMissing(
                        row.getBoolean(2),
                        "Table " + retention + " (" + where
                                + ") lacks one of the columns consumer_group, done_to, swept_at. Bring the inbox up to date");
                refuseMissingGrant(row.getBoolean(3), "select, insert, update", retention, row.getString(4), where);
            }
        }
    }

    private void refuseMissing(boolean isThere, String problem) {
        if (!isThere) {
            throw new SchemaException(problem + ": " + migrateCommand());
        }
    }

    private static void refuseMissingGrant(
            boolean isGranted, String privileges, SqlIdentifier table, String user, String where) {
        if (!isGranted) {
            throw new SchemaException("User " + user + " may not use table " + table + " (" + where + "): grant "
                    + privileges + " on " + table + " to " + SqlIdentifier.quote(user));
        }
    }

    private String migrateCommand() {
        return "java -jar twinbox-inbox-cli.jar migrate --url jdbc:postgresql://<host>/<database> --user <owner>"
                + (inbox.schema() == null ? "" : " --schema '" + inbox.schema() + "'") + " --table '" + inbox.name()
                + "' --parked-table '" + parked.name() + "'";
    }
}
