package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.DeliveryMode;
import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.config.RelaySettings;
import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.ClusterCheck;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Waits on one connection until the lease is free, and takes it. Only for the main thread. */
final class LeaseCandidate {
    private static final Logger LOG = LoggerFactory.getLogger(LeaseCandidate.class);
    /** An owner that stops releases its lease at once, but sends no signal. Reading the lease takes no lock. */
    private static final Duration LONGEST_WAIT = Duration.ofMillis(200);

    private final Connection connection;
    private final LeaseTable table;
    private final OutboxDatabase.Server server;
    private final RelayConfig config;
    private final UUID owner;
    private final Progress progress;
    private final ClockCheck clock;
    private Duration untilNextTry = Duration.ZERO;
    private @Nullable UUID named;

    /** @param owner identifies this process in all its leases */
    LeaseCandidate(Connection connection, RelayConfig config, UUID owner, Progress progress, ClockCheck clock)
            throws SQLException {
        this.connection = connection;
        this.config = config;
        this.owner = owner;
        this.progress = progress;
        this.clock = clock;
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
     * The lease; null while another process holds it, or while this process's clock is wrong.
     *
     * @throws RelayException if the position belongs to another cluster or another event table
     */
    @Nullable Lease tryTake() throws SQLException {
        if (clock.mustWait(connection, progress)) {
            untilNextTry = LONGEST_WAIT;
            return null;
        }
        LeaseTable.Seen seen = table.look();
        if (seen != null) {
            checkCluster(seen);
            checkEvents(seen);
            if (config.delivery().mode() == DeliveryMode.AT_LEAST_ONCE) {
                checkDelivery(seen);
            }
            if (!seen.isFreeFor(owner)) {
                waitFor(seen);
                return null;
            }
        }
        if ((seen == null || !seen.taken()) && config.delivery().mode() == DeliveryMode.EXACTLY_ONCE) {
            // The name is new, so it has sent nothing of this table.
            table.declareExactlyOnce(server.systemIdentifier());
        }
        return take();
    }

    /** If several processes see it free, one gets it; the others look again. */
    private @Nullable Lease take() throws SQLException {
        untilNextTry = Duration.ZERO;
        long sentAt = System.nanoTime();
        long epoch = table.take(owner, config.lease(), server.systemIdentifier());
        if (epoch == 0) {
            return null;
        }
        agreeOnDelivery(epoch);
        progress.recordLeaseHeld(epoch);
        LOG.info("Took the lease of relay \"{}\", epoch {}", config.name(), epoch);
        nameOthers();
        return Lease.taken(table, owner, epoch, config.lease(), System::nanoTime, sentAt);
    }

    /** Runs under the lease. The mode is the recorded one, or it is changed for good. */
    private void agreeOnDelivery(long epoch) throws SQLException {
        LeaseTable.Seen seen = Objects.requireNonNull(table.look(), "it was taken");
        try {
            if (config.delivery().mode() == DeliveryMode.AT_LEAST_ONCE) {
                checkDelivery(seen);
            } else if (seen.delivery() == DeliveryMode.AT_LEAST_ONCE) {
                checkDrained();
                table.adoptExactlyOnce(owner, epoch);
                LOG.info("Relay \"{}\" publishes exactly once from now on", config.name());
            }
        } catch (RelayException e) {
            table.release(owner, epoch);
            throw e;
        }
    }

    private void checkDelivery(LeaseTable.Seen seen) {
        if (seen.delivery() == DeliveryMode.EXACTLY_ONCE) {
            throw new RelayException(
                    ExitCode.DELIVERY,
                    "relay \"" + config.name()
                            + "\" publishes exactly once, and there is no way back: what only Kafka knows "
                            + "would be published twice. Set " + RelaySettings.DELIVERY.key() + " to "
                            + DeliveryMode.EXACTLY_ONCE.text());
        }
    }

    /** An event after the position may have been sent already. After the change it would be sent once more. */
    private void checkDrained() throws SQLException {
        Position position = new PositionTable(connection, config.tables(), config.name())
                .load()
                .position();
        Backlog backlog = Backlog.behind(position, connection, config.tables().events());
        boolean parked = new ParkedTable(connection, config.tables(), config.name()).hasRows();
        if (backlog.events() > 0 || parked) {
            throw new RelayException(
                    ExitCode.DELIVERY,
                    "relay \"" + config.name() + "\" has published at least once and can change to "
                            + DeliveryMode.EXACTLY_ONCE.text() + " on a drained outbox only, but "
                            + (backlog.events() > 0 ? backlog.events() + " events are unsent" : "events are parked")
                            + ". Run it with " + RelaySettings.DELIVERY.key() + " = "
                            + DeliveryMode.AT_LEAST_ONCE.text()
                            + ", while nothing is written, until \"status\" shows 0 events "
                            + "unsent and none parked (\"parked retry\" or \"discard\")");
        }
    }

    private void nameOthers() throws SQLException {
        List<String> others = table.others();
        if (!others.isEmpty()) {
            // Some operators do this on purpose. An INFO line is never suppressed.
            LOG.info(
                    "Relays of other names publish {}, too: {}. Each name sends each event once. If processes"
                            + " are to stand by for each other, give them the same twinbox.relay.name.",
                    config.tables().events(),
                    String.join(", ", others));
        }
    }

    private void checkCluster(LeaseTable.Seen seen) {
        if (seen.systemIdentifier() != server.systemIdentifier()) {
            throw ClusterCheck.otherCluster(config.name(), seen.systemIdentifier(), server);
        }
    }

    /** One table may hold the positions of two outboxes, but a relay name belongs to one outbox. */
    private void checkEvents(LeaseTable.Seen seen) {
        if (seen.events() != null && !seen.events().equals(seen.own())) {
            throw new RelayException(
                    ExitCode.SCHEMA,
                    "The position of relay \"" + config.name() + "\" belongs to the event table " + seen.events()
                            + ", but this relay reads " + seen.own()
                            + ": it would skip events that were never sent. "
                            + "Set twinbox.outbox.table back, or choose another twinbox.relay.name. If the table was "
                            + "renamed, clear the column events of "
                            + config.tables().lease() + " for this relay.");
        }
    }

    private void waitFor(LeaseTable.Seen seen) {
        Duration remaining = seen.remaining().isNegative() ? Duration.ZERO : seen.remaining();
        untilNextTry = remaining.compareTo(LONGEST_WAIT) < 0 ? remaining.plusMillis(1) : LONGEST_WAIT;
        progress.recordLeaseElsewhere(String.valueOf(seen.owner()));
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
