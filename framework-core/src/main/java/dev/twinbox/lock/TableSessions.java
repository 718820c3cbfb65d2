package dev.twinbox.lock;

import dev.twinbox.schema.LockSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Sessions of others that hold the table of locks or its sequence, for DDL or VACUUM FULL for example. */
final class TableSessions {

    /** Those that wait for the table count too: a grant queues up behind them. */
    private static final String SESSIONS = """
            -- locks: who holds the table
            select coalesce(string_agg(distinct pid::text, ', '), '')
              from pg_locks
             where locktype = 'relation'
               and database = (select oid from pg_database where datname = current_database())
               and relation in (%s::regclass, %s::regclass)
               and mode in ('ShareLock', 'ShareRowExclusiveLock', 'ExclusiveLock', 'AccessExclusiveLock')
               and pid <> pg_backend_pid()""";

    private final String sessions;

    TableSessions(LockSchema tables) {
        sessions =
                SESSIONS.formatted(tables.table().sqlLiteral(), tables.tokens().sqlLiteral());
    }

    /** The numbers of the sessions because of which no grant can use the table; empty if there is none. */
    String find(Connection connection) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sessions);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return String.valueOf(row.getString(1));
        }
    }
}
