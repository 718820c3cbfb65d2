package dev.twinbox.inbox.engine;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.jdbc.Backoff;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The poll thread of one consumer group. It waits for the database, joins the group, and polls until it is asked to
 * stop.
 *
 * <p>After any failure it leaves the group and starts again, after a wait that grows with each failure.
 */
final class PollLoop implements Runnable {

    private static final Logger LOG = System.getLogger(PollLoop.class.getName());

    private final String name;
    private final String group;
    private final DatabaseCheck databaseCheck;
    private final Supplier<GroupMember> members;
    private final Backoff backoff;
    private final ReceiverStatus status;
    private final CountDownLatch stopRequested = new CountDownLatch(1);

    /** Written by the poll thread, read by the thread that stops it. */
    private volatile @Nullable GroupMember member;

    /** Written by the poll thread, read by readiness checks. */
    private volatile long lastRun = System.nanoTime();

    private boolean databaseChecked;
    private int failures;

    PollLoop(
            String group,
            DatabaseCheck databaseCheck,
            Supplier<GroupMember> members,
            Backoff backoff,
            ReceiverStatus status) {
        this.name = "receiver of group " + group;
        this.group = group;
        this.databaseCheck = databaseCheck;
        this.members = members;
        this.backoff = backoff;
        this.status = status;
    }

    @Override
    public void run() {
        status.watch(name, () -> Duration.ofNanos(System.nanoTime() - lastRun).toSeconds());
        try {
            while (isWanted()) {
                runUntilFailure();
            }
        } finally {
            status.unwatch(name);
        }
    }

    /** Ends {@link #run} as soon as the running batches allow. May be called from any thread. */
    void stop() {
        stopRequested.countDown();
        GroupMember current = member;
        if (current != null) {
            current.wakeUp();
        }
    }

    private boolean isWanted() {
        return stopRequested.getCount() > 0 && !Thread.currentThread().isInterrupted();
    }

    private void runUntilFailure() {
        try {
            checkDatabase();
            pollAsMember();
        } catch (Exception | Error e) {
            if (isWanted()) {
                failed(e);
            }
        }
    }

    private void checkDatabase() throws Exception {
        if (!databaseChecked) {
            databaseCheck.run();
            databaseChecked = true;
            status.databaseWorks();
        }
    }

    private void pollAsMember() {
        GroupMember current = members.get();
        member = current;
        try {
            current.join();
            while (isWanted()) {
                current.runOnce();
                lastRun = System.nanoTime();
                failures = 0;
                status.recovered(name);
            }
        } finally {
            member = null;
            current.leave();
        }
    }

    /** <b>Remedy.</b> The rest of the message names it. */
    private void failed(Throwable cause) {
        lastRun = System.nanoTime();
        failures++;
        Duration wait = backoff.after(failures);
        if (databaseChecked) {
            String text = GroupFault.text(group, cause);
            if (status.trouble(name, text)) {
                LOG.log(Level.WARNING, () -> name + " failed and starts again in " + wait + ". " + text, cause);
            }
        } else if (cause instanceof SchemaException) {
            if (status.trouble(name, ErrorText.of(cause))) {
                LOG.log(Level.ERROR, () -> name + " cannot start: " + cause.getMessage());
            }
        } else {
            status.databaseFailed(cause);
        }
        pause(wait);
    }

    private void pause(Duration wait) {
        try {
            boolean stopped = stopRequested.await(wait.toNanos(), TimeUnit.NANOSECONDS);
            LOG.log(Level.DEBUG, () -> name + (stopped ? " stops" : " starts again"));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
