package dev.twinbox.relay;

import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The housekeeping thread of a session: what has to be done while the lease is held, but by which nothing that is to be sent
 * may be held up. It has a connection of its own, and its faults are its own: it waits and goes on.
 */
final class Housekeeper implements Runnable {
    private static final Logger LOG = LoggerFactory.getLogger(Housekeeper.class);
    private static final Duration ROTATION = Duration.ofSeconds(1);

    private final RelayConfig config;
    private final OutboxDatabase database;
    private final Observed observed;
    private final Waiter waiter;
    private volatile @Nullable Connection connection;
    private volatile boolean closed;
    private volatile int positionSlot;

    /** @param positionSlot into which positions are written at first */
    Housekeeper(RelayConfig config, OutboxDatabase database, Observed observed, int positionSlot) {
        this.config = config;
        this.database = database;
        this.observed = observed;
        this.waiter = new Waiter(config.idle());
        this.positionSlot = positionSlot;
    }

    /** Into which slot positions are to be written now; the main thread asks before each save. */
    int positionSlot() {
        return positionSlot;
    }

    @Override
    public void run() {
        try {
            while (!closed) {
                keepHouse();
                waiter.await(config.retry());
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (RuntimeException | Error e) {
            LOG.error("Unforeseen: until the next start of a session no slot is emptied", e);
        }
    }

    /** Until a fault of the database or the end. */
    private void keepHouse() throws InterruptedException {
        try (Connection own = database.connect()) {
            connection = own;
            EventRotation events =
                    new EventRotation(new EventSlots(own, config.tables(), config.name()), config.tables(), observed);
            PositionSlots positions = new PositionSlots(own, config.tables());
            while (!closed) {
                events.runOnce();
                positionSlot = positions.next(positionSlot);
                waiter.await(ROTATION);
            }
        } catch (SQLException e) {
            if (!closed) {
                LOG.warn("Housekeeping failed, trying again: {}", e.getMessage());
            }
        }
    }

    /** Ends {@link #run()}, from any thread; its thread is to be interrupted, too. */
    void close() {
        closed = true;
        observed.nothing();
        waiter.wake();
        Connection present = connection;
        if (present != null) {
            RelaySession.abort(present);
        }
    }
}
