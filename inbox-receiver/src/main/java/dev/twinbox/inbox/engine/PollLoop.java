package dev.twinbox.inbox.engine;

import dev.twinbox.SchemaException;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.inbox.pause.Pauses;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The poll thread of one consumer group. It waits for the database, joins the group, and polls until it is asked to
 * stop.
 *
 * <p>After any failure it leaves the group and starts again, after a wait that grows with each failure.
 */
final class PollLoop implements Supervisor.Loop {

    private static final Logger LOG = System.getLogger(PollLoop.class.getName());

    private final String name;
    private final String group;
    private final DatabaseCheck databaseCheck;
    private final Announcements announcements;
    private final Pauses pauses;
    private final Supplier<GroupMember> members;
    private final Backoff backoff;
    private final ReceiverStatus status;
    private final StopRequest stop;

    /** Written by the poll thread, read by the thread that stops it. */
    private volatile @Nullable GroupMember member;

    /** Written by the poll thread, read by readiness checks. */
    private volatile long lastRun = System.nanoTime();

    private boolean databaseChecked;
    private int failures;

    PollLoop(
            String group,
            DatabaseCheck databaseCheck,
            Announcements announcements,
            Pauses pauses,
            Supplier<GroupMember> members,
            Backoff backoff,
            ReceiverStatus status,
            StopRequest stop) {
        this.name = "receiver of group " + group;
        this.group = group;
        this.databaseCheck = databaseCheck;
        this.announcements = announcements;
        this.pauses = pauses;
        this.members = members;
        this.backoff = backoff;
        this.status = status;
        this.stop = stop;
    }

    @Override
    public void run() {
        status.watch(name, () -> Duration.ofNanos(System.nanoTime() - lastRun).toSeconds());
        try {
            while (!stop.isAsked()) {
                runUntilFailure();
            }
        } finally {
            status.unwatch(name);
        }
    }

    /** Ends a poll that is in progress, after the request to stop. May be called from any thread. */
    void wakeUp() {
        GroupMember current = member;
        if (current != null) {
            current.wakeUp();
        }
    }

    private void runUntilFailure() {
        try {
            checkDatabase();
            pollAsMember();
        } catch (Exception | Error e) {
            if (!stop.isAsked()) {
                failed(e);
            }
        }
    }

    private void checkDatabase() throws Exception {
        if (!databaseChecked) {
            databaseCheck.run();
            announcements.announce(); // before it joins: from now on no other instance skips what this one handles
            pauses.begin();
            databaseChecked = true;
            status.databaseWorks();
        }
    }

    private void pollAsMember() {
        GroupMember current = members.get();
        member = current;
        try {
            current.join();
            while (!stop.isAsked()) {
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
        boolean stopped = stop.await(wait);
        LOG.log(Level.DEBUG, () -> name + (stopped ? " stops" : " starts again"));
    }
}
