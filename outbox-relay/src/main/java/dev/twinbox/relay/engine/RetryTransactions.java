package dev.twinbox.relay.engine;

import dev.twinbox.jdbc.Transactions;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.ParkedQueue;
import dev.twinbox.relay.jdbc.PausedEvents;
import dev.twinbox.relay.kafka.ProducerSettings;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Collection;
import org.jspecify.annotations.Nullable;

/**
 * The retry thread's transactions on parked events, on a connection of its own. The first transaction opens the
 * connection.
 */
final class RetryTransactions {
    /** The work of one transaction. */
    interface Work<T> {
        T run(ParkedQueue table) throws SQLException;
    }

    private record Opened(Connection connection, ParkedQueue table) {}

    private final SessionConnections connections;
    private final RelayConfig config;
    private final Lease lease;
    private final BlockedKeys blockedKeys;
    private final RetryPublication publication;
    private @Nullable Opened opened;

    /** @param publication settles what a predecessor was sending, before anything else */
    RetryTransactions(
            SessionConnections connections,
            RelayConfig config,
            Lease lease,
            BlockedKeys blockedKeys,
            RetryPublication publication) {
        this.connections = connections;
        this.config = config;
        this.lease = lease;
        this.blockedKeys = blockedKeys;
        this.publication = publication;
    }

    /** For statements that need no transaction. */
    ParkedQueue table() throws SQLException, LeaseLostException {
        return opened().table();
    }

    /** Keeps Kafka from forgetting what it has. Opens the connection if this is due. */
    void refreshIfDue() throws SQLException, LeaseLostException {
        if (publication.isRefreshDue()) {
            opened();
            publication.refresh();
        }
    }

    /**
     * Runs one transaction in which the lease is certainly held. It never runs while the main thread parks events.
     * Otherwise an event that joins a key and one that leaves it would not see each other.
     */
    <T> T underLease(Work<T> work) throws SQLException, LeaseLostException {
        return underLease(opened(), work);
    }

    /** Sets events of these topics aside that are ready; returns how many. */
    int setAside(Collection<String> topics) throws SQLException, LeaseLostException {
        Opened mine = opened();
        PausedEvents events = new PausedEvents(mine.connection(), config.tables(), config.name());
        return underLease(mine, table -> events.setAside(topics));
    }

    private <T> T underLease(Opened mine, Work<T> work) throws SQLException, LeaseLostException {
        synchronized (blockedKeys.rowsLock()) {
            return Transactions.<T, LeaseLostException>inTransaction(mine.connection(), () -> {
                if (!mine.table().holdLease(lease.owner(), lease.epoch())) {
                    throw new LeaseLostException(
                            "epoch " + lease.epoch() + " had ended when parked events were to be changed");
                }
                return work.run(mine.table());
            });
        }
    }

    private Opened opened() throws SQLException, LeaseLostException {
        Opened present = opened;
        if (present == null) {
            Connection connection = connections.open();
            present = new Opened(
                    connection,
                    new ParkedQueue(connection, config.tables(), config.name(), ProducerSettings.largest(config)));
            opened = present;
            publication.open();
            underLease(present, table -> {
                publication.takeUp(table);
                return true;
            });
        }
        return present;
    }
}
