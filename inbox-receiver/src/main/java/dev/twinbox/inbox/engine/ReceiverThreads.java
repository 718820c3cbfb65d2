package dev.twinbox.inbox.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** The threads of the receiver: one for each loop, and a pool of workers that run handlers. */
final class ReceiverThreads {

    /** How long it may take to leave the group and to end the threads, after the wait for handlers. */
    private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(10);

    private static final Duration INTERRUPT_TIMEOUT = Duration.ofSeconds(2);

    private static final Duration BACKGROUND_IDLE = Duration.ofSeconds(10);

    private final ThreadFactory factory;
    private final ExecutorService workers;
    private final ExecutorService background;
    private final List<Thread> loops = new ArrayList<>();

    /** Creates the pool. A worker's thread is started when it is first needed. */
    ReceiverThreads(ThreadFactory factory, int numberOfWorkers) {
        this.factory = factory;
        AtomicInteger count = new AtomicInteger();
        this.workers = new ThreadPoolExecutor(
                numberOfWorkers,
                numberOfWorkers,
                0,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                work -> newThread(work, "twinbox-inbox-worker-" + count.incrementAndGet()));
        this.background = newBackground();
    }

    private ExecutorService newBackground() {
        ThreadPoolExecutor single = new ThreadPoolExecutor(
                1,
                1,
                BACKGROUND_IDLE.toNanos(),
                TimeUnit.NANOSECONDS,
                new LinkedBlockingQueue<>(),
                work -> newThread(work, "twinbox-inbox-offsets"));
        single.allowCoreThreadTimeOut(true);
        return single;
    }

    private Thread newThread(Runnable work, String name) {
        Thread thread = factory.newThread(work);
        thread.setName(name);
        return thread;
    }

    Executor workers() {
        return workers;
    }

    /** One thread, which lives while it has something to do. It asks Kafka and the database for the poll threads. */
    Executor background() {
        return background;
    }

    void start(Runnable loop, String name) {
        Thread thread = newThread(loop, name);
        loops.add(thread);
        thread.start();
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
        long deadline = System.nanoTime() + stopTimeout.plus(LEAVE_TIMEOUT).toNanos();
        boolean ended = true;
        for (Thread loop : loops) {
            ended &= join(loop, deadline);
        }
        boolean isIdle = stop(background);
        return stop(workers) && isIdle && ended;
    }

    private static boolean join(Thread thread, long deadline) {
        try {
            long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            thread.join(Math.max(1, millis));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            thread.interrupt();
        }
        return !thread.isAlive();
    }

    private static boolean stop(ExecutorService pool) {
        pool.shutdownNow();
        try {
            return pool.awaitTermination(INTERRUPT_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
