package dev.twinbox.outbox;

import dev.twinbox.TwinboxException;
import dev.twinbox.thread.LoopEnds;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ThreadFactory;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Opens the outbox when the application starts: checks the database, and chooses the way to write.
 *
 * <p>A mistake fails the deployment. A database that cannot be reached is an outage, not a mistake: the application
 * starts with a warning, and a thread tries again until the outbox is open. Until then nothing can be published, because
 * on the wrong way rows would be written outside of the transaction.
 *
 * <p>All methods may be called from any thread.
 */
final class Opening {

    private static final Logger LOG = System.getLogger(Opening.class.getName());
    private static final Duration RETRY = Duration.ofSeconds(1);
    private static final Duration STOP_TIMEOUT = Duration.ofSeconds(10);

    /** One attempt to open the outbox. */
    interface Attempt {
        /**
         * Checks the database, and chooses the way.
         *
         * @throws SQLException if the database or the server failed, and may work later
         * @throws TwinboxException if somebody has to correct something
         */
        ChosenWay open() throws SQLException;
    }

    private final Attempt attempt;
    private final Supplier<ThreadFactory> threads;
    private final OutboxConfiguration configuration;
    private final Duration retry;
    private final StopRequest stop = new StopRequest();

    /** Null until the outbox is open. Never changes after that. */
    private volatile @Nullable ChosenWay chosen;

    /** What the last attempt failed of; null before the first. */
    private volatile @Nullable String trouble;

    private @Nullable Supervisor waiting;

    /**
     * Does nothing yet.
     *
     * @param threads asked only if the database cannot be reached
     * @param configuration for the log
     */
    Opening(Attempt attempt, Supplier<ThreadFactory> threads, OutboxConfiguration configuration) {
        this(attempt, threads, configuration, RETRY);
    }

    Opening(Attempt attempt, Supplier<ThreadFactory> threads, OutboxConfiguration configuration, Duration retry) {
        this.attempt = attempt;
        this.threads = threads;
        this.configuration = configuration;
        this.retry = retry;
    }

    /**
     * Makes the first attempt, unless a bean that publishes while the application starts has made it. After an outage
     * a thread goes on.
     *
     * @throws TwinboxException if somebody has to correct something
     */
    synchronized void start() {
        if (chosen != null || trouble != null || stop.isAsked()) {
            return;
        }
        try {
            open();
        } catch (SQLException e) {
            waitFor(e);
        }
    }

    /**
     * The way to write.
     *
     * @throws TwinboxException if the outbox is not open
     */
    WriteWay way() {
        ChosenWay open = chosen;
        if (open == null) {
            start();
            open = chosen;
        }
        if (open == null) {
            throw new TwinboxException("The outbox is not open, so nothing can be published: " + trouble
                    + ". It is opened when the database works; try the transaction again then");
        }
        return open.way();
    }

    /** Null if the outbox is not open. */
    @Nullable ChosenWay chosen() {
        return chosen;
    }

    /** Why the outbox is not open. */
    String trouble() {
        String text = trouble;
        return text == null ? "has not started yet" : text;
    }

    /** Ends the thread that waits for the database, if there is one. */
    void stop() {
        stop.ask();
        Supervisor left;
        synchronized (this) {
            left = waiting;
        }
        if (left != null && !left.join(STOP_TIMEOUT).isEmpty()) {
            left.interrupt();
        }
    }

    private void open() throws SQLException {
        ChosenWay way = attempt.open();
        chosen = way;
        LOG.log(Level.INFO, () -> "Outbox started: " + configuration + "; it writes " + way);
    }

    private void waitFor(SQLException outage) {
        trouble = reached(outage);
        LOG.log(
                Level.WARNING,
                () -> reached(outage) + ". The application starts; nothing can be published until the database works.");
        Supervisor supervisor = new Supervisor(threads.get(), new LoopEnds(), stop);
        waiting = supervisor;
        supervisor.start("twinbox-outbox-start", this::openLater);
    }

    private String reached(SQLException outage) {
        return "The outbox's database cannot be reached (data source " + configuration.dataSource() + "): "
                + outage.getMessage();
    }

    private void openLater() {
        while (!stop.await(retry)) {
            if (isOpened()) {
                stop.ask();
            }
        }
    }

    private boolean isOpened() {
        try {
            open();
            return true;
        } catch (SQLException e) {
            trouble = reached(e);
        } catch (TwinboxException e) {
            report(e);
        }
        return false;
    }

    /** Once for each problem: an operator who corrects it needs no new start. */
    private void report(TwinboxException problem) {
        String text = String.valueOf(problem.getMessage());
        if (!text.equals(trouble)) {
            trouble = text;
            LOG.log(Level.ERROR, text);
        }
    }
}
