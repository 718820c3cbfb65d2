package dev.twinbox.thread;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadFactory;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Starts loops on threads. A loop that ends without being asked is an ERROR in the log, makes not ready, and is started
 * again after a wait that grows.
 *
 * <p>All methods may be called from any thread.
 */
public final class Supervisor {

    /** Runs until it is asked to stop. It keeps its state in fields, so that it can be started again. */
    public interface Loop {
        void run() throws Exception;
    }

    /** Makes threads that do not keep a process alive. */
    public static final ThreadFactory DAEMONS = task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    };

    private final ThreadFactory factory;
    private final LoopEnds ends;
    private final StopRequest stop;
    private final List<Thread> threads = new CopyOnWriteArrayList<>();

    /**
     * Starts nothing yet.
     *
     * @param ends outlives this object
     * @param stop once asked, no end of a loop is unexpected
     */
    public Supervisor(ThreadFactory factory, LoopEnds ends, StopRequest stop) {
        this.factory = factory;
        this.ends = ends;
        this.stop = stop;
    }

    /** Starts a loop. If it ends without being asked, it is started again on the same thread. */
    public void start(String name, Loop loop) {
        startThread(name, () -> {
            while (!stop.isAsked()) {
                ends.begins(name);
                Throwable thrown = run(loop);
                if (!stop.isAsked()) {
                    stop.await(ends.ended(name, thrown));
                }
            }
        });
    }

    /**
     * Starts a loop that cannot go on alone.
     *
     * @param owner gets the cause if the loop ends without being asked, and starts everything again
     */
    public void start(String name, Loop loop, Consumer<Throwable> owner) {
        startThread(name, () -> {
            ends.begins(name);
            Throwable thrown = run(loop);
            if (!stop.isAsked()) {
                ends.ended(name, thrown);
                owner.accept(thrown == null ? new IllegalStateException("thread " + name + " returned") : thrown);
            }
        });
    }

    /** Returns what ended the loop, null if it just returned. The interrupt flag does not outlive the loop. */
    private static @Nullable Throwable run(Loop loop) {
        try {
            loop.run();
            return null;
        } catch (Throwable t) { // whatever it is, it must not end the thread in silence
            return t;
        } finally {
            Thread.interrupted();
        }
    }

    private void startThread(String name, Runnable task) {
        Thread thread = factory.newThread(task);
        thread.setName(name);
        threads.add(thread);
        thread.start();
    }

    /** Interrupts all threads. Does not ask them to stop. */
    public void interrupt() {
        threads.forEach(Thread::interrupt);
    }

    /**
     * Waits until all threads have ended.
     *
     * @return the names of those that have not ended in time
     */
    public List<String> join(Duration most) {
        long deadline = System.nanoTime() + most.toNanos();
        List<String> left = new ArrayList<>();
        for (Thread thread : threads) {
            try {
                thread.join(Math.max(1, TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime())));
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
            if (thread.isAlive()) {
                left.add(thread.getName());
            }
        }
        return left;
    }
}
