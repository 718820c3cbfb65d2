package dev.twinbox.relay.engine;

import dev.twinbox.jdbc.SqlState;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.EventSlots;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedCount;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionSlots;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.ScheduledEvents;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The housekeeping thread of a session. It does work that needs the lease but must not delay sending. It has a
 * connection of its own. After a fault of the database it waits and continues. If it ends in any other way it is started
 * again, while events are sent.
 */
final class Housekeeper implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Housekeeper.class);

    /** Time between two checks for scheduled events and for a pause. Both take effect later by up to this time. */
    private static final Duration TICK = Duration.ofMillis(200);

    private static final int TICKS_PER_ROTATION = 5;

    private static final int TICKS_PER_COUNT = 25;

    private final RelayConfig config;
    private final OutboxDatabase database;
    private final ObservedOutbox observed;
    private final PauseGate gate;
    private final Waiter waiter;
    private volatile @Nullable Connection connection;
    private volatile boolean closed;
    private volatile int positionSlot;
    private boolean mayMove;
    private boolean forbidden;

    Housekeeper(RelayConfig config, OutboxDatabase database, ObservedOutbox observed, PauseGate gate) {
        this.config = config;
        this.database = database;
        this.observed = observed;
        this.gate = gate;
        this.waiter = new Waiter(config.idle());
    }

    /**
     * Called before {@link #run()}.
     *
     * @param slot that positions are written into at first
     */
    void startWith(int slot) {
        positionSlot = slot;
    }

    /** The slot that positions must be written into now. The main thread asks before each save. */
    int positionSlot() {
        return positionSlot;
    }

    @Override
    public void run() {
        try {
            while (!closed) {
                runOnOneConnection();
                waiter.await(config.retry());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Runs until the database fails or the session ends. */
    private void runOnOneConnection() throws InterruptedException {
        try (Connection own = database.connect()) {
            connection = own;
            Tables tables = new Tables(own);
            for (long tick = 0; !closed; tick++) {
                runOnce(tables, tick);
                waiter.await(TICK);
            }
        } catch (SQLException e) {
            if (!closed) {
                LOG.warn("Housekeeping failed, trying again: {}", e.getMessage());
            }
        }
    }

    /** The tables on one connection. */
    private final class Tables {
        private final Connection connection;
        private final LeaseTable lease;
        private final SlotRotation events;
        private final PositionSlots positions;
        private final ScheduledEvents scheduled;

        Tables(Connection connection) throws SQLException {
            this.connection = connection;
            this.lease = new LeaseTable(connection, config.tables(), config.name());
            EventSlots slots = new EventSlots(connection, config.tables(), config.name());
            this.events = new SlotRotation(slots, config.tables(), observed);
            this.positions = new PositionSlots(connection, config.tables());
            this.scheduled = new ScheduledEvents(connection, config.tables());
        }
    }

    private void runOnce(Tables tables, long tick) throws SQLException {
        gate.set(tables.lease.pausedSince());
        if (tick % TICKS_PER_ROTATION == 0) {
            mayMove = mayMove || (!forbidden && ScheduledEvents.areKnownTo(tables.connection, config.tables()));
            tables.events.runOnce();
            positionSlot = tables.positions.next(positionSlot);
        }
        moveScheduled(tables.scheduled);
        if (tick % TICKS_PER_COUNT == 0) {
            count(tables.connection);
        }
    }

    /** Counts what the metrics show. */
    private void count(Connection own) throws SQLException {
        Position saved =
                new PositionTable(own, config.tables(), config.name()).load().position();
        observed.recordBacklog(Backlog.behind(saved, own, config.tables().events()));
        observed.recordParked(ParkedCount.of(own, config.tables(), config.name()));
    }

    private void moveScheduled(ScheduledEvents scheduled) throws SQLException {
        if (!mayMove) {
            return;
        }
        try {
            observed.recordScheduledMoved(scheduled.runOnce());
        } catch (SQLException e) {
            if (!SqlState.INSUFFICIENT_PRIVILEGE.isOf(e)) {
                throw e;
            }
            mayMove = false;
            forbidden = true;
            LOG.error(
                    "Scheduled events are not sent, the relay's role may not move them ({}): grant select, delete "
                            + "on {}, insert on {} and usage on sequence {} to it, and restart the relay",
                    e.getMessage(),
                    config.tables().scheduled(),
                    config.tables().events(),
                    config.tables().eventsSequence());
        }
    }

    /** Ends {@link #run()}, from any thread. The caller must also interrupt the thread. */
    void close() {
        closed = true;
        observed.clear();
        waiter.wake();
        Connection present = connection;
        if (present != null) {
            OutboxDatabase.abort(present);
        }
    }
}
