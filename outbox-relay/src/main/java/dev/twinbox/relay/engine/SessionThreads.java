package dev.twinbox.relay.engine;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The threads of one session. Only for the main thread. */
final class SessionThreads {
    private static final Logger LOG = LoggerFactory.getLogger(SessionThreads.class);
    private static final Duration THREAD_END = Duration.ofSeconds(10);

    private final List<Thread> threads = new ArrayList<>();

    /** A thread that is not started yet. */
    static Thread daemon(String name, Runnable task) {
        Thread thread = new Thread(task, name);
        thread.setDaemon(true); // A hanging client must not keep the process alive.
        return thread;
    }

    void start(String name, Runnable task) {
        Thread thread = daemon(name, task);
        threads.add(thread);
        thread.start();
    }

    void interrupt() {
        threads.forEach(Thread::interrupt);
    }

    /** Waits for the end of all threads, and reports those that do not end in time. */
    void join() {
        threads.forEach(SessionThreads::join);
    }

    private static void join(Thread thread) {
        try {
            thread.join(THREAD_END.toMillis());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            LOG.warn("Thread {} has not ended within {}", thread.getName(), THREAD_END);
        }
    }
}
