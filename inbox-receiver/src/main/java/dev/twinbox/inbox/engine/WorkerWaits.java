package dev.twinbox.inbox.engine;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Reports threads that wait for the database: for a connection, for a row that another session has locked, or for a
 * commit. Such a wait has no limit, and everything behind it waits too.
 *
 * <p>Time in handlers does not count: {@link CallWatch} limits it.
 */
final class WorkerWaits {

    private static final Logger LOG = System.getLogger(WorkerWaits.class.getName());

    private static final String SUBJECT = "waits for the database";

    /** Long for the receiver's own statements. A claim may still wait for another instance's handler. */
    private static final Duration LONG = Duration.ofSeconds(30);

    private final Map<Thread, Task> tasks = new ConcurrentHashMap<>();
    private final long noteAfter;
    private final long troubleAfter;
    private final ReceiverStatus status;

    /** Only the watching thread uses it. */
    private boolean isReported;

    private boolean isTrouble;

    /**
     * Watches nothing yet.
     *
     * @param longestCall the longest time that a handler may take; a claim may wait so long for another instance's
     * @param grace how much longer it may take if the handler does not return
     */
    WorkerWaits(Duration longestCall, Duration grace, ReceiverStatus status) {
        this.noteAfter = (longestCall.compareTo(LONG) < 0 ? longestCall : LONG).toNanos();
        this.troubleAfter = longestCall.plus(grace).toNanos();
        this.status = status;
    }

    private static final class Task {
        private final Object what;
        private volatile long since = System.nanoTime();
        private volatile boolean isInHandler;

        Task(Object what) {
            this.what = what;
        }

        /** How long it has waited, in nanoseconds. */
        long waits(long now) {
            return isInHandler ? 0 : now - since;
        }
    }

    /** The current thread begins a task. {@link #end} must follow. */
    void begin(Object what) {
        tasks.put(Thread.currentThread(), new Task(what));
    }

    void end() {
        tasks.remove(Thread.currentThread());
    }

    /** The current thread is about to call a handler. */
    void handlerBegins() {
        Task task = tasks.get(Thread.currentThread());
        if (task != null) {
            task.isInHandler = true;
        }
    }

    void handlerEnded() {
        Task task = tasks.get(Thread.currentThread());
        if (task != null) {
            task.since = System.nanoTime();
            task.isInHandler = false;
        }
    }

    /** The same work as a task. */
    Runnable watched(Object what, Runnable work) {
        return () -> {
            begin(what);
            try {
                work.run();
            } finally {
                end();
            }
        };
    }

    /** Called by the watching thread. */
    void runOnce(long now) {
        List<Task> late = tasks.values().stream()
                .filter(task -> task.waits(now) >= noteAfter)
                .sorted((one, other) -> Long.compare(other.waits(now), one.waits(now)))
                .toList();
        if (!late.isEmpty()) {
            report(late, late.get(0).waits(now));
        } else if (isReported) {
            isReported = false;
            isTrouble = false;
            status.removeNote(SUBJECT);
            status.recovered(SUBJECT);
            LOG.log(Level.INFO, "No thread of the receiver waits for the database any more");
        }
    }

    /**
     * <b>Remedy.</b> End the session that blocks the others: the rest of the message says how to find it.
     */
    private void report(List<Task> late, long longest) {
        String text = late.size() + " thread(s) of the receiver wait for the database, one of them for "
                + Duration.ofNanos(longest).toSeconds() + " s with " + late.get(0).what
                + ". Look for the session that blocks it, and end it with pg_terminate_backend: select pid, state, query"
                + " from pg_stat_activity where pid in (select unnest(pg_blocking_pids(pid)) from pg_stat_activity)."
                + " If there is none, look at the pool's size and at synchronous standbys";
        if (longest < troubleAfter) {
            status.note(SUBJECT, text);
        } else {
            status.removeNote(SUBJECT);
            status.trouble(SUBJECT, text);
        }
        if (!isReported || (!isTrouble && longest >= troubleAfter)) {
            LOG.log(longest < troubleAfter ? Level.WARNING : Level.ERROR, text);
        }
        isReported = true;
        isTrouble = longest >= troubleAfter;
        if (!isTrouble) {
            status.recovered(SUBJECT);
        }
    }
}
