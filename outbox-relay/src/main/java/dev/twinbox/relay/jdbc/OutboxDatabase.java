package dev.twinbox.relay.jdbc;

import dev.twinbox.config.Secret;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.relay.config.DatabaseUrl;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.PGProperty;
import org.postgresql.ds.PGSimpleDataSource;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Opens connections to PostgreSQL with the settings that the relay's statements need, and identifies the server. */
public final class OutboxDatabase {
    private static final Logger LOG = LoggerFactory.getLogger(OutboxDatabase.class);

    /**
     * Plans are made for the actual values, except where {@link OutboxTable} polls. The disabled scan types read whole
     * slots, and the planner chooses them if statistics are old or missing. A saved position must be durable before it
     * counts, see {@link Position}.
     *
     * <p>A policy of row-level security makes statements fail. Otherwise it would hide rows, and what the relay does not
     * see it takes for not written. A server that is fenced by {@code default_transaction_read_only} stays so. Limits of
     * the database for its applications would end the relay's session while it only waits.
     */
    private static final String SETTINGS = """
            -- relay: session settings
            select set_config('plan_cache_mode', 'force_custom_plan', false),
              set_config('enable_seqscan', 'off', false),
              set_config('enable_bitmapscan', 'off', false),
              set_config('jit', 'off', false),
              set_config('default_transaction_isolation', 'read committed', false),
              set_config('row_security', 'off', false),
              set_config('statement_timeout', ?, false),
              set_config('lock_timeout', '0', false),
              case when current_setting('server_version_num')::int >= 140000
                then set_config('idle_session_timeout', '0', false) end,
              set_config('synchronous_commit',
                case when current_setting('synchronous_commit') in ('off', 'local') then 'on'
                else current_setting('synchronous_commit') end, false)
            """;

    private static final String IDENTIFY = """
            -- relay: identify the server
            select system_identifier, pg_is_in_recovery() from pg_control_system()
            """;

    private static final String ONE_SNAPSHOT = """
            -- relay: one snapshot for the whole transaction
            set transaction isolation level repeatable read
            """;

    private static final String ALL_ROWS = "the relay must see all rows of its tables: give its role BYPASSRLS, or run "
            + "\"alter table … disable row level security\"";

    private static final String SERVES_AGAIN = "the server is fenced or no primary any more; the relay connects again "
            + "until twinbox.relay.database.url leads to the primary";

    private static final String OWN_SESSIONS =
            "another session answers, as behind a pooler in transaction mode; connect "
                    + "the relay to PostgreSQL itself, or to a pool in session mode";

    private static final String REPLICA_IDENTITY =
            "a publication for logical replication contains the table. Take it out "
                    + "of the publication until this is done, or run \"alter table … replica identity full\" for the table in "
                    + "the message and its siblings";

    /** The function of PostgreSQL that refuses to change rows of a published table without a key. */
    private static final String REPLICA_IDENTITY_CHECK = "CheckCmdReplicaIdentity";

    /** The function of PostgreSQL that refuses what a policy would hide. */
    private static final String ROW_SECURITY_CHECK = "check_enable_rls";

    /** The role of the server. */
    public enum Role {
        PRIMARY,
        STANDBY
    }

    /**
     * The server at the other end of a connection.
     *
     * @param systemIdentifier differs between clusters; equal in copies and standbys of one cluster
     */
    public record Server(long systemIdentifier, Role role) {}

    private final DataSource dataSource;
    private final Duration statementTimeout;

    public OutboxDatabase(RelayConfig config) {
        this(dataSource(config));
    }

    private OutboxDatabase(PGSimpleDataSource dataSource) {
        this(dataSource, Duration.ofSeconds(dataSource.getSocketTimeout()));
    }

    public OutboxDatabase(DataSource dataSource, Duration statementTimeout) {
        this.dataSource = dataSource;
        this.statementTimeout = statementTimeout;
    }

    /** Without timeouts, for work on whole tables. */
    public static OutboxDatabase withoutTimeouts(RelayConfig config) {
        PGSimpleDataSource source = dataSource(config);
        source.setSocketTimeout(0);
        return new OutboxDatabase(source, Duration.ZERO);
    }

    /** Unpooled. A connection that breaks silently is noticed after the socket timeout. */
    public static PGSimpleDataSource dataSource(RelayConfig config) {
        RelayConfig.Database database = config.database();
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(database.url());
        source.setUser(database.user());
        Secret password = database.password();
        if (password != null) {
            source.setPassword(password.value());
        }
        source.setApplicationName("twinbox-relay " + config.name());
        int connect = seconds(database.url(), "connectTimeout", seconds(database.connectTimeout()));
        source.setConnectTimeout(connect);
        setLoginTimeout(source, seconds(database.url(), "loginTimeout", connect));
        source.setSocketTimeout(seconds(database.url(), "socketTimeout", seconds(database.socketTimeout())));
        source.setTcpKeepAlive(true);
        if (source.getPrepareThreshold() == defaultPrepareThreshold()) {
            // Binary transfer starts with the first named execution. The URL may set another value, for a pooler.
            source.setPrepareThreshold(1);
        }
        return source;
    }

    /** A connection in auto-commit mode: each statement is a transaction, and none is open while events are sent. */
    public Connection connect() throws SQLException {
        Connection connection = dataSource.getConnection();
        try (PreparedStatement settings = connection.prepareStatement(SETTINGS)) {
            settings.setString(1, Long.toString(statementTimeout.toMillis()));
            settings.execute();
            return connection;
        } catch (SQLException | RuntimeException | Error e) {
            closeAfter(e, connection);
            throw e;
        }
    }

    public static Server identify(Connection connection) throws SQLException {
        try (PreparedStatement identify = connection.prepareStatement(IDENTIFY);
                ResultSet row = identify.executeQuery()) {
            row.next();
            return new Server(row.getLong(1), row.getBoolean(2) ? Role.STANDBY : Role.PRIMARY);
        }
    }

    /** All statements of the transaction that has just begun see the same rows. */
    static void useOneSnapshot(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(ONE_SNAPSHOT);
        }
    }

    /** Whether the server refused for good. A wrong password, database, table or privilege needs an operator. */
    public static boolean isRefusal(SQLException failure) {
        return exitCode(failure) != null;
    }

    /**
     * Whether a policy of row-level security would have hidden rows from the statement. Its SQLSTATE is that of a missing
     * privilege, and its text depends on the server's language.
     */
    public static boolean isRowSecurity(SQLException failure) {
        return isFrom(ROW_SECURITY_CHECK, failure);
    }

    private static boolean isFrom(String routine, SQLException failure) {
        ServerErrorMessage message = failure instanceof PSQLException sql ? sql.getServerErrorMessage() : null;
        return message != null && routine.equals(message.getRoutine());
    }

    /** Whether a prepared statement is missing, or is there already: a pooler mixes the sessions. */
    private static boolean isPooled(SQLException failure) {
        return SqlState.DUPLICATE_PREPARED_STATEMENT.isOf(failure) || SqlState.INVALID_SQL_STATEMENT_NAME.isOf(failure);
    }

    /** The message of a failure, with the remedy where {@link #remedy} knows one. */
    public static String explain(SQLException failure) {
        String remedy = remedy(failure);
        return failure.getMessage() + (remedy == null ? "" : ": " + remedy);
    }

    /** What to do about a failure whose message does not say it; null if it does, or is not known. */
    public static @Nullable String remedy(SQLException failure) {
        if (isRowSecurity(failure)) {
            return ALL_ROWS;
        }
        if (SqlState.READ_ONLY_SQL_TRANSACTION.isOf(failure)) {
            return SERVES_AGAIN;
        }
        if (isFrom(REPLICA_IDENTITY_CHECK, failure)) {
            return REPLICA_IDENTITY;
        }
        return isPooled(failure) ? OWN_SESSIONS : null;
    }

    /** The exit code of the process if the server refused for good; null if the fault may pass. */
    public static @Nullable ExitCode exitCode(SQLException failure) {
        if (SqlState.isLoginRefused(failure) || isPooled(failure)) {
            return ExitCode.DATABASE;
        }
        return SqlState.isSchemaWrong(failure) ? ExitCode.SCHEMA : null;
    }

    /**
     * Closes the socket without a message to the server, which may not answer. This also ends a statement that another
     * thread runs.
     */
    public static void abort(Connection connection) {
        try {
            connection.abort(Runnable::run);
        } catch (SQLException e) {
            LOG.debug("Could not close a database connection", e);
        }
    }

    private static void closeAfter(Throwable failure, Connection connection) {
        try {
            connection.close();
        } catch (SQLException e) {
            failure.addSuppressed(e);
        }
    }

    private static void setLoginTimeout(PGSimpleDataSource source, int seconds) {
        source.setLoginTimeout(seconds);
    }

    private static int defaultPrepareThreshold() {
        String value = PGProperty.PREPARE_THRESHOLD.getDefaultValue();
        return value == null ? 0 : Integer.parseInt(value);
    }

    /** What the URL says, or else the default. */
    private static int seconds(String url, String parameter, int other) {
        return DatabaseUrl.parameter(url, parameter).map(Integer::parseInt).orElse(other);
    }

    private static int seconds(Duration duration) {
        return (int) Math.max(1, Math.ceil(duration.toMillis() / 1000.0));
    }
}
