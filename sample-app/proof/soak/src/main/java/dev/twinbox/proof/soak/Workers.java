package dev.twinbox.proof.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** Threads that repeat a task until they are closed, each with its own random numbers. */
final class Workers implements AutoCloseable {

    private final String name;
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closed;

    /**
     * Creates the threads and starts none.
     *
     * @param seed of the first thread's numbers; the other threads use the next seeds
     * @param work runs the task once; an exception ends the thread
     */
    Workers(String name, int number, long seed, Consumer<Random> work) {
        this.name = name;
        for (int worker = 0; worker < number; worker++) {
            Random random = new Random(seed + worker);
            Thread thread = new Thread(
                    () -> {
                        while (!closed) {
                            work.accept(random);
                        }
                    },
                    name + "-" + worker);
            thread.setDaemon(true);
            threads.add(thread);
        }
    }

    void start() {
        threads.forEach(Thread::start);
    }

    /** Pauses the calling thread. Closing cuts the pause short. */
    void pause(long nanos) {
        long until = System.nanoTime() + nanos;
        while (!closed && System.nanoTime() < until) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
    }

    /** Returns when each thread has finished its task. */
    @Override
    public void close() {
        closed = true;
        threads.forEach(LockSupport::unpark);
        for (Thread thread : threads) {
            try {
                thread.join();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException("Interrupted while waiting for " + name, e);
            }
        }
    }
}
