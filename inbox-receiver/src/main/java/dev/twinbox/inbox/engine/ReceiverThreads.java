package dev.twinbox.inbox.engine;

import dev.twinbox.thread.LoopEnds;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import dev.twinbox.thread.WorkerPool;
import jakarta.enterprise.concurrent.ManageableThread;
import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;

/** The threads of the receiver: one for each loop, and a pool of workers that run handlers. */
final class ReceiverThreads {

    /** How long it may take to leave the group and to end the threads, after the wait for handlers. */
    private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(10);

    private static final Duration INTERRUPT_TIMEOUT = Duration.ofSeconds(2);

    private final Supervisor loops;
    private final WorkerPool workers;
    private final WorkerPool background;
    private final RetryShare share;

    /** Creates the pool. A worker's thread is started when it is first needed. */
    ReceiverThreads(ThreadFactory factory, int numberOfWorkers, LoopEnds ends, StopRequest stop) {
        this.loops = new Supervisor(factory, ends, stop);
        this.workers = new WorkerPool(factory, "twinbox-inbox-worker", numberOfWorkers);
        this.background = new WorkerPool(factory, "twinbox-inbox-offsets", 1);
        this.share = new RetryShare(workers, numberOfWorkers);
    }

    /** A server that shuts its threads down without stopping the application wants them to end, too. */
    static boolean isShutDown() {
        return Thread.currentThread() instanceof ManageableThread thread && thread.isShutdown();
    }

    WorkerPool workers() {
        return workers;
    }

    /** Divides the workers between new events and retries. */
    RetryShare share() {
        return share;
    }

    /** One thread, which lives while it has something to do. It asks Kafka and the database for the poll threads. */
    Executor background() {
        return background;
    }

    void start(Supervisor.Loop loop, String name) {
        loops.start(name, loop);
    }

    /** The longest time that {@link #awaitEnd} takes. */
    static Duration longestWait(Duration stopTimeout) {
        return stopTimeout.plus(LEAVE_TIMEOUT).plus(INTERRUPT_TIMEOUT);
    }

    /**
     * Waits for the loops, which have been asked to stop, and stops the workers. Returns whether all threads have
     * ended.
     */
    boolean awaitEnd(Duration stopTimeout) {
        boolean ended = loops.join(stopTimeout.plus(LEAVE_TIMEOUT)).isEmpty();
        if (!ended) {
            loops.interrupt();
        }
        boolean isIdle = background.stop(INTERRUPT_TIMEOUT);
        return workers.stop(INTERRUPT_TIMEOUT) && isIdle && ended;
    }
}
