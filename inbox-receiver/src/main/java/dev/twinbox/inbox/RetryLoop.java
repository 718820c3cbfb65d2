package dev.twinbox.inbox;

import dev.twinbox.inbox.Claims.GoneException;
import dev.twinbox.inbox.ParkedEvent.State;
import dev.twinbox.inbox.ParkedTable.Due;
import dev.twinbox.inbox.ParkedTable.Line;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The thread that tries parked events again, one after the other: of each key the first. Several instances share the work.
 */
final class RetryLoop implements Runnable {

    private static final Logger LOG = System.getLogger(RetryLoop.class.getName());

    private static final String NAME = "retries of parked events";
    private static final Duration IDLE = Duration.ofMillis(500);
    private static final Duration SWEEP_INTERVAL = Duration.ofMinutes(1);
    private static final Duration COUNT_INTERVAL = Duration.ofSeconds(5);

    private final Workshop workshop;
    private final Subscription subscription;
    private final InboxConfig.Parking rules;
    private final Backoff whenDatabaseFails;
    private final ShortTransaction transaction;
    private final List<String> handlers;
    private final CountDownLatch stopRequested = new CountDownLatch(1);

    /** Written by this thread, read by readiness checks. */
    private volatile long lastTurn = System.nanoTime();

    private Instant from = Instant.EPOCH;
    private long sweepAt = System.nanoTime();
    private long countAt = System.nanoTime();
    private int databaseFailures;

    RetryLoop(
            Workshop workshop,
            Subscription subscription,
            InboxConfig config,
            ShortTransaction transaction,
            List<String> handlers) {
        this.workshop = workshop;
        this.subscription = subscription;
        this.rules = config.parking();
        this.whenDatabaseFails = config.backoff();
        this.transaction = transaction;
        this.handlers = handlers;
    }

    @Override
    public void run() {
        workshop.status()
                .watch(
                        NAME,
                        () -> Duration.ofNanos(System.nanoTime() - lastTurn).toSeconds());
        while (isWanted()) {
            pause(turn());
        }
        workshop.status().recovered(NAME);
        workshop.status().unwatch(NAME); // not in a finally block: if it dies, readiness is to say so
    }

    /** From any thread: ends {@link #run} as soon as the event that is being handled allows. */
    void stop() {
        stopRequested.countDown();
    }

    private boolean isWanted() {
        return stopRequested.getCount() > 0 && !Thread.currentThread().isInterrupted();
    }

    /** Returns how long to wait before the next. */
    private Duration turn() {
        lastTurn = System.nanoTime();
        try {
            boolean found = runOnce();
            databaseFailures = 0;
            workshop.status().recovered(NAME);
            return found ? Duration.ZERO : IDLE;
        } catch (SQLException | RuntimeException | Error e) {
            report(e);
            return whenDatabaseFails.after(++databaseFailures);
        }
    }

    /** A trouble of its own: what the workers meet comes and goes with the events that they have. */
    private void report(Throwable thrown) {
        String text = ErrorText.of(thrown);
        if (isWanted() && workshop.status().trouble(NAME, text)) {
            LOG.log(Level.WARNING, "Parked events can not be tried again, will wait until they can: {0}", text);
        }
    }

    private void pause(Duration wait) {
        try {
            if (!wait.isZero() && stopRequested.await(wait.toNanos(), TimeUnit.NANOSECONDS)) {
                LOG.log(Level.DEBUG, "No more " + NAME);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Tries one event that is due; returns whether there was one. */
    boolean runOnce() throws SQLException {
        count();
        boolean sweep = System.nanoTime() - sweepAt >= 0;
        Instant since = sweep ? Instant.EPOCH : from;
        Optional<Due> due = transaction.run(connection ->
                workshop.parking().table().takeDue(connection, workshop.group(), since, handlers, rules.backoff()));
        if (due.isPresent()) {
            handle(due.get());
            return true;
        }
        if (sweep) {
            endSweep();
        }
        return false;
    }

    /**
     * Now and then everything is looked at, for what a long transaction committed late or a crash left behind; until the next
     * time it is enough to look at what has become due since.
     */
    private void endSweep() throws SQLException {
        from = transaction
                .run(connection -> {
                    workshop.parking().table().promoteAll(connection, workshop.group());
                    return workshop.parking().table().now(connection);
                })
                .minus(SWEEP_INTERVAL);
        sweepAt = System.nanoTime() + SWEEP_INTERVAL.toNanos();
    }

    private void count() throws SQLException {
        long now = System.nanoTime();
        if (now - countAt >= 0) {
            workshop.status()
                    .count(transaction.run(
                            connection -> workshop.parking().table().count(connection, workshop.group())));
            countAt = now + COUNT_INTERVAL.toNanos();
        }
    }

    private void handle(Due due) throws SQLException {
        ReceivedEvent event = ReceivedEvent.of(due.record(), subscription, workshop.status());
        List<Handler> mine = event.handlers().stream()
                .filter(handler -> due.handler() == null || handler.name().equals(due.handler()))
                .toList();
        if (!event.isReadable()) {
            failed(due, event, event.problem());
        } else if (mine.isEmpty()) {
            failed(
                    due,
                    event,
                    new UnreadableRecordException("no handler takes it any more, its type is " + event.typeOrNull()));
        } else {
            attempt(due, event, mine);
        }
    }

    private void attempt(Due due, ReceivedEvent event, List<Handler> mine) throws SQLException {
        Claims claims =
                new Claims.FromParking(workshop.table(), workshop.parking().table(), due);
        Attempt attempt = new Attempt(workshop, List.of(event), one -> mine, claims, handled -> true).execute();
        if (attempt.isCommitted()) {
            promote(due, event);
            LOG.log(Level.DEBUG, () -> event + " was handled at attempt " + due.attempt());
        } else if (attempt.cause() instanceof GoneException) {
            LOG.log(Level.DEBUG, () -> attempt.cause().getMessage());
        } else if (attempt.isDatabaseFault()) {
            giveBack(due);
            throw new SQLException("a parked event could not be tried", attempt.cause());
        } else if (due.handler() != null && Faults.isAlreadyDone(attempt.cause())) { // else it is not known by whom
            workshop.status().alreadyDone(1);
            attempt(due, event, mine.stream().map(Handler::withoutEffect).toList());
        } else {
            failed(due, event, attempt.cause());
        }
    }

    private void giveBack(Due due) throws SQLException {
        transaction.run(connection -> {
            workshop.parking().table().giveBack(connection, due, rules.backoff());
            return true;
        });
    }

    private void failed(Due due, ReceivedEvent event, Throwable cause) throws SQLException {
        workshop.status().failed();
        int most = cause instanceof UnreadableRecordException ? 0 : rules.attempts();
        State state = transaction
                .run(connection -> Optional.ofNullable(workshop.parking()
                        .table()
                        .failedAgain(connection, due, most, rules.whenDead(), ErrorText.of(cause), rules.backoff())))
                .orElse(State.RETRY);
        if (state == State.RETRY) {
            LOG.log(Level.DEBUG, () -> event + " failed at attempt " + due.attempt(), ErrorText.forLog(cause));
            return;
        }
        LOG.log(
                Level.ERROR,
                () -> event + " is given up after " + due.attempt() + " attempts in handler " + due.handler()
                        + (state == State.DEAD ? "; its key waits" : "; its key goes on without it")
                        + ". Send it again or discard it: inbox-receiver-cli.jar parked redrive|discard "
                        + due.number(),
                ErrorText.forLog(cause));
        promote(due, event);
    }

    private void promote(Due due, ReceivedEvent event) {
        @Nullable Line line = workshop.parking().line(event, due.handler());
        if (line != null) {
            workshop.parking().promote(List.of(line));
        }
    }
}
