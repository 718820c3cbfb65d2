package dev.twinbox.inbox.cli;

import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;
import picocli.CommandLine.Option;

/** Options that say where the tables are. */
final class Tables {

    private static final String PASSWORD = "TWINBOX_INBOX_DATABASE_PASSWORD";

    /** Unless the URL says how long an answer may take. */
    private static final int ANSWER_SECONDS = 15;

    private final Map<String, String> environment;

    /** Of this process. */
    Tables() {
        this(System.getenv());
    }

    Tables(Map<String, String> environment) {
        this.environment = environment;
    }

    @Option(names = "--url", description = "jdbc:postgresql://host:port/database; only migrate --print needs none.")
    private @Nullable String url;

    @Option(names = "--user", description = "Default: the URL's, or the system user.")
    private @Nullable String user;

    @Option(
            names = "--password",
            arity = "0..1",
            interactive = true,
            description = "Asked for when given without a value; default: environment variable " + PASSWORD
                    + ", then the file of passwords that PostgreSQL's tools use.")
    private @Nullable String password;

    @Option(names = "--schema", description = "Value of twinbox.inbox.schema; default: the first of the search_path.")
    private @Nullable String schema;

    @Option(
            names = "--table",
            defaultValue = "inbox_event",
            description = "Value of twinbox.inbox.table; default: ${DEFAULT-VALUE}.")
    private String table;

    SqlIdentifier inbox() {
        return new SqlIdentifier(schema, table);
    }

    SqlIdentifier parked() {
        return ParkedTable.name(inbox());
    }

    /** A policy of row-level security makes statements fail here, where it would hide rows. */
    Connection connect() throws SQLException {
        return connect(dataSource());
    }

    /** As {@link #connect}, for a server: a database that is frozen must not hold its threads for ever. */
    Connection connectInTime() throws SQLException {
        PGSimpleDataSource dataSource = dataSource();
        if (dataSource.getSocketTimeout() == 0) {
            dataSource.setSocketTimeout(ANSWER_SECONDS);
        }
        return connect(dataSource);
    }

    private static Connection connect(PGSimpleDataSource dataSource) throws SQLException {
        Connection connection = dataSource.getConnection();
        try (Statement statement = connection.createStatement()) {
            statement.execute("set row_security = off");
            return connection;
        } catch (SQLException e) {
            connection.close();
            throw e;
        }
    }

    /** @throws IllegalArgumentException if the URL is missing or wrong */
    PGSimpleDataSource dataSource() {
        if (url == null) {
            throw new IllegalArgumentException("--url is missing: give jdbc:postgresql://host:port/database");
        }
        PGSimpleDataSource dataSource = new PGSimpleDataSource();
        dataSource.setUrl(url); // an IllegalArgumentException says what a URL has to look like
        if (user != null) {
            dataSource.setUser(user);
        }
        // Not a default of the option: the command line's library would change a "$$" in it.
        String secret = password == null ? environment.get(PASSWORD) : password;
        if (secret != null && !secret.isEmpty()) {
            dataSource.setPassword(secret);
        }
        return dataSource;
    }
}
