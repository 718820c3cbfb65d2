package dev.twinbox.relay.engine;

import dev.twinbox.console.actions.ActionLog;
import dev.twinbox.jdbc.FailureSubject;
import dev.twinbox.jdbc.SqlState;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.config.RelayException;
import dev.twinbox.relay.jdbc.Backlog;
import dev.twinbox.relay.jdbc.ClusterCheck;
import dev.twinbox.relay.jdbc.EventSlots;
import dev.twinbox.relay.jdbc.LeaseTable;
import dev.twinbox.relay.jdbc.OutboxDatabase;
import dev.twinbox.relay.jdbc.ParkedCount;
import dev.twinbox.relay.jdbc.PausedEvents;
import dev.twinbox.relay.jdbc.PausedTopicTable;
import dev.twinbox.relay.jdbc.Position;
import dev.twinbox.relay.jdbc.PositionSlots;
import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.jdbc.ScheduledEvents;
import dev.twinbox.relay.pause.PauseGate;
import dev.twinbox.relay.pause.PausedTopics;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
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

    private static final int TICKS_PER_TOPICS = 2;

    private static final int TICKS_PER_ROTATION = 5;

    private static final int TICKS_PER_COUNT = 25;

    private static final int TICKS_PER_REMOVAL = 300;

    private final RelayConfig config;
    private final OutboxDatabase database;
    private final ObservedOutbox observed;
    private final PauseGate gate;
    private final PausedTopics pausedTopics;
    private final BlockedKeys blockedKeys;
    private final Failures failures;
    private final Waiter waiter;
    private final ScheduledEvents.BatchSize batch = new ScheduledEvents.BatchSize();
    private volatile @Nullable Connection connection;
    private volatile boolean closed;
    private volatile int positionSlot;
    private boolean mayMove;
    private boolean forbidden;
    private @Nullable String lastError;
    private final Map<String, String> refusals = new HashMap<>(); // by part of the work

    /** @param failures learns what ends the session; other faults pass */
    Housekeeper(
            RelayConfig config,
            OutboxDatabase database,
            ObservedOutbox observed,
            PauseGate gate,
            PausedTopics pausedTopics,
            BlockedKeys blockedKeys,
            Failures failures) {
        this.config = config;
        this.database = database;
        this.observed = observed;
        this.gate = gate;
        this.pausedTopics = pausedTopics;
        this.blockedKeys = blockedKeys;
        this.failures = failures;
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
                runUntilFailure();
                waiter.await(config.retry());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** An unexpected error must not end the thread: no slot would be emptied, and no scheduled event would be sent. */
    private void runUntilFailure() throws InterruptedException {
        try {
            runOnOneConnection();
        } catch (RuntimeException | Error e) {
            if (!e.toString().equals(lastError)) { // The same one comes again with each try.
                LOG.error("Unexpected error in housekeeping, trying again; report it", e);
            }
            lastError = e.toString();
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
            observed.clear();
            if (!closed) {
                LOG.warn("Housekeeping failed, trying again: {}", OutboxDatabase.explain(e));
            }
        }
    }

    /** The tables on one connection. */
    private final class Tables {
        private final Connection connection;
        private final LeaseTable lease;
        private final PausedTopicTable topics;
        private final PausedEvents pausedEvents;
        private final SlotRotation events;
        private final PositionSlots positions;
        private final ScheduledEvents scheduled;
        private final ActionLog actions;

        Tables(Connection connection) throws SQLException {
            this.connection = connection;
            this.lease = new LeaseTable(connection, config.tables(), config.name());
            this.topics = new PausedTopicTable(connection, config.tables(), config.name());
            this.pausedEvents = new PausedEvents(connection, config.tables(), config.name());
            EventSlots slots = new EventSlots(connection, config.tables(), config.name());
            this.events = new SlotRotation(slots, config.tables(), observed);
            this.positions = new PositionSlots(connection, config.tables());
            this.scheduled = new ScheduledEvents(connection, config.tables(), config.name(), batch);
            this.actions = new ActionLog(connection, config.tables().actions(), config.name());
        }
    }

    private void runOnce(Tables tables, long tick) throws SQLException {
        gate.set(tables.lease.pausedSince());
        if (tick % TICKS_PER_TOPICS == 0) {
            attempt("reading paused topics", () -> pausedTopics.refresh(tables.topics, tables.pausedEvents));
            observed.recordPausedTopics(pausedTopics.topics(), pausedTopics.limitReached());
        }
        if (tick % TICKS_PER_ROTATION == 0) {
            mayMove = mayMove || (!forbidden && ScheduledEvents.areKnownTo(tables.connection, config.tables()));
            attempt("looking for rows of another cluster", () -> refuseRowsOfAnotherCluster(tables.connection));
            attempt("emptying slots", tables.events::runOnce);
            attempt("emptying positions", () -> positionSlot = tables.positions.next(positionSlot));
        }
        attempt("moving scheduled events", () -> moveScheduled(tables.scheduled));
        if (tick % TICKS_PER_REMOVAL == 0) {
            attempt("removing old entries of the action log", tables.actions::removeOld);
        }
        if (tick % TICKS_PER_COUNT == 0 && !attempt("counting", () -> count(tables.connection))) {
            observed.clearCounts();
        }
    }

    /** A part of the work. */
    private interface Work {
        void run() throws SQLException;
    }

    /**
     * Does a part of the work. If PostgreSQL refuses it, the other parts are done nevertheless, and this one is tried
     * again. Returns whether it was done.
     */
    private boolean attempt(String part, Work work) throws SQLException {
        try {
            work.run();
            refusals.remove(part);
            return true;
        } catch (SQLException e) {
            if (closed || SqlState.subjectOf(e) == FailureSubject.CONNECTION) {
                throw e;
            }
            String why = OutboxDatabase.explain(e);
            if (!why.equals(refusals.put(part, why))) { // The same one comes again with each try.
                LOG.warn("Housekeeping failed in {}, trying again: {}", part, why);
            }
            return false;
        }
    }

    /** A page finds those that it reads. These may be below all pages. */
    private void refuseRowsOfAnotherCluster(Connection own) throws SQLException {
        RelayException foreign = ClusterCheck.ahead(own, config.tables());
        if (foreign != null) {
            failures.report(foreign);
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
        int parked = scheduled.parked();
        try {
            observed.recordScheduledMoved(scheduled.runOnce());
        } catch (SQLException e) {
            if (!SqlState.INSUFFICIENT_PRIVILEGE.isOf(e) || OutboxDatabase.isRowSecurity(e)) {
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
        } finally {
            if (scheduled.parked() > parked) {
                blockedKeys.recordParkedElsewhere();
            }
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
