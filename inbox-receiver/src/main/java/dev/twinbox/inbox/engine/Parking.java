package dev.twinbox.inbox.engine;

import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.config.InboxSettings;
import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ParkingDecision;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RecordedStart;
import dev.twinbox.inbox.event.RetryRule;
import dev.twinbox.inbox.event.UnreadableRecordException;
import dev.twinbox.inbox.jdbc.AnnouncedHandler;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.inbox.jdbc.BlockedKey;
import dev.twinbox.inbox.jdbc.DueEvent;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.inbox.jdbc.OmittedTimestamp;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.inbox.jdbc.RecordedStarts;
import dev.twinbox.inbox.jdbc.RetriedWrites;
import dev.twinbox.inbox.pause.Pauses;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.nio.ByteBuffer;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.jspecify.annotations.Nullable;

/** Parks events that cannot be handled, and parks later events of their keys after them. Used by all workers. */
final class Parking {

    private static final Logger LOG = System.getLogger(Parking.class.getName());

    private final String group;
    private final ParkedTable table;
    private final RecordedStarts starts;
    private final InboxConfig.Parking rules;
    private final Claims.Effects effects;
    private final RetriedWrites writes;
    private final Pauses pauses;
    private final ReceiverStatus status;
    private final ParkingReports reports;

    /** Results of retries that could not be stored. Stored before another event is retried. */
    private final Queue<JtaDatabase.Work<?>> unstored = new ConcurrentLinkedQueue<>();

    Parking(
            String group,
            ParkedTable table,
            RecordedStarts starts,
            InboxConfig.Parking rules,
            Claims.Effects effects,
            RetriedWrites writes,
            Pauses pauses,
            ReceiverStatus status) {
        this.group = group;
        this.table = table;
        this.starts = starts;
        this.rules = rules;
        this.effects = effects;
        this.writes = writes;
        this.pauses = pauses;
        this.status = status;
        this.reports = new ParkingReports(rules.attempts(), status);
    }

    String group() {
        return group;
    }

    ParkedTable table() {
        return table;
    }

    int quickTries() {
        return rules.quickTries();
    }

    /** Parks a record that cannot be read at all. */
    void parkUnreadable(ReceivedEvent event) throws SQLException {
        parkWithoutHandler(event, event.problem());
    }

    /** Parks an event that no handler can be named for. */
    void parkWithoutHandler(ReceivedEvent event, UnreadableRecordException cause) throws SQLException {
        State state = stateAfter(0, cause, RetryRule.AS_CONFIGURED);
        writes.run(connection -> {
            table.park(connection, group, event, null, state, 0, ErrorText.of(cause), rules.backoff());
            return true;
        });
        reports.parked(event, null, state, 0, new ParkingDecision(cause, false));
    }

    /** Parks an event, unless its effect turns out to have happened. */
    void park(ReceivedEvent event, Handler handler, ParkingDecision verdict) throws SQLException {
        int failures = failures(event, verdict.retry());
        Throwable cause = verdict.cause();
        State state = stateAfter(failures, cause, verdict.retry());
        Backoff wait = waitBefore(verdict.retry());
        boolean parked = writes.run(connection -> {
            if (verdict.mayBeCommitted()
                    && handler.claims()
                    && effects.hasHappened(connection, new Delivery(handler, event))) {
                return false;
            }
            table.park(connection, group, event, handler, state, failures, ErrorText.of(cause), wait);
            effects.isParked(connection, new Delivery(handler, event));
            return true;
        });
        if (parked) {
            reports.parked(event, handler, state, failures, verdict);
        }
    }

    /**
     * Parks an event that has a {@link #recordStart recorded start}. A commit of the attempt would have deleted the
     * start.
     */
    void parkStarted(ReceivedEvent event, Handler handler, RecordedStart start, ParkingDecision verdict)
            throws SQLException {
        int failures = failures(event, verdict.retry());
        State state = stateAfter(failures, verdict.cause(), verdict.retry());
        Backoff wait = waitBefore(verdict.retry());
        String error = error(ErrorText.of(verdict.cause()), event);
        boolean parked = writes.run(connection -> isNow(
                starts.park(connection, start.number(), state, failures, error, wait), connection, event, handler));
        if (parked) {
            reports.parked(event, handler, state, failures, verdict);
        }
    }

    private boolean isNow(boolean parked, Connection connection, ReceivedEvent event, Handler handler)
            throws SQLException {
        if (parked) {
            effects.isParked(connection, new Delivery(handler, event));
        }
        return parked;
    }

    /** An event that is called again after a delay keeps an attempt, also if the quick tries are more than all attempts. */
    private int failures(ReceivedEvent event, RetryRule retry) {
        return retry.kind() == RetryRule.Kind.AFTER_DELAY
                ? Math.min(event.failures(), rules.attempts() - 1)
                : event.failures();
    }

    private static String error(String text, ReceivedEvent event) {
        return Objects.requireNonNull(OmittedTimestamp.addTo(text, event.record()));
    }

    /** A retry cannot help a record that cannot be read. */
    private State stateAfter(int failures, Throwable cause, RetryRule retry) {
        return switch (retry.kind()) {
            case NEVER -> rules.whenDead();
            case AFTER_DELAY -> State.RETRY;
            case AS_CONFIGURED ->
                cause instanceof UnreadableRecordException || failures >= rules.attempts()
                        ? rules.whenDead()
                        : State.RETRY;
        };
    }

    private Backoff waitBefore(RetryRule retry) {
        return retry.kind() == RetryRule.Kind.AFTER_DELAY ? Backoff.always(retry.delay()) : rules.backoff();
    }

    /** Commits that a handler is about to be called. Returns null if the event is already parked. */
    @Nullable RecordedStart recordStart(ReceivedEvent event, Handler handler) throws SQLException {
        return writes.run(connection -> Optional.ofNullable(starts.record(connection, group, event, handler)))
                .orElse(null);
    }

    /** Takes a recorded start back, because the handler was not called. */
    void takeBack(RecordedStart start) throws SQLException {
        writes.run(connection -> {
            starts.takeBack(connection, start);
            return true;
        });
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
        writes.run(connection -> {
            String text = error(error, event);
            return isNow(
                    starts.park(connection, start.number(), rules.whenDead(), ends, text, rules.backoff()),
                    connection,
                    event,
                    handler);
        });
        status.parked(1);
        LOG.log(Level.ERROR, () -> event + " is parked: " + error);
    }

    /** Parks an event, in the caller's transaction, after the earlier events of its key. Without a key it is due. */
    void follow(Connection connection, Delivery follower) throws SQLException {
        State state = follower.event().keyHash() == null ? State.RETRY : State.BEHIND;
        String cause = pauses.cause(follower.handler().name());
        table.follow(connection, group, follower.event(), follower.handler(), state, cause, rules.backoff());
        effects.isParked(connection, follower);
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
            writes.run(connection -> {
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
        storeTheUnstored();
        return writes.run(connection -> table.takeDue(connection, group, from, handlers, rules.backoff()));
    }

    /** Takes the attempt back, because it did not fail because of the event. */
    void giveBack(DueEvent due) throws SQLException {
        store(connection -> {
            table.giveBack(connection, due, rules.backoff());
            return true;
        });
    }

    /** Takes the attempt back, because the handler asked for another one after a delay. */
    void postpone(DueEvent due, Throwable cause, Duration delay) throws SQLException {
        store(connection -> {
            table.postpone(connection, due, delay, ErrorText.of(cause));
            return true;
        });
    }

    /** Stores that an attempt failed. Returns the new state. */
    State failedAgain(DueEvent due, Throwable cause, RetryRule retry) throws SQLException {
        boolean isLast = retry.kind() == RetryRule.Kind.NEVER || cause instanceof UnreadableRecordException;
        int most = isLast ? 0 : rules.attempts();
        return store(connection -> Optional.ofNullable(table.failedAgain(
                        connection, due, most, rules.whenDead(), ErrorText.of(cause), rules.backoff())))
                .orElse(State.RETRY);
    }

    /**
     * Why the event must not be tried again, although it is due: all its attempts are used up. Either the result of the
     * last one was never stored, or fewer are configured now. Null if it may be tried.
     *
     * <p><b>Remedy.</b> Correct the handler, then retry or discard the event.
     */
    @Nullable Throwable noAttemptLeft(DueEvent due) {
        int before = due.attempt() - 1;
        if (before < rules.attempts()) {
            return null;
        }
        String limit = InboxSettings.PARKED_ATTEMPTS.key() + " is " + rules.attempts();
        String text = before > rules.attempts()
                ? before + " attempts were made, but " + limit + " now"
                : "the process ended during attempt " + before + " of handler " + due.handler()
                        + ", or could not store its result; " + limit;
        String error = due.event().error();
        return new IllegalStateException(error == null ? text : text + ". Earlier error: " + error);
    }

    /** If the result cannot be stored now, it is stored before the next event is retried. */
    private <T> T store(JtaDatabase.Work<T> result) throws SQLException {
        try {
            return writes.run(result);
        } catch (SQLException e) {
            unstored.add(result);
            throw e;
        }
    }

    private void storeTheUnstored() throws SQLException {
        for (JtaDatabase.Work<?> result = unstored.poll(); result != null; result = unstored.poll()) {
            store(result);
        }
    }

    /** Does what a crash has left undone, for all keys. Returns the database's time. */
    Instant sweep() throws SQLException {
        return writes.run(connection -> {
            table.promoteAll(connection, group);
            starts.deleteOld(connection, group);
            return table.now(connection);
        });
    }

    ParkedTable.Counts count() throws SQLException {
        return writes.run(connection -> table.count(connection, group));
    }
}
