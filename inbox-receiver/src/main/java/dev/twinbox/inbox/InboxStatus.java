package dev.twinbox.inbox;

import jakarta.enterprise.context.ApplicationScoped;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

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

    private static final Logger LOG = System.getLogger(InboxStatus.class.getName());

    /** Bounds what foreign types on a shared topic can take of memory and log. */
    private static final int MOST_NAMED_TYPES = 1000;

    /** Longer than a rebalance may wait for a handler. */
    private static final long LONGEST_TURN_SECONDS = 60;

    private static final String DATABASE = "database";

    private final LongAdder effects = new LongAdder();
    private final LongAdder duplicates = new LongAdder();
    private final LongAdder failures = new LongAdder();
    private final LongAdder skipped = new LongAdder();
    private final LongAdder dropped = new LongAdder();
    private final LongAdder parked = new LongAdder();
    private final LongAdder expired = new LongAdder();
    private final LongAdder alreadyDone = new LongAdder();
    private final Set<String> namedTypes = ConcurrentHashMap.newKeySet();
    private final Map<String, String> troubles = new ConcurrentHashMap<>();
    private final Map<String, String> notes = new ConcurrentHashMap<>();

    /** Written by the thread that retries, read by whoever asks. */
    private volatile ParkedTable.Counts counts = new ParkedTable.Counts(0, 0);

    private final Map<String, LongSupplier> sinceLastTurn = new ConcurrentHashMap<>();

    /** Calls of handlers that are committed: events times handlers. */
    public long effects() {
        return effects.sum();
    }

    /** Calls of handlers that were left out, because the effect had happened before. */
    public long duplicates() {
        return duplicates.sum();
    }

    /** Events whose handler threw {@link dev.twinbox.AlreadyDoneException}: they count as handled, without an effect. */
    public long alreadyDone() {
        return alreadyDone.sum();
    }

    /** Failed attempts to handle a single event, each of which is tried again. */
    public long failures() {
        return failures.sum();
    }

    /** Records of types that no handler of this application takes. */
    public long skipped() {
        return skipped.sum();
    }

    /** Events that an {@code AT_MOST_ONCE} handler failed on, or that could not be read for it. */
    public long dropped() {
        return dropped.sum();
    }

    /** Events that were parked, times handlers: their handler failed, or they wait behind one that did. */
    public long parked() {
        return parked.sum();
    }

    /** Parked events that are tried again, or wait behind one that is; a few seconds old, and no more than 10,000 are counted. */
    public long waiting() {
        return counts.waiting();
    }

    /** Parked events that are given up and need a person, see {@link ParkedEvents}; as old, and bounded, as {@link #waiting}. */
    public long dead() {
        return counts.dead();
    }

    /** Inbox rows that this instance has deleted because their retention was over. */
    public long expired() {
        return expired.sum();
    }

    /** What a person should see to although the receiver gets on, by subject. */
    public SortedMap<String, String> notes() {
        return new TreeMap<>(notes);
    }

    /** What keeps the receiver from getting on, by subject; empty: it is ready. */
    public SortedMap<String, String> troubles() {
        SortedMap<String, String> all = new TreeMap<>(troubles);
        sinceLastTurn.forEach((loop, seconds) -> {
            if (seconds.getAsLong() > LONGEST_TURN_SECONDS) {
                all.put(loop, "has not polled for " + seconds.getAsLong() + " seconds");
            }
        });
        return all;
    }

    /** A transaction was committed. */
    void committed(int effectsOfBatch, int duplicatesOfBatch) {
        effects.add(effectsOfBatch);
        duplicates.add(duplicatesOfBatch);
        databaseWorks();
    }

    void databaseWorks() {
        if (!troubles.isEmpty() && recovered(DATABASE)) {
            LOG.log(Level.INFO, "The inbox's database works again");
        }
    }

    /** One line for each outage. */
    void databaseFailed(@Nullable Throwable cause) {
        String text = cause == null ? "does not work" : ErrorText.of(cause);
        if (trouble(DATABASE, text)) {
            LOG.log(
                    Level.WARNING,
                    "The database of the inbox does not do its work; will try again until it does: {0}",
                    text);
            LOG.log(Level.DEBUG, "Cause", cause == null ? null : ErrorText.forLog(cause));
        }
    }

    void failed() {
        failures.increment();
    }

    void dropped(int events) {
        dropped.add(events);
    }

    void skipped(String topic, String type) {
        skipped.increment();
        if (namedTypes.size() < MOST_NAMED_TYPES && namedTypes.add(topic + " " + type)) {
            LOG.log(
                    Level.INFO,
                    "No handler takes events of type {0} on topic {1}; they are skipped and counted",
                    type,
                    topic);
        }
    }

    /** Returns whether there was no such trouble before. */
    boolean trouble(String subject, String text) {
        return troubles.put(subject, text) == null;
    }

    /** Returns whether there was such trouble before. */
    boolean recovered(String subject) {
        return troubles.remove(subject) != null;
    }

    /** @param seconds how long ago the loop came round */
    void watch(String loop, LongSupplier seconds) {
        sinceLastTurn.put(loop, seconds);
    }

    void unwatch(String loop) {
        sinceLastTurn.remove(loop);
    }

    void parked(int events) {
        parked.add(events);
    }

    void alreadyDone(int events) {
        alreadyDone.add(events);
    }

    void expired(int rows) {
        expired.add(rows);
    }

    void note(String subject, String text) {
        notes.put(subject, text);
    }

    void noteNoMore(String subject) {
        notes.remove(subject);
    }

    void count(ParkedTable.Counts current) {
        counts = current;
    }
}
