package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.jdbc.ClaimSession;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import dev.twinbox.thread.WorkerPool;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * The thread that limits how long a handler may take.
 *
 * <p>It interrupts a call that takes longer than its limit. The effect of such a call is rolled back, even if it returns
 * normally then. Some calls go on in spite of the interrupt: they loop, or wait in a driver. After a grace this thread
 * ends the database session of the call, so that its locks are free, and lets the event be parked. The thread of the call
 * is replaced. If the call returns at last, its thread does nothing more.
 */
final class CallWatch implements Supervisor.Loop {

    private static final Logger LOG = System.getLogger(CallWatch.class.getName());

    /** Between the interrupt and the end of the session. */
    static final Duration GRACE = Duration.ofSeconds(5);

    private static final Duration LONGEST_TICK = Duration.ofSeconds(1);
    private static final Duration SHORTEST_TICK = Duration.ofMillis(10);
    private static final int TICKS_OF_A_LIMIT = 10;

    /** What is done about a call that has not returned. Runs on the watching thread. */
    interface Abandonment {
        /**
         * Called once for each such call.
         *
         * @param isRolledBack whether its transaction is known to have ended
         */
        void accept(HandlerTimeoutException cause, boolean isRolledBack);
    }

    private enum State {
        RUNNING,
        INTERRUPTED,
        ABANDONED
    }

    private final JtaDatabase database;
    private final WorkerPool workers;
    private final WorkerWaits waits;
    private final int numberOfWorkers;
    private final Duration limit;
    private final Duration tick;
    private final ReceiverStatus status;
    private final StopRequest stop;
    private final Set<Call> calls = ConcurrentHashMap.newKeySet();

    /** Counted, and the pool resized, under the lock of this object. */
    private int hung;

    /**
     * Watches nothing yet.
     *
     * @param waits is told when handlers are called, and is run on the watching thread
     * @param limit for handlers without one of their own
     * @param ownLimits those of the others
     */
    CallWatch(
            JtaDatabase database,
            WorkerPool workers,
            WorkerWaits waits,
            int numberOfWorkers,
            Duration limit,
            List<Duration> ownLimits,
            ReceiverStatus status,
            StopRequest stop) {
        this.database = database;
        this.workers = workers;
        this.waits = waits;
        this.numberOfWorkers = numberOfWorkers;
        this.limit = limit;
        this.tick = tick(ownLimits.stream().min(Duration::compareTo).orElse(limit));
        this.status = status;
        this.stop = stop;
    }

    private Duration tick(Duration shortestOfHandlers) {
        Duration shortest = shortestOfHandlers.compareTo(limit) < 0 ? shortestOfHandlers : limit;
        Duration part = shortest.dividedBy(TICKS_OF_A_LIMIT);
        if (part.compareTo(LONGEST_TICK) > 0) {
            return LONGEST_TICK;
        }
        return part.compareTo(SHORTEST_TICK) < 0 ? SHORTEST_TICK : part;
    }

    @Override
    public void run() {
        while (!stop.await(tick)) {
            runOnce(System.nanoTime());
        }
    }

    /** @param now as {@link System#nanoTime} */
    void runOnce(long now) {
        calls.forEach(call -> call.interruptIfLate(now));
        for (Call call : calls) {
            if (call.abandonIfHung(now)) {
                abandon(call);
            }
        }
        waits.runOnce(now);
    }

    /**
     * The current thread is about to call a handler.
     *
     * @param session in which the events are claimed; null if it is not known
     */
    Call begin(Handler handler, List<ReceivedEvent> events, @Nullable ClaimSession session, Abandonment abandonment) {
        Call call = new Call(handler, events, session, abandonment);
        calls.add(call);
        waits.handlerBegins();
        return call;
    }

    /** <b>Remedy.</b> Correct the handler, or give it more time: {@code twinbox.inbox.handler-timeout}. */
    private void abandon(Call call) {
        resize(1);
        HandlerTimeoutException cause = HandlerTimeoutException.hung(call.handler, call.events, call.limit);
        LOG.log(
                Level.ERROR,
                "{0}. Its database session is ended, {1} is parked when its turn comes, and another thread takes its place",
                cause.getMessage(),
                call.events.size() == 1 ? call.events.get(0) : "what fails when it is handled alone");
        boolean isRolledBack = endSession(call.session);
        call.abandonment.accept(cause, isRolledBack);
    }

    private boolean endSession(@Nullable ClaimSession session) {
        if (session == null) {
            return false;
        }
        try {
            return database.inTransaction(session::end);
        } catch (SQLException | RuntimeException e) {
            LOG.log(
                    Level.WARNING,
                    "The database session {0} of a handler that hangs cannot be ended, so what it has locked stays "
                            + "locked; end it with pg_terminate_backend: {1}",
                    Integer.toString(session.pid()),
                    ErrorText.of(e));
            return false;
        }
    }

    /** Lost threads are replaced, but not without end: each may hold a connection. */
    private synchronized void resize(int more) {
        hung += more;
        workers.resize(numberOfWorkers + Math.min(hung, numberOfWorkers));
        status.hung(hung, numberOfWorkers);
    }

    /** One call of a handler. Whoever changes its state first decides who goes on: its thread, or the watching one. */
    final class Call {
        private final Thread thread = Thread.currentThread();
        private final long begunAt = System.nanoTime();
        private final Handler handler;
        private final List<ReceivedEvent> events;
        private final @Nullable ClaimSession session;
        private final Abandonment abandonment;
        private final Duration limit;
        private State state = State.RUNNING;
        private boolean isOver;

        private Call(
                Handler handler, List<ReceivedEvent> events, @Nullable ClaimSession session, Abandonment abandonment) {
            this.handler = handler;
            this.events = events;
            this.session = session;
            this.abandonment = abandonment;
            Duration own = handler.timeout();
            this.limit = own == null ? CallWatch.this.limit : own;
        }

        private synchronized void interruptIfLate(long now) {
            if (!isOver && state == State.RUNNING && now - begunAt >= limit.toNanos()) {
                state = State.INTERRUPTED;
                thread.interrupt();
            }
        }

        private synchronized boolean abandonIfHung(long now) {
            if (isOver
                    || state != State.INTERRUPTED
                    || now - begunAt < limit.plus(GRACE).toNanos()) {
                return false;
            }
            state = State.ABANDONED;
            return true;
        }

        /**
         * The handler has returned or thrown.
         *
         * @param thrown null if it has returned
         * @throws HandlerTimeoutException if it took too long
         * @throws AbandonedCallException if another thread has taken over
         */
        void end(@Nullable Throwable thrown) {
            State last;
            synchronized (this) {
                isOver = true;
                last = state;
            }
            calls.remove(this);
            waits.handlerEnded();
            if (last == State.INTERRUPTED) {
                status.timedOut();
                throw HandlerTimeoutException.late(handler, events, limit, thrown);
            }
            if (last == State.ABANDONED) {
                status.timedOut();
                resize(-1);
                throw new AbandonedCallException(thrown);
            }
        }
    }

    /** The call has been taken for hung. Another thread has settled its event, so this one has nothing more to do. */
    static final class AbandonedCallException extends RuntimeException {
        private static final long serialVersionUID = 1;

        AbandonedCallException(@Nullable Throwable thrown) {
            super("the call returned after its event was parked; its effect is rolled back", thrown);
        }
    }
}
