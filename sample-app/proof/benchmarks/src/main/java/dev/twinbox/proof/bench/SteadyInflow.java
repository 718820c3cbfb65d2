package dev.twinbox.proof.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Applications that commit one event per transaction at fixed moments, and connect again when the database was away.
 * An event whose commit failed is committed again under the same id, as the outcome may be unknown.
 */
final class SteadyInflow implements AutoCloseable {

    private static final int SESSIONS = 8;
    private static final Duration PAUSE_AFTER_A_FAILURE = Duration.ofMillis(50);

    private final BenchServers servers;
    private final EventInsert insert;
    private final int first;
    private final int perSecond;
    private final Deadline deadline;

    private final long start = System.nanoTime();
    private final AtomicInteger next = new AtomicInteger();
    private final ExecutorService threads = Executors.newFixedThreadPool(SESSIONS);
    private final List<CompletableFuture<Void>> sessions = new ArrayList<>();
    private volatile boolean stopped;

    private SteadyInflow(BenchServers servers, EventInsert insert, int first, int perSecond, Deadline deadline) {
        this.servers = servers;
        this.insert = insert;
        this.first = first;
        this.perSecond = perSecond;
        this.deadline = deadline;
    }

    /**
     * Starts committing.
     *
     * @param first number of the first event
     * @param perSecond events a second; {@link Integer#MAX_VALUE}: as fast as the sessions can
     */
    static SteadyInflow start(BenchServers servers, EventInsert insert, int first, int perSecond, Deadline deadline) {
        SteadyInflow inflow = new SteadyInflow(servers, insert, first, perSecond, deadline);
        for (int session = 0; session < SESSIONS; session++) {
            inflow.sessions.add(CompletableFuture.runAsync(inflow::work, inflow.threads));
        }
        return inflow;
    }

    private void work() {
        int mine = next.getAndIncrement();
        while (!stopped) {
            try (Connection connection = servers.connect();
                    PreparedStatement statement = connection.prepareStatement(insert.sql(1))) {
                while (!stopped) {
                    OpenLoop.waitUntil(start + mine * 1_000_000_000L / perSecond);
                    insert.bind(statement, first + mine, 1);
                    statement.executeUpdate();
                    mine = next.getAndIncrement();
                }
            } catch (SQLException e) {
                LockSupport.parkNanos(PAUSE_AFTER_A_FAILURE.toNanos());
            }
        }
        // The last number was taken, but not committed. The numbers of all committed events have no gap then.
        commit(mine);
    }

    private void commit(int number) {
        while (true) {
            try (Connection connection = servers.connect();
                    PreparedStatement statement = connection.prepareStatement(insert.sql(1))) {
                insert.bind(statement, first + number, 1);
                statement.executeUpdate();
                return;
            } catch (SQLException e) {
                deadline.remaining("the last events of the inflow");
                LockSupport.parkNanos(PAUSE_AFTER_A_FAILURE.toNanos());
            }
        }
    }

    /** Begins no further event, and returns how many were committed. */
    int stop() {
        stopped = true;
        try {
            CompletableFuture.allOf(sessions.toArray(CompletableFuture[]::new))
                    .orTimeout(deadline.remaining("the inflow's end").toMillis(), TimeUnit.MILLISECONDS)
                    .join();
        } finally {
            threads.shutdown();
        }
        return next.get();
    }

    @Override
    public void close() {
        stopped = true;
        threads.shutdownNow();
    }
}
