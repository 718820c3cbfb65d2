package dev.twinbox.inbox.jdbc;

import dev.twinbox.SchemaException;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.LockSchema;
import dev.twinbox.schema.SchemaCheck;
import dev.twinbox.schema.SchemaMigration;
import dev.twinbox.schema.SchemaScript;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import javax.sql.DataSource;

/** The tables of the receiver as a whole: creates them, and checks that they are there, are as needed and may be used. */
public final class InboxSchema {

    private static final String LOCATION = "dev/twinbox/inbox/schema";

    private final SqlIdentifier inbox;
    private final SqlIdentifier parked;
    private final SqlIdentifier retention;
    private final SqlIdentifier handlers;
    private final SqlIdentifier offset;
    private final SqlIdentifier actions;
    private final SqlIdentifier paused;
    private final SqlIdentifier replay;
    private final SqlIdentifier replayed;

    /**
     * An inbox table and the tables that are named after it.
     *
     * @throws IllegalArgumentException if the name is too long for those
     */
    public InboxSchema(SqlIdentifier inbox) {
        this.inbox = inbox;
        this.parked = ParkedTable.name(inbox);
        this.retention = RetentionTable.name(inbox);
        this.handlers = HandlerTable.name(inbox);
        this.offset = OffsetTable.name(inbox);
        this.actions = actions(inbox);
        this.paused = PausedTable.name(inbox);
        this.replay = ReplayTable.name(inbox);
        this.replayed = ReplayTable.claims(inbox);
    }

    /**
     * The table of what operators have changed: {@code inbox_action} for {@code inbox_event}. Applications do not use it.
     *
     * @throws IllegalArgumentException if the inbox table's name leaves no room for the suffix
     */
    public static SqlIdentifier actions(SqlIdentifier inbox) {
        return inbox.sibling("_action");
    }

    /**
     * Creates the tables, or brings them to the version that this code needs. A schema that does not exist is created.
     * Instances of the previous version can use the tables then, unless they are new, see {@link #finish}.
     *
     * @param dataSource connects as the owner of the tables
     */
    public SchemaMigration.Result migrate(DataSource dataSource) {
        boolean isNew = !exists(dataSource);
        SchemaMigration.Result result = apply(dataSource);
        if (isNew) {
            finish(dataSource);
        }
        return result;
    }

    /**
     * Ends an upgrade: from now on source and id identify a CloudEvent, see {@link EventIdentity}. No instance of the
     * previous version may run then.
     *
     * @param dataSource connects as the owner of the tables
     * @return whether there was anything to do
     * @throws SchemaException if the keys cannot be changed
     */
    public boolean finish(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            return new EventIdentity(inbox).addSource(connection);
        } catch (SQLException e) {
            throw new SchemaException(
                    "The keys of " + inbox + " cannot be changed: " + e.getMessage()
                            + ". Run migrate --finish again as the tables' owner",
                    e);
        }
    }

    /** Whether source and id identify a CloudEvent. */
    public boolean isFinished(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection()) {
            return new EventIdentity(inbox).hasSource(connection);
        } catch (SQLException e) {
            throw new SchemaException(
                    "Table " + inbox + " cannot be looked at: " + e.getMessage() + ". Check url, user and password", e);
        }
    }

    private boolean exists(DataSource dataSource) {
        try (Connection connection = dataSource.getConnection();
                PreparedStatement statement =
                        connection.prepareStatement("-- inbox: exists\nselect to_regclass(?) is not null")) {
            statement.setString(1, inbox.sql());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        } catch (SQLException e) {
            throw new SchemaException(
                    "Table " + inbox + " cannot be looked for: " + e.getMessage() + ". Check url, user and password",
                    e);
        }
    }

    private SchemaMigration.Result apply(DataSource dataSource) {
        return SchemaMigration.migrate(dataSource, LOCATION, inbox.withSuffix("_history"), placeholders());
    }

    /**
     * The SQL that {@link #migrate} would run, for those who run it themselves.
     *
     * @param after version of the tables that are there; 0: there are none
     */
    public String script(int after) {
        return SchemaScript.of(InboxSchema.class, LOCATION, inbox.schema(), placeholders(), after);
    }

    private Map<String, String> placeholders() {
        Map<String, String> names = new HashMap<>(LockSchema.of(inbox).placeholders());
        names.put("inbox", inbox.sql());
        names.put("inbox_literal", inbox.sqlLiteral());
        names.put("parked", parked.sql());
        names.put("retention", retention.sql());
        names.put("handlers", handlers.sql());
        names.put("offset", offset.sql());
        names.put("actions", actions.sql());
        names.put("paused", paused.sql());
        names.put("replay", replay.sql());
        names.put("replayed", replayed.sql());
        return names;
    }

    /**
     * Checks all tables.
     *
     * @return what an operator should know although the tables work; empty for nothing
     * @throws SchemaException names all that is missing and the remedy
     */
    public String check(Connection connection) throws SQLException {
        SchemaCheck check = new SchemaCheck(connection)
                .server()
                .primary()
                .table(inbox, InboxTable.COLUMNS, "SELECT", "INSERT", "DELETE");
        boolean hasSource = check.problems().isEmpty() && new EventIdentity(inbox).hasSource(connection);
        if (check.problems().isEmpty()) {
            List<String> key = hasSource ? InboxTable.PRIMARY_KEY : InboxTable.FORMER_PRIMARY_KEY;
            check.unique(inbox, key, "duplicates would not be noticed");
        }
        check.table(parked, ParkedColumns.TYPES, "SELECT", "INSERT", "UPDATE", "DELETE")
                .table(retention, RetentionTable.COLUMNS, "SELECT", "INSERT", "UPDATE")
                .table(handlers, HandlerTable.COLUMNS, "SELECT", "INSERT", "UPDATE", "DELETE")
                .table(offset, OffsetTable.COLUMNS, "SELECT", "INSERT", "UPDATE");
        if (PausedTable.of(inbox).exists(connection)) { // tables of the version before do not have it
            check.table(paused, PausedTable.COLUMNS, "SELECT");
        }
        if (ReplayTable.of(inbox).exists(connection)) {
            check.table(replay, ReplayColumns.TYPES, "SELECT", "UPDATE")
                    .table(replayed, ReplayedTable.COLUMNS, "SELECT", "INSERT", "DELETE");
        }
        SchemaCheck.Session session = check.session();
        if (!check.problems().isEmpty()) {
            throw new SchemaException("The inbox cannot be used (" + session + "): "
                    + String.join("; ", check.problems()) + ". What is missing is created by: " + migrateCommand());
        }
        return (session.losesCommits()
                        ? "synchronous_commit is off: after a crash of the database, events whose offset is already "
                                + "committed may have lost their effect. "
                        : "")
                + (hasSource
                        ? ""
                        : "Events of two sources with one id still count as one event. Once all instances run this "
                                + "version: " + migrateCommand() + " --finish");
    }

    private String migrateCommand() {
        return "java -jar twinbox-inbox-cli.jar migrate --url jdbc:postgresql://<host>/<database> --user <owner>"
                + (inbox.schema() == null ? "" : " --schema '" + inbox.schema() + "'") + " --table '" + inbox.name()
                + "'";
    }
}
