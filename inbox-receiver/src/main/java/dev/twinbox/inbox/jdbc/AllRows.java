package dev.twinbox.inbox.jdbc;

import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Statements that fail while row-level security hides rows from the role. A row that is hidden would be taken for one
 * that is not there: an event would be handled twice, skipped or overtaken.
 *
 * <p>The setting is part of the same round trip and is reset at its end. So it does not affect the statements of the
 * handlers in this transaction.
 */
final class AllRows {

    private static final String REQUIRED = """
            select set_config('row_security', 'off', true);
            %s;
            select set_config('row_security', null, true)""";

    private AllRows() {}

    /** The query, so that it fails while rows are hidden. */
    static String required(String query) {
        return REQUIRED.formatted(query);
    }

    /** Executes what {@link #required} has made. The caller closes the rows with the statement. */
    static ResultSet query(PreparedStatement statement) throws SQLException {
        statement.execute();
        statement.getMoreResults(); // after the result of the setting
        return statement.getResultSet();
    }
}
