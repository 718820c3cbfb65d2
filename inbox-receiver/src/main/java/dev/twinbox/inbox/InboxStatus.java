package dev.twinbox.inbox;

import dev.twinbox.inbox.engine.ReceiverStatus;
import dev.twinbox.inbox.engine.ReceiverStatus.Total;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * What the receiver of this application has done since it started, and what it waits for. For status pages and tests:
 *
 * <pre>{@code
 * @Inject InboxStatus inbox;
 * … inbox.effects() + " effects, " + inbox.duplicates() + " duplicates skipped"
 * }</pre>
 *
 * Counters start at zero with each deployment. All methods may be called from any thread.
 */
@ApplicationScoped
public class InboxStatus {

    private final ReceiverStatus receiver = new ReceiverStatus();

    /** The object that the receiver writes to. */
    ReceiverStatus receiver() {
        return receiver;
    }

    /** Committed handler calls. An event with two handlers counts twice. */
    public long effects() {
        return receiver.sum(Total.EFFECTS);
    }

    /** Handler calls that were skipped because the effect had already happened. */
    public long duplicates() {
        return receiver.sum(Total.DUPLICATES);
    }

    /**
     * Events whose handler threw {@link dev.twinbox.AlreadyDoneException}. They count as handled, without an effect.
     */
    public long alreadyDone() {
        return receiver.sum(Total.ALREADY_DONE);
    }

    /**
     * Attempts to handle a single event that ended with a {@link dev.twinbox.RetryLaterException}. They are not failures.
     */
    public long retriedLater() {
        return receiver.sum(Total.RETRIED_LATER);
    }

    /** Failed attempts to handle a single event. */
    public long failures() {
        return receiver.sum(Total.FAILURES);
    }

    /** Handler calls that took longer than {@code twinbox.inbox.handler-timeout}, or than their own limit. */
    public long timedOut() {
        return receiver.sum(Total.TIMED_OUT);
    }

    /** Threads that hang in a handler now: it has not returned, although it was interrupted. */
    public int hungThreads() {
        return receiver.hungThreads();
    }

    /**
     * Handlers of this instance that are not called for new events now, because their circuit breaker is open. {@link
     * #notes} names them.
     */
    public int openBreakers() {
        return receiver.openBreakers();
    }

    /** Topics that an operator has paused. Their partitions are held. {@link #notes} says since when. */
    public SortedSet<String> pausedTopics() {
        return new TreeSet<>(receiver.paused().topics().keySet());
    }

    /** Handlers that an operator has paused. Their events are parked. {@link #notes} says since when. */
    public SortedSet<String> pausedHandlers() {
        return new TreeSet<>(receiver.paused().handlers().keySet());
    }

    /** Records of types that no handler of this application takes. */
    public long skipped() {
        return receiver.sum(Total.SKIPPED);
    }

    /** Events for which an {@code AT_MOST_ONCE} handler failed, or that could not be read for it. */
    public long dropped() {
        return receiver.sum(Total.DROPPED);
    }

    /**
     * Parked events, counted once per handler. Their handler failed, or they wait for an earlier event of their key.
     */
    public long parked() {
        return receiver.sum(Total.PARKED);
    }

    /** Parked events that are retried, or wait for one that is. The figure is a few seconds old and at most 10,000. */
    public long waiting() {
        return receiver.parkedEvents().waiting();
    }

    /**
     * Parked events that are not retried and need an operator, see {@link ParkedEvents}. The figure has the limits of
     * {@link #waiting}.
     */
    public long dead() {
        return receiver.parkedEvents().dead();
    }

    /** Inbox rows that this instance has deleted because their retention was over. */
    public long expired() {
        return receiver.sum(Total.EXPIRED);
    }

    /** What an operator should look at although the receiver works, by subject. */
    public SortedMap<String, String> notes() {
        return receiver.notes();
    }

    /**
     * Why the server should be started again, by subject. Empty if that would not help. The check of liveness shows it.
     */
    public SortedMap<String, String> reasonsToRestart() {
        return receiver.reasonsToRestart();
    }

    /** What keeps the receiver from working, by subject. Empty if it is ready. */
    public SortedMap<String, String> troubles() {
        return receiver.troubles();
    }
}
