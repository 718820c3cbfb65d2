package dev.twinbox.schema;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;

/**
 * The table of locks and the sequence of their tokens. They belong to an outbox or to an inbox, and its {@code migrate}
 * creates them.
 *
 * @param table {@code outbox_lock} for {@code outbox_event}
 */
public record LockSchema(SqlIdentifier table) {

    /** The columns of the table, with their types as {@code format_type} writes them. */
    public static final Map<String, String> COLUMNS =
            Map.of("key", "text", "token", "bigint", "lease_until", "timestamp with time zone");

    /**
     * The locks that belong to a table of events.
     *
     * @param events the event table of an outbox, or the table of an inbox
     * @throws IllegalArgumentException if the name is too long
     */
    public static LockSchema of(SqlIdentifier events) {
        return new LockSchema(events.sibling("_lock"));
    }

    /** @throws IllegalArgumentException if the name of the sequence is too long */
    public LockSchema {
        SqlIdentifier.check(
                "the longest name derived from the table,", tokens(table).name());
    }

    /** The sequence of tokens. */
    public SqlIdentifier tokens() {
        return tokens(table);
    }

    /** What the migrations call the table and the sequence. */
    public Map<String, String> placeholders() {
        return Map.of("lock", table.sql(), "lock_tokens", tokens().sql());
    }

    /**
     * What keeps the connection's role from using locks, one sentence each; empty if nothing does. The role needs {@code
     * SELECT}, {@code INSERT}, {@code UPDATE} and {@code DELETE} on the table, and {@code USAGE} on the sequence.
     *
     * @param connection in a transaction as grants have it
     */
    public List<String> problems(Connection connection) throws SQLException {
        List<String> problems = new SchemaCheck(connection)
                .server()
                .primary()
                .table(table, COLUMNS, "SELECT", "INSERT", "UPDATE", "DELETE")
                .sequence(tokens(), "USAGE")
                .unique(table, List.of("key"), "no key can be granted for the first time")
                .problems();
        return problems.isEmpty()
                ? new LockTableCheck(table, tokens(), COLUMNS.keySet()).problems(connection)
                : problems;
    }

    private static SqlIdentifier tokens(SqlIdentifier table) {
        return table.withSuffix("_token");
    }
}
