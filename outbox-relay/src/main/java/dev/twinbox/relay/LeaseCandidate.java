package dev.twinbox.relay;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits on one connection until the lease can be had, and takes it. Only for the main thread. */
final class LeaseCandidate {
    private static final Logger LOG = LoggerFactory.getLogger(LeaseCandidate.class);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(1);

    private final Connection connection;
    private final LeaseTable table;
    private final OutboxDatabase.Server server;
    private final RelayConfig config;
    private final UUID owner;
    private final Progress progress;
    private Duration untilNextTry = Duration.ZERO;
    private @Nullable UUID named;

    /** @param owner of this process, the same for all its leases */
    LeaseCandidate(Connection connection, RelayConfig config, UUID owner, Progress progress) throws SQLException {
        this.connection = connection;
        this.config = config;
        this.owner = owner;
        this.progress = progress;
        this.server = OutboxDatabase.identify(connection);
        this.table = new LeaseTable(connection, config.tables().lease(), config.name());
    }

    Connection connection() {
        return connection;
    }

    OutboxDatabase.Server server() {
        return server;
    }

    Duration untilNextTry() {
        return untilNextTry;
    }

    /**
     * The lease, or null while another process holds it.
     *
     * @throws RelayException if the position belongs to another cluster
     */
    @Nullable Lease tryTake() throws SQLException {
        long sentAt = System.nanoTime();
        long epoch = table.take(owner, config.lease(), server.systemIdentifier());
        if (epoch > 0) {
            progress.leaseHeld(epoch);
            LOG.info("Took the lease of relay \"{}\", epoch {}", config.name(), epoch);
            return Lease.taken(table, owner, epoch, config.lease(), System::nanoTime, sentAt);
        }
        LeaseTable.Seen seen = table.look();
        if (seen != null) {
            checkCluster(seen);
            waitFor(seen);
        }
        return null;
    }

    private void checkCluster(LeaseTable.Seen seen) {
        if (seen.systemIdentifier() != server.systemIdentifier()) {
            throw new RelayException(
                    ExitCode.DATABASE,
                    "The position of relay \"" + config.name()
                            + "\" belongs to the PostgreSQL cluster with system identifier "
                            + seen.systemIdentifier() + ", but this one is " + server.systemIdentifier()
                            + ": its snapshots mean nothing here, as after a restore from a dump. Point the relay at the "
                            + "original cluster, or choose another twinbox.relay.name, which publishes all that is in "
                            + config.tables().events() + " anew, with the same event ids.");
        }
    }

    private void waitFor(LeaseTable.Seen seen) {
        Duration remaining = seen.remaining().isNegative() ? Duration.ZERO : seen.remaining();
        untilNextTry = remaining.compareTo(LONGEST_WAIT) < 0 ? remaining.plusMillis(1) : LONGEST_WAIT;
        progress.leaseElsewhere(String.valueOf(seen.owner()));
        if (seen.owner() != null && !seen.owner().equals(named)) {
            named = seen.owner();
            LOG.info(
                    "The lease of relay \"{}\" belongs to {} for another {} ms unless renewed (epoch {}): standing by",
                    config.name(),
                    named,
                    remaining.toMillis(),
                    seen.epoch());
        }
    }
}
