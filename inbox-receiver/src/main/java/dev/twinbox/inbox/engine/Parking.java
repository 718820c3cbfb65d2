package dev.twinbox.inbox.engine;

import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RecordedStart;
import dev.twinbox.inbox.event.UnreadableRecordException;
import dev.twinbox.inbox.jdbc.AnnouncedHandler;
import dev.twinbox.inbox.jdbc.BlockedKey;
import dev.twinbox.inbox.jdbc.DueEvent;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.inbox.jdbc.RecordedStarts;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Parks events that cannot be handled, and parks later events of their keys after them. Used by all workers. */
final class Parking {

    private static final Logger LOG = System.getLogger(Parking.class.getName());

    /** If a service that a handler needs is down, many events are parked at once. One of them per second is logged. */
    private static final long LOG_INTERVAL = TimeUnit.SECONDS.toNanos(1);

    private final String group;
    private final ParkedTable table;
    private final RecordedStarts starts;
    private final InboxConfig.Parking rules;
    private final JtaDatabase database;
    private final ReceiverStatus status;
    private final AtomicLong noLogBefore = new AtomicLong(System.nanoTime());

    Parking(
            String group,
            ParkedTable table,
            RecordedStarts starts,
            InboxConfig.Parking rules,
            JtaDatabase database,
            ReceiverStatus status) {
        this.group = group;
        this.table = table;
        this.starts = starts;
        this.rules = rules;
        this.database = database;
        this.status = status;
    }

    ParkedTable table() {
        return table;
    }

    int quickTries() {
        return rules.quickTries();
    }

    /**
     * Parks an event.
     *
     * @param handler null if the record cannot be read at all
     * @param failures how often the handler has failed
     */
    void park(ReceivedEvent event, @Nullable Handler handler, int failures, Throwable cause) throws SQLException {
        State state = stateAfter(failures, cause);
        database.inTransaction(connection -> {
            table.park(connection, group, event, handler, state, failures, ErrorText.of(cause), rules.backoff());
            return true;
        });
        report(event, handler, state, failures, cause);
    }

    /** Parks an event that has a {@link #recordStart recorded start}. */
    void parkStarted(ReceivedEvent event, Handler handler, RecordedStart start, int failures, Throwable cause)
            throws SQLException {
        State state = stateAfter(failures, cause);
        database.inTransaction(connection -> {
            starts.park(connection, start.number(), state, failures, ErrorText.of(cause), rules.backoff());
            return true;
        });
        report(event, handler, state, failures, cause);
    }

    /** A retry cannot help a record that cannot be read. */
    private State stateAfter(int failures, Throwable cause) {
        return cause instanceof UnreadableRecordException || failures >= rules.attempts()
                ? rules.whenDead()
                : State.RETRY;
    }

    private void report(ReceivedEvent event, @Nullable Handler handler, State state, int failures, Throwable cause) {
        status.parked(1);
        Throwable printable = ErrorText.forLog(cause);
        long now = System.nanoTime();
        long before = noLogBefore.get();
        if (now - before < 0 || !noLogBefore.compareAndSet(before, now + LOG_INTERVAL)) {
            LOG.log(Level.DEBUG, () -> "Parked " + event, printable);
        } else if (state == State.RETRY) {
            LOG.log(
                    Level.WARNING,
                    () -> event + " failed " + failures + " times in handler " + handler
                            + " and is parked. It is retried, up to " + rules.attempts()
                            + " attempts in all. Later events of its key are parked after it",
                    printable);
        } else {
            LOG.log(
                    Level.ERROR,
                    () -> event + " is parked and not retried"
                            + (handler == null ? ": it cannot be read as an event" : " in handler " + handler)
                            + ". Look at it, then retry or discard it: twinbox-inbox-cli.jar parked list",
                    printable);
        }
    }

    /** Commits that a handler is about to be called. Returns null if the event is already parked. */
    @Nullable RecordedStart recordStart(ReceivedEvent event, Handler handler) throws SQLException {
        return database.inTransaction(
                        connection -> Optional.ofNullable(starts.record(connection, group, event, handler)))
                .orElse(null);
    }

    /**
     * Parks an event during which the process ended each time.
     *
     * <p><b>Remedy.</b> Correct the handler, then retry or discard the event.
     */
    void giveUp(ReceivedEvent event, Handler handler, RecordedStart start) throws SQLException {
        int ends = start.times() - 1;
        String error = "the process ended " + ends + " times while handler " + handler
                + " was handling this event; it is not retried";
        database.inTransaction(connection -> {
            starts.park(connection, start.number(), rules.whenDead(), ends, error, rules.backoff());
            return true;
        });
        status.parked(1);
        LOG.log(Level.ERROR, () -> event + " is parked: " + error);
    }

    /** Parks an event, in the caller's transaction, after the earlier events of its key. Without a key it is due. */
    void follow(Connection connection, Delivery follower) throws SQLException {
        State state = follower.event().keyHash() == null ? State.RETRY : State.BEHIND;
        table.park(connection, group, follower.event(), follower.handler(), state, 0, null, rules.backoff());
    }

    /**
     * Must be called after the commit of {@link #follow}. The earlier events may be gone by then. In that case no other
     * step would make these events due.
     */
    void followed(List<Delivery> followers) {
        if (followers.isEmpty()) {
            return;
        }
        status.parked(followers.size());
        List<BlockedKey> keys = new ArrayList<>();
        Set<List<Object>> seen = new HashSet<>();
        for (Delivery follower : followers) {
            BlockedKey key = blockedKey(follower.event(), follower.handler().name());
            if (key != null && seen.add(List.of(key.handler(), key.topic(), ByteBuffer.wrap(key.keyHash())))) {
                keys.add(key);
            }
        }
        promote(keys);
    }

    /** The key that the event blocks while it is parked. Null if it has no key: then no event waits for it. */
    @Nullable BlockedKey blockedKey(ReceivedEvent event, @Nullable String handler) {
        byte[] keyHash = event.keyHash();
        return keyHash == null || handler == null
                ? null
                : new BlockedKey(group, handler, event.record().topic(), keyHash);
    }

    /** Makes the next event of each key due. If this fails, {@link ParkedRetries} does it within a minute. */
    void promote(List<BlockedKey> keys) {
        try {
            database.inTransaction(connection -> {
                for (BlockedKey key : keys) {
                    table.promote(connection, key);
                }
                return true;
            });
        } catch (SQLException e) {
            LOG.log(Level.DEBUG, "The next events of these keys are made due by the next sweep", e);
        }
    }

    /** Takes the first parked event that is due and belongs to one of these handlers. Counts its attempt. */
    Optional<DueEvent> takeDue(Instant from, List<AnnouncedHandler> handlers) throws SQLException {
        return database.inTransaction(connection -> table.takeDue(connection, group, from, handlers, rules.backoff()));
    }

    /** Takes the attempt back, because it did not fail because of the event. */
    void giveBack(DueEvent due) throws SQLException {
        database.inTransaction(connection -> {
            table.giveBack(connection, due, rules.backoff());
            return true;
        });
    }

    /** Stores that an attempt failed. Returns the new state. */
    State failedAgain(DueEvent due, Throwable cause) throws SQLException {
        int most = cause instanceof UnreadableRecordException ? 0 : rules.attempts();
        return database.inTransaction(connection -> Optional.ofNullable(table.failedAgain(
                        connection, due, most, rules.whenDead(), ErrorText.of(cause), rules.backoff())))
                .orElse(State.RETRY);
    }

    /** Does what a crash has left undone, for all keys. Returns the database's time. */
    Instant sweep() throws SQLException {
        return database.inTransaction(connection -> {
            table.promoteAll(connection, group);
            starts.deleteOld(connection, group);
            return table.now(connection);
        });
    }

    ParkedTable.Counts count() throws SQLException {
        return database.inTransaction(connection -> table.count(connection, group));
    }
}
