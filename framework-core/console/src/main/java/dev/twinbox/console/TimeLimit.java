package dev.twinbox.console;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import org.eclipse.jetty.io.Connection;
import org.eclipse.jetty.util.thread.Scheduler;

/**
 * Closes the connection of a client that takes too long to send a request or to receive its answer, also if it sends or
 * receives a byte now and then. Jetty itself closes only connections on which nothing happens.
 */
final class TimeLimit implements Connection.Listener {

    private static final Duration SWEEP = Duration.ofSeconds(1);

    /** What the client is doing. Written by the thread that serves it, and by the sweep. */
    private static final class Client {
        /** The server does something, or nothing is under way. */
        private static final long UNTIMED = 0;

        private volatile boolean isServed;
        private volatile long bytesAtLastAnswer;
        private volatile long since = UNTIMED;
    }

    private final Map<Connection, Client> clients = new ConcurrentHashMap<>();
    private final Scheduler scheduler;
    private final long limit;

    /** @param limit for a request, and once more for its answer */
    TimeLimit(Scheduler scheduler, Duration limit) {
        this.scheduler = scheduler;
        this.limit = limit.toNanos();
    }

    void start() {
        scheduler.schedule(this::sweep, SWEEP.toMillis(), TimeUnit.MILLISECONDS);
    }

    @Override
    public void onOpened(Connection connection) {
        clients.put(connection, new Client());
    }

    @Override
    public void onClosed(Connection connection) {
        clients.remove(connection);
    }

    /** The request is read. What the server does with it is not the client's fault. */
    void requestEnded(Connection connection) {
        Client client = clients.get(connection);
        if (client != null) {
            client.isServed = true;
            client.since = Client.UNTIMED;
        }
    }

    void answerBegins(Connection connection) {
        Client client = clients.get(connection);
        if (client != null) {
            client.since = now();
        }
    }

    void answerEnded(Connection connection) {
        Client client = clients.get(connection);
        if (client != null) {
            client.bytesAtLastAnswer = connection.getBytesIn();
            client.since = Client.UNTIMED;
            client.isServed = false;
        }
    }

    private void sweep() {
        clients.forEach(this::check);
        start();
    }

    private void check(Connection connection, Client client) {
        long since = client.since;
        if (since != Client.UNTIMED) {
            if (now() - since > limit) {
                connection.getEndPoint().close();
            }
        } else if (!client.isServed && connection.getBytesIn() != client.bytesAtLastAnswer) {
            client.since = now();
        }
    }

    /** Never {@link Client#UNTIMED}. */
    private static long now() {
        return System.nanoTime() | 1;
    }
}
