package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * The thread that has parked events retried. The workers retry them, in parallel by key: only the first parked event of
 * a key can be due. Each worker that finds one asks for another worker. So their number grows with what is due, up to
 * the {@link RetryShare}.
 *
 * <p>No handler runs on this thread. So a slow handler holds up no other retry, and readiness does not depend on it.
 */
final class RetryLoop implements Supervisor.Loop {

    private static final Logger LOG = System.getLogger(RetryLoop.class.getName());

    private static final String NAME = "retries of parked events";
    private static final Duration IDLE = Duration.ofMillis(500);

    private final ParkedRetries retries;
    private final RetryShare share;
    private final WorkerWaits waits;
    private final Backoff whenDatabaseFails;
    private final ReceiverStatus status;
    private final StopRequest stop;

    /** Failures of the database in a row, of this thread and the workers. */
    private final AtomicInteger databaseFailures = new AtomicInteger();

    /** Written by this thread, read by readiness checks. */
    private volatile long lastRun = System.nanoTime();

    RetryLoop(
            ParkedRetries retries,
            RetryShare share,
            WorkerWaits waits,
            Backoff whenDatabaseFails,
            ReceiverStatus status,
            StopRequest stop) {
        this.retries = retries;
        this.share = share;
        this.waits = waits;
        this.whenDatabaseFails = whenDatabaseFails;
        this.status = status;
        this.stop = stop;
    }

    @Override
    public void run() throws InterruptedException {
        status.watch(NAME, () -> Duration.ofNanos(System.nanoTime() - lastRun).toSeconds());
        while (!stop.isAsked()) {
            lastRun = System.nanoTime();
            runOnce();
            int failures = databaseFailures.get();
            stop.await(failures == 0 ? IDLE : whenDatabaseFails.after(failures));
        }
        share.awaitNone(); // handlers may finish what they have begun
        status.recovered(NAME);
        status.unwatch(NAME); // not in a finally block: if the thread dies, readiness must report it
    }

    private void runOnce() {
        try {
            retries.lookAfterThem();
            startWorker();
        } catch (SQLException | RuntimeException | Error e) {
            failed(e);
        }
    }

    private void startWorker() {
        RetryShare.Place place = share.take();
        if (place != null) {
            place.execute(() -> retryWhatIsDue(place));
        }
    }

    /** Runs on a worker. Between two events it lets tasks go first that wait for a worker. */
    private void retryWhatIsDue(RetryShare.Place place) {
        boolean found = true;
        waits.begin("a parked event");
        try {
            while (found && !stop.isAsked() && !place.giveBackIfTooMuch()) {
                found = retries.runOnce(this::startWorker, place::giveBack);
                succeeded();
                if (found && place.isWanted()) {
                    place.execute(() -> retryWhatIsDue(place));
                    return;
                }
            }
        } catch (SQLException | RuntimeException | Error e) {
            failed(e);
        } finally {
            waits.end();
        }
        place.giveBack();
    }

    private void succeeded() {
        if (databaseFailures.getAndSet(0) > 0) {
            status.recovered(NAME);
        }
    }

    /**
     * This trouble has a name of its own. The workers' trouble ends with their next commit, which says nothing about
     * retries.
     */
    private void failed(Throwable thrown) {
        databaseFailures.incrementAndGet();
        String text = ErrorText.of(thrown);
        if (!stop.isAsked() && status.trouble(NAME, text)) {
            LOG.log(Level.WARNING, "Parked events cannot be retried; the receiver waits until they can: {0}", text);
        }
    }
}
