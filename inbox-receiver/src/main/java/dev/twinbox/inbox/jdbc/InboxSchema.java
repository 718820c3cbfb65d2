package dev.twinbox.inbox.jdbc;

import dev.twinbox.SchemaException;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.schema.SchemaCheck;
import dev.twinbox.schema.SchemaMigration;
import dev.twinbox.schema.SchemaScript;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Map;
import javax.sql.DataSource;

/** The tables of the receiver as a whole: creates them, and checks that they are there, are as needed and may be used. */
public final class InboxSchema {

    private static final String LOCATION = "dev/twinbox/inbox/schema";

    private final SqlIdentifier inbox;
    private final SqlIdentifier parked;
    private final SqlIdentifier retention;
    private final SqlIdentifier offset;

    /**
     * An inbox table and the tables that are named after it.
     *
     * @throws IllegalArgumentException if the name is too long for those
     */
    public InboxSchema(SqlIdentifier inbox) {
        this.inbox = inbox;
        this.parked = ParkedTable.name(inbox);
        this.retention = RetentionTable.name(inbox);
        this.offset = OffsetTable.name(inbox);
    }

    /**
     * Creates the tables, or brings them to the version that this code needs. A schema that does not exist is created.
     *
     * @param dataSource connects as the owner of the tables
     */
    public SchemaMigration.Result migrate(DataSource dataSource) {
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
        return Map.of(
                "inbox", inbox.sql(),
                "inbox_literal", inbox.sqlLiteral(),
                "parked", parked.sql(),
                "retention", retention.sql(),
                "offset", offset.sql());
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
                .table(inbox, InboxTable.COLUMNS, "SELECT", "INSERT", "DELETE")
                .unique(inbox, InboxTable.PRIMARY_KEY, "duplicates would not be noticed")
                .table(parked, ParkedColumns.TYPES, "SELECT", "INSERT", "UPDATE", "DELETE")
                .table(retention, RetentionTable.COLUMNS, "SELECT", "INSERT", "UPDATE")
                .table(offset, OffsetTable.COLUMNS, "SELECT", "INSERT", "UPDATE");
        SchemaCheck.Session session = check.session();
        if (!check.problems().isEmpty()) {
            throw new SchemaException("The inbox cannot be used (" + session + "): "
                    + String.join("; ", check.problems()) + ". What is missing is created by: " + migrateCommand());
        }
        return session.losesCommits()
                ? "synchronous_commit is off: after a crash of the database, events whose offset is already committed "
                        + "may have lost their effect"
                : "";
    }

    private String migrateCommand() {
        return "java -jar twinbox-inbox-cli.jar migrate --url jdbc:postgresql://<host>/<database> --user <owner>"
                + (inbox.schema() == null ? "" : " --schema '" + inbox.schema() + "'") + " --table '" + inbox.name()
                + "'";
    }
}
