package dev.twinbox.inbox.replay;

import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayJob.Counts;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Handles events by the rules of their handler: in transactions, within its time limit, parking what fails. */
public interface EventHandling {

    /**
     * Handles events for a job.
     *
     * @param owner claims under the lease of this owner only
     */
    OfJob begin(ReplayJob job, UUID owner);

    /** Handles events for one job. Called by one thread. */
    interface OfJob {

        /** Whether the handler may be called: its circuit breaker is not open. */
        boolean mayCall();

        /**
         * Has a worker handle the first of these events, or all of them, in their order.
         *
         * @param events of one partition, all readable, not empty; the rest is handed out again
         * @param how whether one of them may have ended the process before
         * @return null if all workers are busy
         */
        @Nullable Part handle(List<ReceivedEvent> events, Start how);
    }

    /** How the events were left before. */
    enum Start {
        CLEAN,
        AFTER_CRASH
    }

    /** Events that a worker handles. */
    interface Part {

        /** Waits for what became of them. Null if that is not known yet. */
        @Nullable Result await(Duration atMost) throws InterruptedException;

        /** Asks the worker to end after the current event. */
        void cutShort();
    }

    /**
     * What became of events.
     *
     * @param settled how many, from the first on, need nothing more
     * @param next what happens to the rest
     * @param cause why the rest has to wait; null if it can go on
     * @param counts of those that are settled
     */
    record Result(int settled, Next next, @Nullable Throwable cause, Counts counts) {}

    /** What happens to the rest. */
    enum Next {
        GO_ON,
        /** They failed. They are handed out again after a wait. */
        WAIT,
        /** The database failed. They are handed out again after a wait. */
        WAIT_FOR_DATABASE,
        /** The job may be over, or another instance may have it. */
        LOOK_AT_JOB
    }
}
