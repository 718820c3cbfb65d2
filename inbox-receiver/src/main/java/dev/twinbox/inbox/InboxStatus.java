package dev.twinbox.inbox;

import dev.twinbox.inbox.engine.ReceiverStatus;
import dev.twinbox.inbox.engine.ReceiverStatus.Total;
import jakarta.enterprise.context.ApplicationScoped;
import java.util.SortedMap;

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

    /** What the receiver writes to. */
    ReceiverStatus receiver() {
        return receiver;
    }

    /** Calls of handlers that are committed: events times handlers. */
    public long effects() {
        return receiver.sum(Total.EFFECTS);
    }

    /** Calls of handlers that were left out, because the effect had happened before. */
    public long duplicates() {
        return receiver.sum(Total.DUPLICATES);
    }

    /** Events whose handler threw {@link dev.twinbox.AlreadyDoneException}: they count as handled, without an effect. */
    public long alreadyDone() {
        return receiver.sum(Total.ALREADY_DONE);
    }

    /** Failed attempts to handle a single event, each of which is tried again. */
    public long failures() {
        return receiver.sum(Total.FAILURES);
    }

    /** Records of types that no handler of this application takes. */
    public long skipped() {
        return receiver.sum(Total.SKIPPED);
    }

    /** Events that an {@code AT_MOST_ONCE} handler failed on, or that could not be read for it. */
    public long dropped() {
        return receiver.sum(Total.DROPPED);
    }

    /** Events that were parked, times handlers: their handler failed, or they wait behind one that did. */
    public long parked() {
        return receiver.sum(Total.PARKED);
    }

    /** Parked events that are tried again, or wait behind one that is; a few seconds old, and no more than 10,000 are counted. */
    public long waiting() {
        return receiver.parkedEvents().waiting();
    }

    /** Parked events that are given up and need an operator, see {@link ParkedEvents}; as old, and bounded, as {@link #waiting}. */
    public long dead() {
        return receiver.parkedEvents().dead();
    }

    /** Inbox rows that this instance has deleted because their retention was over. */
    public long expired() {
        return receiver.sum(Total.EXPIRED);
    }

    /** What an operator should see to although the receiver gets on, by subject. */
    public SortedMap<String, String> notes() {
        return receiver.notes();
    }

    /** What keeps the receiver from getting on, by subject; empty: it is ready. */
    public SortedMap<String, String> troubles() {
        return receiver.troubles();
    }
}
