package dev.twinbox.proof.soak;

import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/** Threads that do the same again and again until they are told to end, each with random numbers of its own. */
final class Workers implements AutoCloseable {

    private final String name;
    private final List<Thread> threads = new ArrayList<>();
    private volatile boolean closed;

    /**
     * Threads that are still to be started.
     *
     * @param seed of the first one's numbers; the others' follow
     * @param work done once; a failure that it lets through ends its thread
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

    /** Pauses the calling worker; cut short when they are told to end. */
    void pause(long nanos) {
        long until = System.nanoTime() + nanos;
        while (!closed && System.nanoTime() < until) {
            LockSupport.parkNanos(until - System.nanoTime());
        }
    }

    /** Returns when each has done what it was at. */
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
