package dev.twinbox.relay.jdbc;

import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.schema.OutboxSchema;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Finds events and positions that come from another PostgreSQL cluster. Transaction ids of one cluster mean nothing in
 * another one.
 *
 * <p>A visible row cannot have a transaction id beyond all that have ended. A row that has one was copied from a cluster
 * whose ids are ahead. Each window would find it again, and events after it would never be reached.
 */
public final class ClusterCheck {
    /**
     * SQL expression: whether there is such a row. Compares pairs, so that only the index on {@code (tx, seq)} fits, as in
     * {@link OutboxTable}.
     */
    private static final String AHEAD = """
            exists (select from {events}
              where (tx, seq) >= (pg_snapshot_xmax(pg_current_snapshot()), -9223372036854775808))""";

    private static final String LOOK = "-- relay: look for events of another cluster\nselect " + AHEAD;

    private static final String FOREIGN_LEASE = """
            -- relay: look for leases of another cluster
            select relay, system_identifier from {lease}
            where (events is null or events = {own}) and system_identifier <> ? order by relay limit 1
            """;

    private ClusterCheck() {}

    /**
     * Checks the outbox before anything is sent.
     *
     * @throws RelayException if a part of it comes from another cluster
     */
    public static void verify(Connection connection, RelayConfig config, OutboxDatabase.Server server)
            throws SQLException {
        RelayException problem = problem(connection, config.tables(), server);
        if (problem != null) {
            throw problem;
        }
    }

    /** What {@link #verify} would throw; null if all is of this cluster. */
    public static @Nullable RelayException problem(
            Connection connection, OutboxSchema tables, OutboxDatabase.Server server) throws SQLException {
        try (PreparedStatement leases =
                connection.prepareStatement(FOREIGN_LEASE.replace("{own}", LeaseTable.own(tables))
                        .replace("{lease}", tables.lease().sql()))) {
            leases.setLong(1, server.systemIdentifier());
            try (ResultSet row = leases.executeQuery()) {
                if (row.next()) {
                    return otherCluster(row.getString(1), row.getLong(2), server);
                }
            }
        }
        return ahead(connection, tables);
    }

    /** Looks for rows that cannot be of this cluster; null if there are none. */
    public static @Nullable RelayException ahead(Connection connection, OutboxSchema tables) throws SQLException {
        try (PreparedStatement look =
                        connection.prepareStatement(LOOK.replace("{events}", tables.events().sql()));
                ResultSet row = look.executeQuery()) {
            row.next();
            return row.getBoolean(1) ? ahead(tables.events()) : null;
        }
    }

    /** SQL expression: whether the table has a row whose transaction id is ahead of this cluster. */
    static String isAhead(SqlIdentifier events) {
        return AHEAD.replace("{events}", events.sql());
    }

    /** The lease of a relay is from another cluster. */
    public static RelayException otherCluster(String relay, long systemIdentifier, OutboxDatabase.Server here) {
        return new RelayException(
                ExitCode.DATABASE,
                "The position of relay \"" + relay
                        + "\" belongs to the PostgreSQL cluster with system identifier "
                        + systemIdentifier + ", but this one is " + here.systemIdentifier()
                        + ": its snapshots are not valid here, as after a restore from a dump. If this database "
                        + "replaces the old one, run \"twinbox-relay rebase\", which renumbers the unsent events "
                        + "(after pg_upgrade: \"rebase --after-pg-upgrade\"). Otherwise point the relay at the "
                        + "original cluster.");
    }

    /** The table has rows of another cluster. */
    static RelayException ahead(SqlIdentifier events) {
        return new RelayException(
                ExitCode.DATABASE,
                "Table " + events + " has events with transaction ids that this PostgreSQL cluster has not assigned yet: "
                        + "they were copied from another cluster, so some would be sent again and again, others never. "
                        + "Run \"twinbox-relay rebase\", which renumbers the unsent events.");
    }
}
