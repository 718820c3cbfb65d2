package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;

/** The thread that retries parked events. */
final class RetryLoop implements Supervisor.Loop {

    private static final Logger LOG = System.getLogger(RetryLoop.class.getName());

    private static final String NAME = "retries of parked events";
    private static final Duration IDLE = Duration.ofMillis(500);

    private final ParkedRetries retries;
    private final Backoff whenDatabaseFails;
    private final ReceiverStatus status;
    private final StopRequest stop;

    /** Written by this thread, read by readiness checks. */
    private volatile long lastRun = System.nanoTime();

    private int databaseFailures;

    RetryLoop(ParkedRetries retries, Backoff whenDatabaseFails, ReceiverStatus status, StopRequest stop) {
        this.retries = retries;
        this.whenDatabaseFails = whenDatabaseFails;
        this.status = status;
        this.stop = stop;
    }

    @Override
    public void run() {
        status.watch(NAME, () -> Duration.ofNanos(System.nanoTime() - lastRun).toSeconds());
        while (!stop.isAsked()) {
            Duration wait = runAndReport();
            if (!wait.isZero()) {
                stop.await(wait);
            }
        }
        status.recovered(NAME);
        status.unwatch(NAME); // not in a finally block: if the thread dies, readiness must report it
    }

    /** Returns how long to wait before the next round. */
    private Duration runAndReport() {
        lastRun = System.nanoTime();
        try {
            boolean found = retries.runOnce();
            databaseFailures = 0;
            status.recovered(NAME);
            return found ? Duration.ZERO : IDLE;
        } catch (SQLException | RuntimeException | Error e) {
            report(e);
            return whenDatabaseFails.after(++databaseFailures);
        }
    }

    /**
     * This trouble has a name of its own. The workers' trouble ends with their next commit, which says nothing about
     * retries.
     */
    private void report(Throwable thrown) {
        String text = ErrorText.of(thrown);
        if (!stop.isAsked() && status.trouble(NAME, text)) {
            LOG.log(Level.WARNING, "Parked events cannot be retried; the receiver waits until they can: {0}", text);
        }
    }
}
