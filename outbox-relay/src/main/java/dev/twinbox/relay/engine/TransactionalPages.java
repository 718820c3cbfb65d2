package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.PositionTable;
import dev.twinbox.relay.kafka.PositionTopic;
import dev.twinbox.relay.pause.PausedTopics;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.producer.Producer;
import org.jspecify.annotations.Nullable;

/**
 * The sending thread's part of exactly-once publication: it chooses the pages of a Kafka transaction, and ends it. An
 * end costs tens of milliseconds, whatever the transaction contains. So it takes all waiting pages, and those that will
 * certainly come, up to a limit of time. The limit depends on what the last end has cost. Meanwhile the reading thread
 * reads ahead. Pages that are acknowledged leave the memory before the end.
 */
final class TransactionalPages {
    /** Approximate time that records of a backlog wait for the end of their transaction, if ends are quick. */
    private static final Duration SHORTEST = Duration.ofMillis(300);

    /** The same if ends are slow. Far below the transaction timeout. */
    private static final Duration LONGEST = Duration.ofSeconds(3);

    /** A transaction of a backlog lasts so many times as long as the last end. So ends cost one part in so many. */
    private static final int TIMES_ITS_END = 20;

    /** Kafka forgets committed offsets, after seven days by default. So they are committed again in this interval. */
    static final Duration REFRESH = Duration.ofHours(6);

    /** Earlier in a new session: a relay may be started again more often than in that interval. */
    private static final Duration FIRST_REFRESH = Duration.ofMinutes(1);

    private final InFlight inFlight;
    private final PausedTopics pausedTopics;
    private final Lease lease;
    private final Waiter main;
    private final PositionTopic topic;

    private @Nullable Producer<byte[], byte[]> producer;
    private volatile PositionTable.Saved committed = PositionTable.Saved.NOTHING; // written by the sending thread
    private volatile boolean open; // written by the sending thread
    private volatile boolean ending; // written by the sending thread
    private @Nullable Page last; // the last page of the open transaction; owned by the sending thread
    private long longest = SHORTEST.toNanos(); // owned by the sending thread
    private long beganAt; // owned by the sending thread
    private Duration untilRefresh = FIRST_REFRESH; // owned by the sending thread
    private PositionTable.@Nullable Saved prepared; // guarded by this

    /** @param main wakes the main thread */
    TransactionalPages(InFlight inFlight, PausedTopics pausedTopics, Lease lease, Waiter main, PositionTopic topic) {
        this.inFlight = inFlight;
        this.pausedTopics = pausedTopics;
        this.lease = lease;
        this.main = main;
        this.topic = topic;
    }

    /**
     * Called before the sending thread starts.
     *
     * @param initialized the producer of the transactions
     * @param saved what Kafka has now
     */
    void start(Producer<byte[], byte[]> initialized, PositionTable.Saved saved) {
        producer = initialized;
        committed = saved;
    }

    private Producer<byte[], byte[]> producer() {
        return Objects.requireNonNull(producer, "start() sets it");
    }

    /** The number that Kafka has, and its position. Any thread. */
    PositionTable.Saved committed() {
        return committed;
    }

    /** Whether a transaction has begun and is not known to be committed. Any thread. */
    boolean isOpen() {
        return open;
    }

    /** Whether the transaction waits for the position after its last page to be durable. Any thread. */
    boolean isEnding() {
        return ending;
    }

    /** Whether no page is in a transaction, or will be in one. Any thread. */
    boolean isIdle() {
        return !open && inFlight.isSettled();
    }

    /** Everything up to this position is durable in the database. Only for the main thread. */
    synchronized void recordPrepared(PositionTable.Saved next) {
        prepared = next;
        notifyAll();
    }

    /** See {@link Publication#next()}. */
    @Nullable Page next() throws InterruptedException {
        Page page = open ? nextOfTransaction() : null;
        if (page == null) {
            commit();
            page = first();
        }
        if (page != null) {
            last = page;
        }
        return page;
    }

    /** Another page for the open transaction; null if the transaction should end. */
    private @Nullable Page nextOfTransaction() throws InterruptedException {
        long left = longest - (System.nanoTime() - beganAt);
        Page present = last;
        if (left <= 0 || pausedTopics.isRelayPaused() || present == null) {
            return null;
        }
        boolean moreIsSure = present.after().to() != null;
        boolean isThere = inFlight.awaitUnsent(moreIsSure ? Duration.ofNanos(left) : Duration.ZERO);
        return isThere && pausedTopics.isOpenFor(inFlight.nextRecords()) ? inFlight.take(Duration.ZERO) : null;
    }

    /** Waits without an open transaction: consumers of committed records would wait for its end. */
    private @Nullable Page first() throws InterruptedException {
        while (!inFlight.awaitUnsent(untilRefresh) && !inFlight.isSealed()) {
            refresh();
        }
        while (!pausedTopics.awaitRoom(untilRefresh, inFlight.nextRecords())) {
            refresh();
        }
        Page page = inFlight.take(Duration.ZERO);
        if (page != null) {
            begin();
        }
        return page;
    }

    private void begin() {
        open = true;
        producer().beginTransaction();
        beganAt = System.nanoTime();
    }

    /**
     * Ends the open transaction, if there is one. All its records are acknowledged first, and its end position is
     * durable.
     */
    private void commit() throws InterruptedException {
        Page end = last;
        if (!open || end == null) {
            return;
        }
        producer().flush();
        ending = true;
        long answered = System.nanoTime();
        PositionTable.Saved next = awaitPrepared(end);
        lease.awaitHeld();
        end(next);
        long cost = System.nanoTime() - answered;
        longest = Math.max(SHORTEST.toNanos(), Math.min(LONGEST.toNanos(), TIMES_ITS_END * cost));
        committed = next;
        last = null;
        open = false;
        ending = false;
        main.wake();
    }

    /** Commits the same number again. A successor cannot have committed another one without fencing this producer. */
    private void refresh() {
        topic.refresh(producer(), PositionTopic.Partition.PAGES, committed);
        untilRefresh = REFRESH;
    }

    private void end(PositionTable.Saved position) {
        topic.commit(producer(), Map.of(PositionTopic.Partition.PAGES, position));
    }

    private synchronized PositionTable.Saved awaitPrepared(Page end) throws InterruptedException {
        main.wake(); // A page without records reports no end.
        while (prepared == null || !prepared.position().equals(end.after())) {
            wait();
        }
        return prepared;
    }
}
