package dev.twinbox.lock;

import dev.twinbox.schema.LockSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Whether locks were taken in another table than the configured one. Holders in two tables do not exclude each other. The
 * sequence knows, also when all rows are gone.
 */
final class OtherTable {

    /** The cases are evaluated in order: none fails for what is no sequence, or belongs to others. */
    private static final String USED = """
            -- locks: was another table used
            select exists (
              select from pg_catalog.pg_class c join pg_catalog.pg_namespace n on n.oid = c.relnamespace
               where c.relname = ?
                 and case
                   when ?::text is null then pg_catalog.pg_table_is_visible(c.oid)
                   else n.nspname = ?::text end
                 and c.oid <> ?::regclass
                 and case
                   when c.relkind <> 'S' then false
                   when has_sequence_privilege(c.oid, 'USAGE, SELECT') then pg_sequence_last_value(c.oid) is not null
                   else false end)""";

    private OtherTable() {}

    /**
     * Whether the connection's role may have been granted locks there.
     *
     * @param used must exist
     */
    static boolean isUsed(Connection connection, LockSchema other, LockSchema used) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(USED)) {
            statement.setString(1, other.tokens().name());
            statement.setString(2, other.tokens().schema());
            statement.setString(3, other.tokens().schema());
            statement.setString(4, used.tokens().sql());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        }
    }
}
