package dev.twinbox.inbox.engine;

import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.inbox.jdbc.Paused;
import dev.twinbox.thread.LoopEnds;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the receiver has done since it started, and what it waits for. The receiver's threads write it, all threads read
 * it.
 */
public final class ReceiverStatus {

    private static final Logger LOG = System.getLogger(ReceiverStatus.class.getName());

    /** Bounds the memory and the log lines that unknown types on a shared topic can cause. */
    private static final int MOST_NAMED_TYPES = 1000;

    /** Longer than a rebalance may wait for a handler. */
    private static final long LONGEST_RUN_SECONDS = 60;

    private static final String DATABASE = "database";
    private static final String HUNG = "handlers";

    /** Events are counted every few seconds. */
    private static final Duration OLDEST_COUNT = Duration.ofSeconds(60);

    private static final ParkedTable.Counts NONE = new ParkedTable.Counts(0, 0);

    private record Counted(ParkedTable.Counts counts, long at) {}

    /** What is counted. */
    public enum Total {
        EFFECTS("Committed handler calls"),
        DUPLICATES("Handler calls skipped because the effect had already happened"),
        FAILURES("Failed attempts to handle a single event"),
        SKIPPED("Records of types that no handler takes"),
        DROPPED("Events for which an AT_MOST_ONCE handler failed"),
        PARKED("Parked events, counted once per handler"),
        EXPIRED("Inbox rows deleted after their retention"),
        TIMED_OUT("Handler calls that took longer than their limit"),
        ALREADY_DONE("Events whose handler threw AlreadyDoneException"),
        RETRIED_LATER("Attempts that ended with a RetryLaterException");

        private final String meaning;

        Total(String meaning) {
            this.meaning = meaning;
        }

        public String meaning() {
            return meaning;
        }
    }

    private final Map<Total, LongAdder> totals = new EnumMap<>(Total.class);

    /** Receives everything that is counted. Written when the application starts. */
    private volatile ObjLongConsumer<Total> listener = (total, more) -> {};

    private final Set<String> namedTypes = ConcurrentHashMap.newKeySet();
    private final Map<String, String> troubles = new ConcurrentHashMap<>();
    private final Map<String, String> notes = new ConcurrentHashMap<>();

    /** Written by the thread that retries, read by all. */
    private volatile @Nullable Counted counted;

    /** Written under the lock of the watch, read by all. */
    private volatile int hungThreads;

    /** Written by all workers, read by all. */
    private volatile int openBreakers;

    /** Set when the receiver is created, read by all. */
    private volatile Supplier<Paused> paused = () -> Paused.NOTHING;

    private volatile @Nullable String reasonToRestart;

    private final LoopEnds loopEnds = new LoopEnds();
    private final Map<String, LongSupplier> sinceLastRun = new ConcurrentHashMap<>();

    public ReceiverStatus() {
        for (Total total : Total.values()) {
            totals.put(total, new LongAdder());
        }
    }

    /** The number of parked events, as last counted; zero before the first count. */
    public ParkedTable.Counts parkedEvents() {
        Counted last = counted;
        return last == null ? NONE : last.counts();
    }

    /** The number of parked events; null if it is not known now, for example because the database does not answer. */
    public ParkedTable.@Nullable Counts parkedEventsIfKnown() {
        Counted last = counted;
        boolean isOld = last != null && System.nanoTime() - last.at() > OLDEST_COUNT.toNanos();
        return last == null || isOld ? null : last.counts();
    }

    /** What an operator should look at although the receiver works, by subject. */
    public SortedMap<String, String> notes() {
        return new TreeMap<>(notes);
    }

    /** What keeps the receiver from working, by subject. Empty if it is ready. */
    public SortedMap<String, String> troubles() {
        SortedMap<String, String> all = new TreeMap<>(troubles);
        all.putAll(loopEnds.troubles());
        sinceLastRun.forEach((loop, seconds) -> {
            if (seconds.getAsLong() > LONGEST_RUN_SECONDS) {
                all.put(loop, "has not polled for " + seconds.getAsLong() + " seconds");
            }
        });
        return all;
    }

    /** Why the server should be started again, by subject. Empty if that would not help. */
    public SortedMap<String, String> reasonsToRestart() {
        SortedMap<String, String> reasons = loopEnds.reasonsToRestart();
        String text = reasonToRestart;
        if (text != null) {
            reasons.put(HUNG, text);
        }
        return reasons;
    }

    /** Which loops of the receiver have ended without being asked. */
    LoopEnds loopEnds() {
        return loopEnds;
    }

    private LongAdder adder(Total total) {
        return Objects.requireNonNull(totals.get(total));
    }

    public long sum(Total total) {
        return adder(total).sum();
    }

    private void add(Total total, long more) {
        adder(total).add(more);
        listener.accept(total, more);
    }

    /** From now on everything that is counted is also reported to the listener. */
    public void report(ObjLongConsumer<Total> toListener) {
        listener = toListener;
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

    /** Logs one line for each outage. */
    void databaseFailed(@Nullable Throwable cause) {
        String text = cause == null ? "failed" : ErrorText.of(cause);
        if (trouble(DATABASE, text)) {
            LOG.log(Level.WARNING, "The inbox''s database failed; the receiver retries until it works: {0}", text);
            LOG.log(Level.DEBUG, "Cause", cause == null ? null : ErrorText.forLog(cause));
        }
    }

    /** A handler took longer than its limit. */
    void timedOut() {
        add(Total.TIMED_OUT, 1);
    }

    /**
     * Some workers' threads hang in handlers. Each is replaced, up to the number of workers.
     *
     * <p><b>Remedy.</b> Correct the handler, then restart the server. The log names the handler.
     */
    void hung(int threads, int workers) {
        hungThreads = threads;
        String text = threads + " threads hang in handlers that do not return, with " + workers
                + " workers: the log names the handlers, correct them and restart the server";
        if (threads * 2 <= workers) {
            recovered(HUNG);
        } else {
            trouble(HUNG, text);
        }
        reasonToRestart = threads < workers ? null : text;
    }

    /** How many threads hang in handlers now. */
    public int hungThreads() {
        return hungThreads;
    }

    void breakersOpen(int breakers) {
        openBreakers = breakers;
    }

    /** How many handlers are not called now, because their circuit breaker is open. */
    public int openBreakers() {
        return openBreakers;
    }

    /** From now on this says what an operator has paused. */
    void showPaused(Supplier<Paused> current) {
        paused = current;
    }

    /** What an operator has paused. */
    public Paused paused() {
        return paused.get();
    }

    void failed() {
        add(Total.FAILURES, 1);
    }

    void dropped(int events) {
        add(Total.DROPPED, events);
    }

    void skipped(ReceivedEvent event) {
        add(Total.SKIPPED, 1);
        String topic = event.record().topic();
        String type = event.typeOrNull();
        if (namedTypes.size() < MOST_NAMED_TYPES && namedTypes.add(topic + " " + type)) {
            LOG.log(
                    Level.INFO,
                    "No handler takes events of type {0} on topic {1}; the receiver skips and counts them",
                    type,
                    topic);
        }
    }

    /** Returns whether this trouble is new. */
    boolean trouble(String subject, String text) {
        return troubles.put(subject, text) == null;
    }

    /** Returns whether there was such a trouble. */
    boolean recovered(String subject) {
        return troubles.remove(subject) != null;
    }

    /** @param seconds how long ago the loop last completed a round */
    void watch(String loop, LongSupplier seconds) {
        sinceLastRun.put(loop, seconds);
    }

    void unwatch(String loop) {
        sinceLastRun.remove(loop);
    }

    void parked(int events) {
        add(Total.PARKED, events);
    }

    void alreadyDone(int events) {
        add(Total.ALREADY_DONE, events);
    }

    void retriedLater() {
        add(Total.RETRIED_LATER, 1);
    }

    void expired(int rows) {
        add(Total.EXPIRED, rows);
    }

    void note(String subject, String text) {
        notes.put(subject, text);
    }

    /** @param text null: no longer */
    void noteOrRemove(String subject, @Nullable String text) {
        if (text == null) {
            removeNote(subject);
        } else {
            note(subject, text);
        }
    }

    void removeNote(String subject) {
        notes.remove(subject);
    }

    void count(ParkedTable.Counts current) {
        counted = new Counted(current, System.nanoTime());
    }
}
