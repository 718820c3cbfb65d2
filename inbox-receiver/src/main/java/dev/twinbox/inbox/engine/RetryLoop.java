package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.jdbc.Backoff;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** The thread that retries parked events. */
final class RetryLoop implements Runnable {

    private static final Logger LOG = System.getLogger(RetryLoop.class.getName());

    private static final String NAME = "retries of parked events";
    private static final Duration IDLE = Duration.ofMillis(500);

    private final ParkedRetries retries;
    private final Backoff whenDatabaseFails;
    private final ReceiverStatus status;
    private final CountDownLatch stopRequested = new CountDownLatch(1);

    /** Written by this thread, read by readiness checks. */
    private volatile long lastRun = System.nanoTime();

    private int databaseFailures;

    RetryLoop(ParkedRetries retries, Backoff whenDatabaseFails, ReceiverStatus status) {
        this.retries = retries;
        this.whenDatabaseFails = whenDatabaseFails;
        this.status = status;
    }

    @Override
    public void run() {
        status.watch(NAME, () -> Duration.ofNanos(System.nanoTime() - lastRun).toSeconds());
        while (isWanted()) {
            pause(runAndReport());
        }
        status.recovered(NAME);
        status.unwatch(NAME); // not in a finally block: if the thread dies, readiness must report it
    }

    /** Ends {@link #run} as soon as the event that is being handled allows. May be called from any thread. */
    void stop() {
        stopRequested.countDown();
    }

    private boolean isWanted() {
        return stopRequested.getCount() > 0 && !Thread.currentThread().isInterrupted();
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
        if (isWanted() && status.trouble(NAME, text)) {
            LOG.log(Level.WARNING, "Parked events cannot be retried; the receiver waits until they can: {0}", text);
        }
    }

    private void pause(Duration wait) {
        try {
            if (!wait.isZero() && stopRequested.await(wait.toNanos(), TimeUnit.NANOSECONDS)) {
                LOG.log(Level.DEBUG, NAME + " stop");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
