package dev.twinbox.lock;

import dev.twinbox.schema.LockSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;

/**
 * Rows of keys whose leases are long over. A lease of Redis is not ended in the row, so rows of keys that nobody uses
 * again stay.
 */
final class OldRows {

    /** So many at a time, each time in a transaction of its own. */
    static final int AT_ONCE = 1_000;

    private static final String REMOVE = """
            -- locks: remove old rows
            delete from %1$s
             where key in (
               select key from %1$s where lease_until < clock_timestamp() - interval '24 hours'
                limit %2$d for update skip locked)""";

    private final String remove;

    /** @param limited the statement before it, which limits its waiting */
    OldRows(LockSchema tables, String limited) {
        remove = limited + REMOVE.formatted(tables.table().sql(), AT_ONCE);
    }

    /** Returns the number of rows, {@link #AT_ONCE} at most. */
    int remove(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(remove)) {
            statement.execute();
            statement.getMoreResults(); // the first result is that of the limit
            return statement.getUpdateCount();
        }
    }
}
