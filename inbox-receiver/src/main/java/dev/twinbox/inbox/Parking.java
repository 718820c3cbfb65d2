package dev.twinbox.inbox;

import dev.twinbox.inbox.Claims.Pair;
import dev.twinbox.inbox.ParkedEvent.State;
import dev.twinbox.inbox.ParkedTable.Begun;
import dev.twinbox.inbox.ParkedTable.Line;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** Sets events aside that can not be handled, and keeps those behind them in line. Used by all workers. */
final class Parking {

    private static final Logger LOG = System.getLogger(Parking.class.getName());

    /** When what a handler needs is away, all its events come here at once; one of them in the log will do. */
    private static final long LOG_INTERVAL = TimeUnit.SECONDS.toNanos(1);

    private final String group;
    private final ParkedTable table;
    private final InboxConfig.Parking rules;
    private final ShortTransaction transaction;
    private final InboxStatus status;
    private final AtomicLong noLogBefore = new AtomicLong(System.nanoTime());

    Parking(
            String group,
            ParkedTable table,
            InboxConfig.Parking rules,
            ShortTransaction transaction,
            InboxStatus status) {
        this.group = group;
        this.table = table;
        this.rules = rules;
        this.transaction = transaction;
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
     * @param handler null: the record can not be read at all
     * @param failures how often the handler has failed
     */
    void park(ReceivedEvent event, @Nullable Handler handler, int failures, Throwable cause) throws SQLException {
        State state = stateAfter(failures, cause);
        transaction.run(connection -> {
            table.park(connection, group, event, handler, state, failures, ErrorText.of(cause), rules.backoff());
            return true;
        });
        report(event, handler, state, failures, cause);
    }

    /** The same for an event that is {@link #begin begun}. */
    void parkBegun(ReceivedEvent event, Handler handler, Begun begun, int failures, Throwable cause)
            throws SQLException {
        State state = stateAfter(failures, cause);
        transaction.run(connection -> {
            table.failBegun(connection, begun.number(), state, failures, ErrorText.of(cause), rules.backoff());
            return true;
        });
        report(event, handler, state, failures, cause);
    }

    /** A record that can not be read now can not be read later. */
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
                            + " and is parked: it is tried again, " + "up to " + rules.attempts()
                            + " times in all; later events of its key wait behind it",
                    printable);
        } else {
            LOG.log(
                    Level.ERROR,
                    () -> event + " is parked and not tried again"
                            + (handler == null ? ": it can not be read as an event" : " in handler " + handler)
                            + ". Look at it, then send it again or discard it: inbox-receiver-cli.jar parked list",
                    printable);
        }
    }

    /** Commits that a handler is about to be called; empty: the event is parked. */
    @Nullable Begun begin(ReceivedEvent event, Handler handler) throws SQLException {
        return transaction
                .run(connection -> Optional.ofNullable(table.begin(connection, group, event, handler)))
                .orElse(null);
    }

    /** Nobody survives it. */
    void giveUp(ReceivedEvent event, Handler handler, Begun begun) throws SQLException {
        int ends = begun.times() - 1;
        String error = "the process ended " + ends + " times while handler " + handler
                + " was at this event; it is not begun again";
        transaction.run(connection -> {
            table.failBegun(connection, begun.number(), rules.whenDead(), ends, error, rules.backoff());
            return true;
        });
        status.parked(1);
        LOG.log(Level.ERROR, () -> event + " is parked: " + error);
    }

    /** Parks an event, in the caller's transaction, behind those of its key. */
    void follow(Connection connection, Pair follower) throws SQLException {
        table.park(connection, group, follower.event(), follower.handler(), State.BEHIND, 0, null, rules.backoff());
    }

    /** To be called after the commit of {@link #follow}: who they got behind may be gone by now. */
    void followed(List<Pair> followers) {
        if (followers.isEmpty()) {
            return;
        }
        status.parked(followers.size());
        List<Line> lines = new ArrayList<>();
        Set<List<Object>> seen = new HashSet<>();
        for (Pair follower : followers) {
            Line line = line(follower.event(), follower.handler().name());
            if (line != null
                    && seen.add(List.of(line.handler(), line.topic(), java.nio.ByteBuffer.wrap(line.keyHash())))) {
                lines.add(line);
            }
        }
        promote(lines);
    }

    /** Where the event stands; null: it has no key, so nobody waits for it. */
    @Nullable Line line(ReceivedEvent event, @Nullable String handler) {
        byte[] keyHash = event.keyHash();
        return keyHash == null || handler == null
                ? null
                : new Line(group, handler, event.record().topic(), keyHash);
    }

    /** What fails here is done within a minute by {@link RetryLoop}. */
    void promote(List<Line> lines) {
        try {
            transaction.run(connection -> {
                for (Line line : lines) {
                    table.promote(connection, line);
                }
                return true;
            });
        } catch (SQLException e) {
            LOG.log(Level.DEBUG, "Will see later who is next", e);
        }
    }
}
