package dev.twinbox.schema;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
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

    private final LockSchema tables;

    LockTableCheck(LockSchema tables) {
        this.tables = tables;
    }

    /** One sentence for each problem; table and sequence must exist. */
    List<String> problems(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(LOOK)) {
            statement.setString(1, tables.table().sql());
            statement.setArray(
                    2,
                    connection.createArrayOf("name", LockSchema.COLUMNS.keySet().toArray()));
            statement.setString(3, tables.tokens().sql());
            try (ResultSet row = statement.executeQuery()) {
                return row.next()
                        ? problems(row.getBoolean(1), row.getString(2), row.getBoolean(3))
                        : List.of(tables.tokens() + " is no sequence: restore it");
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
            problems.add("table " + tables.table() + " has columns that must not be null and have no default ("
                    + required + "): give them a default, or remove them");
        }
        if (comesAgain) {
            problems.add(
                    "sequence " + tables.tokens() + " cycles or falls, so an earlier holder's token can come again: "
                            + "run \"alter sequence " + tables.tokens() + " increment by 1 no cycle\"");
        }
        return problems;
    }
}
