package dev.twinbox.inbox;

import jakarta.enterprise.context.ApplicationScoped;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.LongSupplier;
import java.util.function.ObjLongConsumer;
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

    /** What is counted. */
    enum Total {
        EFFECTS("Calls of handlers that are committed"),
        DUPLICATES("Calls of handlers left out because the effect had happened before"),
        FAILURES("Failed attempts to handle a single event"),
        SKIPPED("Records of types that no handler takes"),
        DROPPED("Events that an AT_MOST_ONCE handler failed on"),
        PARKED("Events that were parked, times handlers"),
        EXPIRED("Inbox rows deleted after their retention"),
        ALREADY_DONE("Events whose handler threw AlreadyDoneException");

        private final String meaning;

        Total(String meaning) {
            this.meaning = meaning;
        }

        String meaning() {
            return meaning;
        }
    }

    private final Map<Total, LongAdder> totals = new EnumMap<>(Total.class);

    /** Is told of all that is counted; written when the application starts. */
    private volatile ObjLongConsumer<Total> listener = (total, more) -> {};

    private final Set<String> namedTypes = ConcurrentHashMap.newKeySet();
    private final Map<String, String> troubles = new ConcurrentHashMap<>();
    private final Map<String, String> notes = new ConcurrentHashMap<>();

    /** Written by the thread that retries, read by whoever asks. */
    private volatile ParkedTable.Counts counts = new ParkedTable.Counts(0, 0);

    private final Map<String, LongSupplier> sinceLastTurn = new ConcurrentHashMap<>();

    public InboxStatus() {
        for (Total total : Total.values()) {
            totals.put(total, new LongAdder());
        }
    }

    /** Calls of handlers that are committed: events times handlers. */
    public long effects() {
        return sum(Total.EFFECTS);
    }

    /** Calls of handlers that were left out, because the effect had happened before. */
    public long duplicates() {
        return sum(Total.DUPLICATES);
    }

    /** Events whose handler threw {@link dev.twinbox.AlreadyDoneException}: they count as handled, without an effect. */
    public long alreadyDone() {
        return sum(Total.ALREADY_DONE);
    }

    /** Failed attempts to handle a single event, each of which is tried again. */
    public long failures() {
        return sum(Total.FAILURES);
    }

    /** Records of types that no handler of this application takes. */
    public long skipped() {
        return sum(Total.SKIPPED);
    }

    /** Events that an {@code AT_MOST_ONCE} handler failed on, or that could not be read for it. */
    public long dropped() {
        return sum(Total.DROPPED);
    }

    /** Events that were parked, times handlers: their handler failed, or they wait behind one that did. */
    public long parked() {
        return sum(Total.PARKED);
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
        return sum(Total.EXPIRED);
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

    private LongAdder adder(Total total) {
        return Objects.requireNonNull(totals.get(total));
    }

    private long sum(Total total) {
        return adder(total).sum();
    }

    private void add(Total total, long more) {
        adder(total).add(more);
        listener.accept(total, more);
    }

    /** Has all that is counted from now on told to somebody else, too. */
    void tell(ObjLongConsumer<Total> somebody) {
        listener = somebody;
    }

    /** A transaction was committed. */
    void committed(int effectsOfBatch, int duplicatesOfBatch) {
        add(Total.EFFECTS, effectsOfBatch);
        add(Total.DUPLICATES, duplicatesOfBatch);
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
        add(Total.FAILURES, 1);
    }

    void dropped(int events) {
        add(Total.DROPPED, events);
    }

    void skipped(String topic, String type) {
        add(Total.SKIPPED, 1);
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
        add(Total.PARKED, events);
    }

    void alreadyDone(int events) {
        add(Total.ALREADY_DONE, events);
    }

    void expired(int rows) {
        add(Total.EXPIRED, rows);
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
