package dev.twinbox.inbox.engine;

import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.ParkingDecision;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RetryRule;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;

/** What the log and the status say about events that were parked. Used by all workers. */
final class ParkingReports {

    private static final Logger LOG = System.getLogger(ParkingReports.class.getName());

    /** If a service that a handler needs is down, many events are parked at once. One of them per second is logged. */
    private static final long LOG_INTERVAL = TimeUnit.SECONDS.toNanos(1);

    private final int attempts;
    private final ReceiverStatus status;
    private final AtomicLong noLogBefore = new AtomicLong(System.nanoTime());

    /** @param attempts how often an event is tried in all */
    ParkingReports(int attempts, ReceiverStatus status) {
        this.attempts = attempts;
        this.status = status;
    }

    /** Reports what was parked, after its commit. */
    void parked(ReceivedEvent event, @Nullable Handler handler, State state, int failures, ParkingDecision verdict) {
        status.parked(1);
        Throwable printable = ErrorText.forLog(verdict.cause());
        if (verdict.retry().kind() == RetryRule.Kind.AFTER_DELAY) {
            LOG.log(Level.DEBUG, () -> "Parked " + event + " until handler " + handler + " wants it again", printable);
            return;
        }
        long now = System.nanoTime();
        long before = noLogBefore.get();
        if (now - before < 0 || !noLogBefore.compareAndSet(before, now + LOG_INTERVAL)) {
            LOG.log(Level.DEBUG, () -> "Parked " + event, printable);
        } else if (state == State.RETRY) {
            LOG.log(
                    Level.WARNING,
                    () -> event + " failed " + failures + " times in handler " + handler
                            + " and is parked. It is retried, up to " + attempts
                            + " attempts in all. Later events of its key are parked after it",
                    printable);
        } else {
            LOG.log(
                    Level.ERROR,
                    () -> event + " is parked and not retried"
                            + (handler == null ? ": it cannot be read as an event" : " in handler " + handler)
                            + ". Look at it, then retry or discard it: twinbox-inbox-cli.jar parked list",
                    printable);
        }
    }
}
