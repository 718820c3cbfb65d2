package dev.twinbox.relay;

import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/**
 * Consecutive rows of a window. It is done when the broker has acknowledged every one of them; then the position may move to
 * {@link #after()}.
 */
final class Page {
    /** Hears what becomes of the records, on the producer's thread or, when a send fails at once, on the sending one. */
    interface Listener {
        void acknowledged(Page page);

        void failed(OutboxRecord record, Exception failure);
    }

    private final List<OutboxRecord> records;
    private final Position after;
    private final long bytes;
    private final AtomicInteger outstanding;
    private volatile @Nullable Listener listener;

    /** @param bytes what the records hold in memory, roughly */
    Page(List<OutboxRecord> records, Position after, long bytes) {
        this.records = records;
        this.after = after;
        this.bytes = bytes;
        this.outstanding = new AtomicInteger(records.size());
        records.forEach(record -> record.belongsTo(this));
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

    boolean isEmpty() {
        return records.isEmpty();
    }

    boolean isDone() {
        return outstanding.get() == 0;
    }

    /** Before the first record is sent. */
    void report(Listener newListener) {
        listener = newListener;
    }

    void acknowledged() {
        if (outstanding.decrementAndGet() == 0) {
            listener().acknowledged(this);
        }
    }

    void failed(OutboxRecord record, Exception failure) {
        listener().failed(record, failure);
    }

    private Listener listener() {
        Listener present = listener;
        if (present == null) {
            throw new IllegalStateException("records were sent before anybody listened");
        }
        return present;
    }
}
