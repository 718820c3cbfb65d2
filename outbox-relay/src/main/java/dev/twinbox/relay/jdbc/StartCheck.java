package dev.twinbox.relay.jdbc;

import dev.twinbox.config.Secret;
import dev.twinbox.jdbc.SharedProcess;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.config.RelaySettings;
import dev.twinbox.schema.OutboxSchema;
import dev.twinbox.schema.SchemaCheck;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Checks that the database is as the relay needs it, and reports all problems at once. */
public final class StartCheck {
    private static final Logger LOG = LoggerFactory.getLogger(StartCheck.class);

    private static final Map<String, String> POSITION_COLUMNS = Map.of(
            "slot", "smallint",
            "relay", "text",
            "number", "bigint",
            "epoch", "bigint",
            "window_from", "pg_snapshot",
            "window_to", "pg_snapshot",
            "seq", "bigint",
            "saved_at", "timestamp with time zone");

    private static final Map<String, String> LEASE_COLUMNS = Map.of(
            "relay", "text",
            "owner", "uuid",
            "epoch", "bigint",
            "ends_at", "timestamp with time zone",
            "system_identifier", "bigint",
            "events", "text");

    private static final Map<String, String> PARKED_COLUMNS = Map.of(
            "relay", "text",
            "number", "bigint",
            "state", "text",
            "partition", "integer",
            "error", "text",
            "attempts", "integer",
            "since", "timestamp with time zone");

    /** The additional columns for exactly-once publication. */
    private static final Map<String, String> PREPARED_COLUMNS = Map.of(
            "committed", "bigint",
            "next_from", "pg_snapshot",
            "next_to", "pg_snapshot",
            "next_seq", "bigint");

    private static final Map<String, String> EXACTLY_ONCE_COLUMNS = Map.of("exactly_once", "uuid");

    private static final Map<String, String> UNDECIDED_COLUMNS = Map.of("decided_state", "text", "sent_as", "bigint");

    private static final Map<String, String> PAUSED_COLUMNS =
            Map.of("relay", "text", "topic", "text", "since", "timestamp with time zone");

    /** The version from which on events can be sent again. */
    static final int RESEND_SINCE = 11;

    private static final Map<String, String> RESEND_COLUMNS =
            Map.of("relay", "text", "number", "bigint", "state", "text", "after_seq", "bigint");

    private StartCheck() {}

    /**
     * Fails if the database is not as the relay needs it.
     *
     * @throws RelayException with {@link ExitCode#SCHEMA}, which lists all that is missing
     */
    public static void verify(Connection connection, RelayConfig config) throws SQLException {
        refuseOld(connection, config);
        List<String> problems = problems(connection, config);
        if (!problems.isEmpty()) {
            throw new RelayException(
                    ExitCode.SCHEMA,
                    "the outbox of " + Secret.masked(config.database().url()) + " is not as the relay needs it; "
                            + "\"twinbox-relay migrate\" creates missing tables and columns; "
                            + "grant missing privileges yourself\n  - "
                            + String.join("\n  - ", problems));
        }
        reportOld(config, config.tables().version(connection));
    }

    private static void reportOld(RelayConfig config, int version) {
        if (version < OutboxSchema.ANY_EVENT_CAN_BE_PARKED) {
            LOG.warn(
                    "The tables of {} have version {}: an event with a key of more than 2,700 bytes cannot be parked, and "
                            + "would hold up all others. Run \"twinbox-relay migrate\" as their owner",
                    config.tables().events(),
                    version);
        }
    }

    /**
     * Fails if the database is behind a pooler in transaction mode. The relay's settings would not hold there: that
     * saves are durable, and that no row is hidden.
     */
    public static void refuseTransactionPooling(Connection connection, OutboxDatabase database, RelayConfig config)
            throws SQLException {
        try (Connection other = database.connect()) {
            if (SharedProcess.isShared(connection, other)) {
                throw new RelayException(
                        ExitCode.DATABASE,
                        Secret.masked(config.database().url())
                                + " leads to a pooler in transaction mode: two connections "
                                + "have the same server process in turn, so the relay's settings of a session do not "
                                + "hold. Connect the relay to PostgreSQL itself, or to a pool in session mode "
                                + "(PgBouncer: pool_mode = session)");
            }
        }
    }

    /** The result of {@link #verify} as text for the status. */
    public static String state(Connection connection, RelayConfig config) throws SQLException {
        List<String> problems = problems(connection, config);
        int version = config.tables().version(connection);
        String newest = version == OutboxSchema.VERSION ? "" : " (\"migrate\" makes it " + OutboxSchema.VERSION + ")";
        return ", version " + version + newest
                + (problems.isEmpty() ? ", as this relay needs them" : ": " + String.join("; ", problems));
    }

    /** Tables that are too old lack so much that a list of it all would hide the remedy. */
    private static void refuseOld(Connection connection, RelayConfig config) throws SQLException {
        int version = config.tables().version(connection);
        if (version > 0 && version < OutboxSchema.OLDEST_VERSION) {
            throw new RelayException(
                    ExitCode.SCHEMA,
                    "the outbox " + config.tables().events() + " of "
                            + Secret.masked(config.database().url()) + " has version " + version
                            + "; this relay works with versions " + OutboxSchema.OLDEST_VERSION + " to "
                            + OutboxSchema.VERSION + ": run \"twinbox-relay migrate\" as the tables' owner");
        }
    }

    private static List<String> problems(Connection connection, RelayConfig config) throws SQLException {
        SchemaCheck check = new SchemaCheck(connection)
                .server()
                .table(config.tables().events(), OutboxSchema.EVENT_COLUMNS, "SELECT")
                .table(
                        config.tables().position(),
                        columns(config, POSITION_COLUMNS, PREPARED_COLUMNS),
                        "SELECT",
                        "INSERT")
                .table(
                        config.tables().lease(),
                        columns(config, LEASE_COLUMNS, EXACTLY_ONCE_COLUMNS),
                        "SELECT",
                        "INSERT",
                        "UPDATE")
                .table(
                        config.tables().parked(),
                        columns(config, PARKED_COLUMNS, UNDECIDED_COLUMNS),
                        "SELECT",
                        "INSERT",
                        "UPDATE",
                        "DELETE");
        if (ScheduledEvents.areKnownTo(connection, config.tables())) {
            check.allRows(config.tables().scheduled());
        }
        if (new PausedTopicTable(connection, config.tables(), config.name()).exists()) {
            check.table(config.tables().paused(), PAUSED_COLUMNS, "SELECT");
        }
        if (config.tables().version(connection) >= RESEND_SINCE) {
            check.table(config.tables().resend(), RESEND_COLUMNS, "SELECT", "UPDATE");
        }
        return check.problems();
    }

    private static Map<String, String> columns(
            RelayConfig config, Map<String, String> always, Map<String, String> withExactlyOnce) {
        Map<String, String> columns = new HashMap<>(always);
        if (config.delivery().mode() == DeliveryMode.EXACTLY_ONCE) {
            columns.putAll(withExactlyOnce);
        }
        return columns;
    }

    /** The error of a command that cannot wait for the database. */
    public static RelayException refusal(RelayConfig config, SQLException failure) {
        if (SqlState.CONNECTION_EXCEPTION.isOf(failure) || SqlState.isTimeout(failure)) {
            return noAnswer(config, failure);
        }
        ExitCode meant = OutboxDatabase.exitCode(failure);
        ExitCode exitCode = meant == null ? ExitCode.DATABASE : meant;
        String known = OutboxDatabase.remedy(failure);
        String remedy = known == null ? remedy(meant) : known;
        return new RelayException(
                exitCode,
                "PostgreSQL at " + Secret.masked(config.database().url()) + " refused: " + failure.getMessage() + "; "
                        + remedy,
                failure);
    }

    private static String remedy(@Nullable ExitCode meant) {
        if (meant == ExitCode.SCHEMA) {
            return "create the tables with \"twinbox-relay migrate\", or grant the missing privileges";
        }
        return meant == ExitCode.DATABASE
                ? "check " + RelaySettings.DATABASE_URL.key() + ", user and password"
                : "mend what PostgreSQL names, and run the command again";
    }

    private static RelayException noAnswer(RelayConfig config, SQLException failure) {
        String url = Secret.masked(config.database().url());
        String key = RelaySettings.DATABASE_URL.key();
        String timeout = SqlState.UNABLE_TO_CONNECT.isOf(failure) ? "connectTimeout and loginTimeout" : "socketTimeout";
        String message = SqlState.isTimeout(failure)
                ? "PostgreSQL at " + url + " did not answer in time: " + failure.getMessage()
                        + "; check host and port in " + key
                        + " and the network. If the server only needs longer, raise "
                        + timeout + " in " + key + ", in seconds"
                : "PostgreSQL at " + url + " cannot be reached: " + failure.getMessage() + "; check host and port in "
                        + key + ", and whether the server runs";
        return new RelayException(ExitCode.DATABASE, message, failure);
    }
}
