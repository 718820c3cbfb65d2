package dev.twinbox.relay;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits on one connection until the lease can be had, and takes it. Only for the main thread. */
final class LeaseCandidate {
    private static final Logger LOG = LoggerFactory.getLogger(LeaseCandidate.class);
    /** An owner that stops gives the lease back at once, and nobody tells us. Looking takes no lock. */
    private static final Duration LONGEST_WAIT = Duration.ofMillis(200);

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
        this.table = new LeaseTable(connection, config.tables(), config.name());
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
     * @throws RelayException if the position belongs to another cluster or another event table
     */
    @Nullable Lease tryTake() throws SQLException {
        LeaseTable.Seen seen = table.look();
        if (seen != null) {
            checkCluster(seen);
            checkEvents(seen);
            if (!seen.isFreeFor(owner)) {
                waitFor(seen);
                return null;
            }
        }
        return take();
    }

    /** Of several that see it free one gets it; the others look again. */
    private @Nullable Lease take() throws SQLException {
        untilNextTry = Duration.ZERO;
        long sentAt = System.nanoTime();
        long epoch = table.take(owner, config.lease(), server.systemIdentifier());
        if (epoch == 0) {
            return null;
        }
        progress.leaseHeld(epoch);
        LOG.info("Took the lease of relay \"{}\", epoch {}", config.name(), epoch);
        warnOfOthers();
        return Lease.taken(table, owner, epoch, config.lease(), System::nanoTime, sentAt);
    }

    private void warnOfOthers() throws SQLException {
        List<String> others = table.others();
        if (!others.isEmpty()) {
            LOG.warn(
                    "Relays of other names publish {}, too: {}. Each event is sent once by each name; give processes that"
                            + " stand by for each other the same twinbox.relay.name.",
                    config.tables().events(),
                    String.join(", ", others));
        }
    }

    private void checkCluster(LeaseTable.Seen seen) {
        if (seen.systemIdentifier() != server.systemIdentifier()) {
            throw new RelayException(
                    ExitCode.DATABASE,
                    "The position of relay \"" + config.name()
                            + "\" belongs to the PostgreSQL cluster with system identifier "
                            + seen.systemIdentifier() + ", but this one is " + server.systemIdentifier()
                            + ": its snapshots mean nothing here, as after a restore from a dump. If this database is to go on in place of "
                            + "the old one, run \"outbox-relay rebase\", which stamps what was not sent anew "
                            + "(after pg_upgrade: \"rebase --after-pg-upgrade\"). Otherwise point the relay at the original "
                            + "cluster.");
        }
    }

    /** Positions of two outboxes may lie in one table, but a relay name is for one of them. */
    private void checkEvents(LeaseTable.Seen seen) {
        if (seen.events() != null && !seen.events().equals(seen.own())) {
            throw new RelayException(
                    ExitCode.SCHEMA,
                    "The position of relay \"" + config.name() + "\" is one in the event table " + seen.events()
                            + ", but this relay reads " + seen.own()
                            + ": it would pass over events that were never sent. "
                            + "Set twinbox.outbox.table back, or choose another twinbox.relay.name. If the table was "
                            + "renamed, clear the column events of "
                            + config.tables().lease() + " for this relay.");
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
