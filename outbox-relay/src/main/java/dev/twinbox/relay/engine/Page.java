package dev.twinbox.relay.engine;

import dev.twinbox.relay.jdbc.OutboxRecord;
import dev.twinbox.relay.jdbc.ParkReason;
import dev.twinbox.relay.jdbc.ParkedTable;
import dev.twinbox.relay.jdbc.Position;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive rows of a window. The page is done when every record is acknowledged or parked. Then the position may
 * move to {@link #after()}.
 */
final class Page implements OutboxRecord.Batch {
    /** Learns each outcome, on the producer's thread, or on the sending thread if a send fails at once. */
    interface Listener {
        void done(Page page);

        void failed(OutboxRecord record, Exception failure);
    }

    private final List<OutboxRecord> records;
    private final Position after;
    private final long bytes;
    private final AtomicInteger outstanding;
    // written by the sending thread until the page is done
    private final List<ParkedTable.Entry> parked = new ArrayList<>();
    private final long readAt = System.nanoTime();
    private long handedAt; // written by the sending thread before the first record is sent
    private volatile @Nullable Listener listener;
    private long committedAfter; // written by the reading thread before it hands the page on

    /** @param bytes memory that the records take, roughly */
    Page(List<OutboxRecord> records, Position after, long bytes) {
        this.records = records;
        this.after = after;
        this.bytes = bytes;
        this.outstanding = new AtomicInteger(records.size());
        records.forEach(record -> record.setBatch(this));
    }

    List<OutboxRecord> records() {
        return records;
    }

    Position after() {
        return after;
    }

    long bytes() {
        return bytes;
    }

    /** Monotonic time after which each of its events was committed; 0: not known. */
    long committedAfter() {
        return committedAfter;
    }

    void setCommittedAfter(long time) {
        committedAfter = time;
    }

    boolean isEmpty() {
        return records.isEmpty();
    }

    boolean isDone() {
        return outstanding.get() == 0;
    }

    /**
     * Called before the first record is sent.
     *
     * @return nanoseconds since the page was read
     */
    long begin(Listener newListener) {
        listener = newListener;
        handedAt = System.nanoTime();
        return handedAt - readAt;
    }

    /** Nanoseconds since {@link #begin}. */
    long sinceBegin() {
        return System.nanoTime() - handedAt;
    }

    /** The record is not sent. It is saved as parked when the position moves past this page. */
    void park(OutboxRecord record, ParkReason reason) {
        parked.add(new ParkedTable.Entry(record, reason));
        record.settle();
        countDown();
    }

    /** The parked events in order; complete when the page is done. */
    List<ParkedTable.Entry> parked() {
        return parked;
    }

    @Override
    public void acknowledged(OutboxRecord record) {
        countDown();
    }

    private void countDown() {
        if (outstanding.decrementAndGet() == 0) {
            listener().done(this);
        }
    }

    @Override
    public void failed(OutboxRecord record, Exception failure) {
        listener().failed(record, failure);
    }

    private Listener listener() {
        Listener present = listener;
        if (present == null) {
            throw new IllegalStateException("records were sent before begin() was called");
        }
        return present;
    }
}
