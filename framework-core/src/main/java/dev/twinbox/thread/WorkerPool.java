package dev.twinbox.thread;

import java.time.Duration;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Threads that run tasks in the order in which they come. A thread is started when it is first needed, and ends when it
 * has been idle for a minute. Tasks must catch what they throw.
 *
 * <p>All methods may be called from any thread.
 */
public final class WorkerPool implements Executor {

    private static final Duration IDLE = Duration.ofMinutes(1);

    private final ThreadPoolExecutor threads;

    /** @param size most tasks at the same time */
    public WorkerPool(ThreadFactory factory, String name, int size) {
        AtomicInteger count = new AtomicInteger();
        threads = new ThreadPoolExecutor(
                size, size, IDLE.toSeconds(), TimeUnit.SECONDS, new LinkedBlockingQueue<>(), task -> {
                    Thread thread = factory.newThread(task);
                    thread.setName(name + "-" + count.incrementAndGet());
                    return thread;
                });
        threads.allowCoreThreadTimeOut(true);
    }

    @Override
    public void execute(Runnable task) {
        threads.execute(task);
    }

    /** Whether a task waits for a thread. */
    public boolean hasWaiting() {
        return !threads.getQueue().isEmpty();
    }

    /** Changes how many tasks may run at the same time. Running ones go on. */
    public synchronized void resize(int size) {
        if (size > threads.getMaximumPoolSize()) {
            threads.setMaximumPoolSize(size);
            threads.setCorePoolSize(size);
        } else {
            threads.setCorePoolSize(size);
            threads.setMaximumPoolSize(size);
        }
    }

    /** Interrupts all threads. Returns whether they have ended in time. */
    public boolean stop(Duration most) {
        threads.shutdownNow();
        try {
            return threads.awaitTermination(most.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
