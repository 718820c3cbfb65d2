package dev.twinbox.inbox;

import java.util.List;

/**
 * The figures of {@link InboxStatus} for JMX, on each server. It is registered while the receiver runs, as
 * <code>dev.twinbox:type=Inbox,application="shop",group="shipping"</code>: the application's name and its consumer group.
 *
 * <p>Counters start at zero with each deployment.
 */
public interface InboxMXBean {

    /** Whether nothing keeps the receiver from working. The readiness check of MicroProfile Health says the same. */
    boolean isReady();

    /** Whether a restart of the server would not help. The liveness check of MicroProfile Health says the same. */
    boolean isLive();

    /** What keeps the receiver from working, each as {@code subject: text}. */
    List<String> getTroubles();

    /** What an operator should look at although the receiver works, each as {@code subject: text}. */
    List<String> getNotes();

    /** Why the server should be started again, each as {@code subject: text}. */
    List<String> getReasonsToRestart();

    /** Committed handler calls. An event with two handlers counts twice. */
    long getEffects();

    /** Handler calls that were skipped because the effect had already happened. */
    long getDuplicates();

    /** Events whose handler threw {@link dev.twinbox.AlreadyDoneException}. */
    long getAlreadyDone();

    /** Failed attempts to handle a single event. */
    long getFailures();

    /** Attempts that ended with a {@link dev.twinbox.RetryLaterException}. They are not failures. */
    long getRetriedLater();

    /** Handler calls that took longer than their limit. */
    long getTimedOut();

    /** Records of types that no handler takes. */
    long getSkipped();

    /** Events for which an {@code AT_MOST_ONCE} handler failed, or that could not be read for it. */
    long getDropped();

    /** Events that were parked, counted once for each handler. */
    long getParked();

    /** Inbox rows that were deleted because their retention was over. */
    long getExpired();

    /** Parked events of all instances that are retried, or wait for one that is; -1: not known. */
    long getParkedWaiting();

    /** Parked events of all instances that need an operator; -1: not known. */
    long getParkedDead();

    /** Threads that hang in a handler now, although they were interrupted. */
    int getHungThreads();

    /** Handlers of this instance whose circuit breaker is open. */
    int getOpenBreakers();

    /** Topics that an operator has paused. */
    List<String> getPausedTopics();

    /** Handlers that an operator has paused. */
    List<String> getPausedHandlers();
}
