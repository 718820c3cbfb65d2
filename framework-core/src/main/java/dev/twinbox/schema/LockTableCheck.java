package dev.twinbox.schema;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** What lets every grant of a lock fail, or lets a token come again, although table, columns and privileges are there. */
final class LockTableCheck {

    private static final String LOOK = """
            -- check: table of locks
            select current_setting('transaction_read_only') = 'on',
                   (select string_agg(quote_ident(attname), ', ' order by attnum)
                      from pg_catalog.pg_attribute
                     where attrelid = ?::regclass and attnum > 0 and not attisdropped
                       and attnotnull and not atthasdef and attidentity = '' and attname <> all (?)),
                   seqcycle or seqincrement < 1
              from pg_catalog.pg_sequence
             where seqrelid = ?::regclass
            """;

    private final SqlIdentifier table;
    private final SqlIdentifier tokens;
    private final Set<String> columns;

    /** @param columns that a grant fills in */
    LockTableCheck(SqlIdentifier table, SqlIdentifier tokens, Set<String> columns) {
        this.table = table;
        this.tokens = tokens;
        this.columns = columns;
    }

    /** One sentence for each problem; table and sequence must exist. */
    List<String> problems(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOOK)) {
            statement.setString(1, table.sql());
            statement.setArray(2, connection.createArrayOf("name", columns.toArray()));
            statement.setString(3, tokens.sql());
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? problems(row.getBoolean(1), row.getString(2), row.getBoolean(3))
                        : List.of(tokens + " is no sequence: restore it");
            }
        }
    }

    private List<String> problems(boolean isReadOnly, @Nullable String required, boolean comesAgain) {
        List<String> problems = new ArrayList<>();
        if (isReadOnly) {
            problems.add("transactions are read-only by default, and every grant writes: set "
                    + "default_transaction_read_only to off for the role, the database or the data source");
        }
        if (required != null) {
            problems.add("table " + table + " has columns that must not be null and have no default (" + required
                    + "): give them a default, or remove them");
        }
        if (comesAgain) {
            problems.add("sequence " + tokens + " cycles or falls, so an earlier holder's token can come again: "
                    + "run \"alter sequence " + tokens + " increment by 1 no cycle\"");
        }
        return problems;
    }
}
