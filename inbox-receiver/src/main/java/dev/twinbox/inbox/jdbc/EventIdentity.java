package dev.twinbox.inbox.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.jdbc.Transactions;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;

/**
 * Makes the source a part of the keys of inbox and parked table.
 *
 * <p>Receivers write the source in any case. As long as the keys are without it, two events of one id are one event, as
 * in the previous version. So instances of both versions can run at the same time: of two that claim an event, one gets
 * it. Once the keys have the source, an instance of the previous version, which writes none, could claim an event while
 * one of this version claims it. So this step comes when all instances have this version.
 */
final class EventIdentity {

    private static final String KEY = "consumer_group, handler, event_id";
    private static final String NEW_KEY = KEY + ", event_source";
    private static final String OF_HANDLER = " where handler is not null";

    /** Indexes of a table that are unique and begin with the key, and whether they are usable. */
    private static final String INDEXES = """
            -- inbox: unique indexes
            select quote_ident(x.relname) as name, quote_ident(n.nspname) || '.' || quote_ident(x.relname) as full_name,
                   i.indisvalid,
                   (select string_agg(a.attname, ', ' order by k.place)
                      from unnest(i.indkey::smallint[]) with ordinality as k (attnum, place)
                      join pg_catalog.pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum) as columns,
                   (select quote_ident(c.conname) from pg_catalog.pg_constraint c where c.conindid = i.indexrelid
                       and c.contype = 'p') as constraint_name
              from pg_catalog.pg_index i
              join pg_catalog.pg_class x on x.oid = i.indexrelid
              join pg_catalog.pg_namespace n on n.oid = x.relnamespace
             where i.indrelid = to_regclass(?) and i.indisunique""";

    /** A batch ends within seconds; whoever waits for longer is better asked again than made to hold up all others. */
    private static final String LOCK = "set local lock_timeout = '3s'";

    private static final int MOST_TRIES = 40;

    private final SqlIdentifier inbox;
    private final SqlIdentifier parked;

    public EventIdentity(SqlIdentifier inbox) {
        this.inbox = inbox;
        this.parked = ParkedTable.name(inbox);
    }

    private record Index(String name, String fullName, boolean isValid, String columns, String constraint) {}

    private static List<Index> indexes(Connection connection, SqlIdentifier table) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(INDEXES)) {
            statement.setString(1, table.sql());
            List<Index> found = new ArrayList<>();
            try (ResultSet rows = statement.executeQuery()) {
                while (rows.next()) {
                    String constraint = rows.getString("constraint_name");
                    found.add(new Index(
                            rows.getString("name"),
                            rows.getString("full_name"),
                            rows.getBoolean("indisvalid"),
                            rows.getString("columns"),
                            constraint == null ? "" : constraint));
                }
            }
            return found;
        }
    }

    /** Whether the source is part of the keys. */
    public boolean hasSource(Connection connection) throws SQLException {
        return indexes(connection, inbox).stream()
                .noneMatch(index -> index.columns().equals(KEY));
    }

    /**
     * Changes the keys. Builds the new indexes while the applications run, and exchanges them in a moment when no claim is
     * in progress. It is idempotent.
     *
     * @param connection of the tables' owner, in auto-commit mode
     * @return whether there was anything to do
     */
    public boolean addSource(Connection connection) throws SQLException {
        if (hasSource(connection)) {
            return false;
        }
        String inboxIndex = build(connection, inbox, "");
        build(connection, parked, OF_HANDLER);
        for (int tries = 1; ; tries++) {
            try {
                Transactions.inTransaction(connection, () -> exchange(connection, inboxIndex));
                return true;
            } catch (SQLException e) {
                if (!"55P03".equals(e.getSQLState()) || tries == MOST_TRIES) {
                    throw e;
                }
            }
        }
    }

    /** Returns the name of the index. */
    private static String build(Connection connection, SqlIdentifier table, String condition) throws SQLException {
        for (Index index : indexes(connection, table)) {
            if (index.columns().equals(NEW_KEY)) {
                if (index.isValid()) {
                    return index.name();
                }
                execute(
                        connection,
                        "drop index concurrently " + index.fullName()); // left by an attempt that was interrupted
            }
        }
        execute(connection, "create unique index concurrently on " + table.sql() + " (" + NEW_KEY + ")" + condition);
        return indexes(connection, table).stream()
                .filter(index -> index.columns().equals(NEW_KEY) && index.isValid())
                .findFirst()
                .orElseThrow(() -> new SQLException("the new index of " + table + " is not valid: run it again"))
                .name();
    }

    private void exchange(Connection connection, String inboxIndex) throws SQLException {
        execute(connection, LOCK);
        execute(connection, "lock table " + inbox.sql() + ", " + parked.sql() + " in access exclusive mode");
        for (Index index : indexes(connection, inbox)) {
            if (index.columns().equals(KEY) && !index.constraint().isEmpty()) {
                execute(connection, "alter table " + inbox.sql() + " drop constraint " + index.constraint());
            } else if (index.columns().equals(KEY)) {
                execute(connection, "drop index " + index.fullName());
            }
        }
        execute(connection, "alter table " + inbox.sql() + " add primary key using index " + inboxIndex);
        for (Index index : indexes(connection, parked)) {
            if (index.columns().equals(KEY)) {
                execute(connection, "drop index " + index.fullName());
            }
        }
    }

    private static void execute(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("-- inbox: make the source a part of the keys\n" + sql);
        }
    }
}
