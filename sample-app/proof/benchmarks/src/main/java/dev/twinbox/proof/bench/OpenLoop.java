package dev.twinbox.proof.bench;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;

/**
 * Applications that commit events at fixed moments, even if earlier ones are late. In such an open loop a stall shows
 * in the latencies of all events that were due during it (no coordinated omission).
 *
 * <p>Several sessions share the work. They do not wait for each other, so the events of a key have no order here.
 */
final class OpenLoop {

    private static final int SESSIONS = 8;

    /** A shorter schedule is a try, whose figures mean nothing. It has to finish on a busy machine as well. */
    private static final Duration SHORTEST_MEASURED = Duration.ofSeconds(15);

    private static final Duration SLACK = Duration.ofSeconds(1);
    private static final Duration SLACK_OF_A_TRY = Duration.ofMinutes(1);

    private final BenchServers servers;
    private final EventInsert events;
    private final Deadline deadline;

    OpenLoop(BenchServers servers, EventTable table, Workload workload, String topic, Deadline deadline) {
        this.deadline = deadline;
        this.servers = servers;
        this.events = new EventInsert(table, workload, topic);
    }

    /**
     * Which events are due when.
     *
     * @param first number of the first event
     * @param events how many, a multiple of {@code perTransaction}
     * @param perSecond events, not transactions
     * @param perTransaction events of one transaction
     */
    record Schedule(int first, int events, int perSecond, int perTransaction) {

        int transactions() {
            return events / perTransaction;
        }

        int end() {
            return first + events;
        }

        int transactionOf(int number) {
            return (number - first) / perTransaction;
        }

        long nanosFromStart(int transaction) {
            return transaction * 1_000_000_000L * perTransaction / perSecond;
        }

        Duration length() {
            return Duration.ofNanos(nanosFromStart(transactions()));
        }
    }

    /** Starts committing. Returns when the clock of the schedule has started. */
    Running start(Schedule schedule) throws SQLException {
        List<Connection> connections = new ArrayList<>();
        for (int session = 0; session < SESSIONS; session++) {
            connections.add(servers.connect());
        }
        return new Running(schedule, connections);
    }

    /** Commits the whole schedule. */
    Running run(Schedule schedule) throws SQLException {
        Running running = start(schedule);
        running.await();
        return running;
    }

    /** A running schedule and its results. All times are {@link System#nanoTime()}. */
    final class Running {
        private final Schedule schedule;
        private final long start = System.nanoTime();
        private final long[] committed;
        private final AtomicInteger next = new AtomicInteger();
        private final List<Future<?>> sessions = new ArrayList<>();
        private volatile boolean stopped;

        private Running(Schedule schedule, List<Connection> connections) {
            this.schedule = schedule;
            this.committed = new long[schedule.transactions()];
            ExecutorService threads = Executors.newFixedThreadPool(SESSIONS);
            for (Connection connection : connections) {
                sessions.add(threads.submit(() -> {
                    work(connection);
                    return null;
                }));
            }
            threads.shutdown();
        }

        private void work(Connection session) throws SQLException {
            try (Connection connection = session;
                    PreparedStatement insert = connection.prepareStatement(events.sql(schedule.perTransaction()))) {
                for (int mine = next.getAndIncrement();
                        mine < committed.length && !stopped;
                        mine = next.getAndIncrement()) {
                    waitUntil(start + schedule.nanosFromStart(mine));
                    events.bind(insert, schedule.first() + mine * schedule.perTransaction(), schedule.perTransaction());
                    insert.executeUpdate();
                    committed[mine] = System.nanoTime();
                }
            }
        }

        /**
         * Waits until the schedule is over, whether or not all of it was committed, and begins no further transaction.
         */
        void stopAtEnd() {
            waitUntil(start + schedule.length().toNanos());
            stop();
        }

        /** Begins no further transaction. */
        void stop() {
            stopped = true;
            await();
        }

        void await() {
            for (Future<?> session : sessions) {
                try {
                    session.get(deadline.remaining("commits").toMillis(), TimeUnit.MILLISECONDS);
                } catch (TimeoutException e) {
                    stopped = true;
                    throw new InvalidRunException("the benchmark's time is over while events are committed", e);
                } catch (InterruptedException e) {
                    Thread.currentThread().interrupt();
                    throw new InvalidRunException("interrupted while events were committed", e);
                } catch (ExecutionException e) {
                    throw new InvalidRunException("a session that commits events failed: " + e.getCause(), e);
                }
            }
        }

        Schedule schedule() {
            return schedule;
        }

        /** Whether an event was committed: after {@link #stop()} some are not. */
        boolean isCommitted(int number) {
            return committedAt(number) != 0;
        }

        /** How many events were committed. */
        int committedEvents() {
            int transactions = 0;
            for (long at : committed) {
                transactions += at == 0 ? 0 : 1;
            }
            return transactions * schedule.perTransaction();
        }

        /** When the COMMIT of an event returned; 0: never. */
        long committedAt(int number) {
            return committed[schedule.transactionOf(number)];
        }

        long dueAt(int number) {
            return start + schedule.nanosFromStart(schedule.transactionOf(number));
        }

        /** @throws InvalidRunException if the events were not committed at the requested rate */
        void requireOnTime() {
            long last = 0;
            for (long at : committed) {
                last = Math.max(last, at - start);
            }
            Duration took = Duration.ofNanos(last);
            boolean isTry = schedule.length().compareTo(SHORTEST_MEASURED) < 0;
            Duration allowed = schedule.length().multipliedBy(21).dividedBy(20).plus(isTry ? SLACK_OF_A_TRY : SLACK);
            if (took.compareTo(allowed) > 0) {
                throw new InvalidRunException("this machine cannot commit " + schedule.perSecond()
                        + " events a second beside what is measured: " + schedule.events() + " took "
                        + took.toMillis() + " ms instead of "
                        + schedule.length().toMillis() + " ms");
            }
        }
    }

    static void waitUntil(long nanoTime) {
        for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
