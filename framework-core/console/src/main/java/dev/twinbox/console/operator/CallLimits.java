package dev.twinbox.console.operator;

import dev.twinbox.console.ProblemException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** How many calls work at the same time. For several threads. */
public final class CallLimits {
    /** More would take connections from others, and serve nobody faster. */
    private static final int MOST_CONNECTIONS = 4;

    private static final int CONNECTION_SECONDS = 5;

    private final String server;
    private final Semaphore connections = new Semaphore(MOST_CONNECTIONS);
    private final Semaphore searches = new Semaphore(1);

    /** @param server which stops when a call is interrupted, for example "relay" */
    public CallLimits(String server) {
        this.server = server;
    }

    /**
     * Does work that takes a connection of the database.
     *
     * @throws ProblemException if too many others do so for seconds
     */
    public <T> T withConnection(Supplier<T> work) {
        try {
            if (!connections.tryAcquire(CONNECTION_SECONDS, TimeUnit.SECONDS)) {
                throw new ProblemException(503, MOST_CONNECTIONS + " calls are running: try again later");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new ProblemException(503, "The " + server + " stops");
        }
        try {
            return work.get();
        } finally {
            connections.release();
        }
    }

    /**
     * Does a search, which costs the database and Kafka more than any other call.
     *
     * @throws ProblemException if there is another one
     */
    public <T> T search(Supplier<T> work) {
        if (!searches.tryAcquire()) {
            throw new ProblemException(503, "Another search for an event is running: try again in some seconds");
        }
        try {
            return work.get();
        } finally {
            searches.release();
        }
    }
}
