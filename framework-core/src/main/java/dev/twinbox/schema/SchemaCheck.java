package dev.twinbox.schema;

import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * Checks whether a connection finds the tables that it needs, and collects what is missing. It reads only the catalog,
 * which every role may read, so it works for a role that may only insert.
 */
public final class SchemaCheck {

    private static final int OLDEST_SERVER = 140_000;

    private static final String SERVER = """
            -- check: server
            select current_setting('server_version_num')::int, current_setting('server_version'),
                   current_setting('server_encoding')
            """;

    private static final String SESSION = """
            -- check: session
            select pg_is_in_recovery(), current_setting('synchronous_commit'),
                   current_database(), current_setting('search_path')
            """;

    private static final String QUALIFIED = """
            -- check: relation in a schema
            select c.oid, has_schema_privilege(n.oid, 'USAGE')
              from pg_catalog.pg_namespace n
              left join pg_catalog.pg_class c on c.relnamespace = n.oid and c.relname = ?
             where n.nspname = ?
            """;

    private static final String BY_SEARCH_PATH = """
            -- check: relation by search path
            select pg_catalog.to_regclass(?)::oid, current_setting('search_path')
            """;

    private static final String COLUMNS = """
            -- check: columns
            select attname, pg_catalog.format_type(atttypid, null)
              from pg_catalog.pg_attribute
             where attrelid = ?::oid and attnum > 0 and not attisdropped
            """;

    private static final String UNIQUE = """
            -- check: unique index
            select exists (
              select 1 from pg_catalog.pg_index x
               where x.indrelid = ?::oid and x.indisunique and x.indisvalid and x.indpred is null
                 and (select array_agg(a.attname::text order by a.attname::text)
                        from pg_catalog.pg_attribute a
                       where a.attrelid = x.indrelid and a.attnum = any (x.indkey::smallint[]))
                     = (select array_agg(c order by c) from unnest(?::text[]) c))
            """;

    private static final String TABLE_PRIVILEGE = """
            -- check: table privilege
            select has_table_privilege(?::oid, ?), current_user
            """;

    private static final String SEQUENCE_PRIVILEGE = """
            -- check: sequence privilege
            select has_sequence_privilege(?::oid, ?), current_user
            """;

    /** Whether policies apply to the role, which may hide rows from it. Owners and BYPASSRLS are taken into account. */
    private static final String ROW_SECURITY = """
            -- check: row-level security
            select pg_catalog.row_security_active(?::oid), current_user
            """;

    private final Connection connection;
    private final Map<SqlIdentifier, Long> found = new HashMap<>();
    private final List<String> problems = new ArrayList<>();

    /**
     * What a connection is to the server.
     *
     * @param isStandby whether the server only reads
     * @param synchronousCommit the setting: {@code off} means that a crash of the server may lose committed
     *     transactions
     * @param database name of the database
     * @param searchPath where names without a schema are looked for
     */
    public record Session(boolean isStandby, String synchronousCommit, String database, String searchPath) {

        /** Whether a crash of the server may lose what it has reported as committed. */
        public boolean losesCommits() {
            return synchronousCommit.equals("off");
        }

        /** For messages. */
        @Override
        public String toString() {
            return "database " + database + ", search_path " + searchPath;
        }
    }

    /** @param connection of the role whose privileges count */
    public SchemaCheck(Connection connection) {
        this.connection = connection;
    }

    /** The problems found so far, one sentence each; empty if there are none. */
    public List<String> problems() {
        return List.copyOf(problems);
    }

    /** The server is PostgreSQL 14 or later, the encoding UTF8. */
    public SchemaCheck server() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SERVER)) {
            row.next();
            if (row.getInt(1) < OLDEST_SERVER) {
                problems.add("PostgreSQL " + row.getString(2) + " is too old: 14 or later is needed");
            }
            if (!row.getString(3).equals("UTF8")) {
                problems.add("the database's encoding is " + row.getString(3)
                        + ", which cannot hold every text: create it with encoding UTF8");
            }
        }
        return this;
    }

    /** The server can be written: it is not a standby. */
    public SchemaCheck primary() throws SQLException {
        if (session().isStandby()) {
            problems.add("the server is a standby, which cannot be written: connect to the primary");
        }
        return this;
    }

    /** What the connection is to the server. */
    public Session session() throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(SESSION)) {
            row.next();
            return new Session(row.getBoolean(1), row.getString(2), row.getString(3), row.getString(4));
        }
    }

    /**
     * The table exists, with these columns, may be used, and no row of it is hidden from the role.
     *
     * @param columns name and type, as {@code format_type} writes it; further columns are no problem
     * @param privileges what the connection's role must be allowed, for example {@code INSERT}
     */
    public SchemaCheck table(SqlIdentifier table, Map<String, String> columns, String... privileges)
            throws SQLException {
        long oid = find("table", table);
        if (oid != 0) {
            checkColumns(table, oid, columns);
            for (String privilege : privileges) {
                checkPrivilege(TABLE_PRIVILEGE, "table " + table, oid, privilege);
            }
            checkRowSecurity(table, oid);
        }
        return this;
    }

    /**
     * No row of the table is hidden from the connection's role.
     *
     * @param table must exist
     */
    public SchemaCheck allRows(SqlIdentifier table) throws SQLException {
        long oid = find("table", table);
        if (oid != 0) {
            checkRowSecurity(table, oid);
        }
        return this;
    }

    /**
     * The table has a unique index on these columns and no others, in any order.
     *
     * @param why what would go wrong without it, as the end of a sentence
     */
    public SchemaCheck unique(SqlIdentifier table, List<String> columns, String why) throws SQLException {
        long oid = find("table", table);
        if (oid != 0) {
            try (PreparedStatement statement = connection.prepareStatement(UNIQUE)) {
                statement.setLong(1, oid);
                statement.setArray(2, connection.createArrayOf("text", columns.toArray()));
                try (ResultSet row = statement.executeQuery()) {
                    row.next();
                    if (!row.getBoolean(1)) {
                        problems.add("table " + table + " has no unique index on (" + String.join(", ", columns)
                                + "), without which " + why + ": restore its primary key");
                    }
                }
            }
        }
        return this;
    }

    /**
     * The sequence exists and may be used.
     *
     * @param privilege what the connection's role must be allowed, for example {@code USAGE}
     */
    public SchemaCheck sequence(SqlIdentifier sequence, String privilege) throws SQLException {
        long oid = find("sequence", sequence);
        if (oid != 0) {
            checkPrivilege(SEQUENCE_PRIVILEGE, "sequence " + sequence, oid, privilege);
        }
        return this;
    }

    /** The oid; 0, which no relation has, if it does not exist, which is one problem then. */
    private long find(String kind, SqlIdentifier name) throws SQLException {
        Long known = found.get(name);
        if (known != null) {
            return known;
        }
        String schema = name.schema();
        long oid = schema == null ? findBySearchPath(kind, name) : findInSchema(kind, name, schema);
        found.put(name, oid);
        return oid;
    }

    /** <b>Remedy.</b> Run {@code migrate} as the owner of the tables. */
    private long findBySearchPath(String kind, SqlIdentifier name) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(BY_SEARCH_PATH)) {
            statement.setString(1, name.sql());
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                long oid = row.getLong(1);
                if (oid == 0) {
                    problems.add(kind + " " + name + " does not exist in the connection's search_path ("
                            + row.getString(2) + ")");
                }
                return oid;
            }
        }
    }

    /** <b>Remedy.</b> Run {@code migrate} as the owner of the tables. */
    private long findInSchema(String kind, SqlIdentifier name, String schema) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(QUALIFIED)) {
            statement.setString(1, name.name());
            statement.setString(2, schema);
            try (ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    problems.add(kind + " " + name + " does not exist: neither does its schema");
                    return 0;
                }
                long oid = row.getLong(1);
                if (!row.getBoolean(2)) {
                    problems.add("the connection's role may not use schema " + SqlIdentifier.quote(schema)
                            + ": grant usage on it");
                    return 0;
                }
                if (oid == 0) {
                    problems.add(kind + " " + name + " does not exist");
                }
                return oid;
            }
        }
    }

    /** <b>Remedy.</b> Run {@code migrate} as the owner of the tables. */
    private void checkColumns(SqlIdentifier table, long oid, Map<String, String> columns) throws SQLException {
        Map<String, String> found = new HashMap<>();
        try (PreparedStatement statement = connection.prepareStatement(COLUMNS)) {
            statement.setLong(1, oid);
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    found.put(row.getString(1), row.getString(2));
                }
            }
        }
        columns.forEach((column, type) -> {
            String actual = found.get(column);
            if (actual == null) {
                problems.add("table " + table + " has no column " + column);
            } else if (!actual.equals(type)) {
                problems.add("column " + column + " of table " + table + " is " + actual + " instead of " + type);
            }
        });
    }

    private void checkRowSecurity(SqlIdentifier table, long oid) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(ROW_SECURITY)) {
            statement.setLong(1, oid);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                if (row.getBoolean(1)) {
                    problems.add("row-level security of table " + table + " applies to role "
                            + SqlIdentifier.quote(row.getString(2)) + " and can hide rows from it: run \"alter table "
                            + table + " disable row level security\". A role that is only for Twinbox can have "
                            + "BYPASSRLS instead");
                }
            }
        }
    }

    private void checkPrivilege(String sql, String name, long oid, String privilege) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.setLong(1, oid);
            statement.setString(2, privilege);
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                if (!row.getBoolean(1)) {
                    problems.add("role " + SqlIdentifier.quote(row.getString(2)) + " lacks " + privilege + " on " + name
                            + ": grant " + privilege.toLowerCase(Locale.ROOT) + " on " + name + " to "
                            + SqlIdentifier.quote(row.getString(2)));
                }
            }
        }
    }
}
