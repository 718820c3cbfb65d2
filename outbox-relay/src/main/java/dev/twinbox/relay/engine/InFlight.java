package dev.twinbox.relay.engine;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.OutboxRecord;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The pages between the database and the saved position, oldest first. Pages are read but not sent, or sent but not
 * acknowledged. The reading thread adds them, the sending thread takes them, and the main thread removes acknowledged
 * ones. The total is bounded in bytes. So reading stops when the broker is slow or unavailable.
 */
final class InFlight {
    private final long limit;
    private final long pageBytes;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition room = lock.newCondition();
    private final Condition work = lock.newCondition();
    private final Deque<Page> unsent = new ArrayDeque<>();
    private final Deque<Page> sent = new ArrayDeque<>();
    private long bytes;
    private boolean sealed;

    InFlight(RelayConfig.Page page) {
        this.pageBytes = page.bytes();
        this.limit = pageBytes * page.inFlight();
    }

    /** Whether {@link #awaitRoom()} would return at once. */
    boolean hasRoom() {
        lock.lock();
        try {
            return sealed || !isFull();
        } finally {
            lock.unlock();
        }
    }

    /** One page always fits, even if it is larger than the limit. */
    private boolean isFull() {
        return bytes > 0 && bytes + pageBytes > limit;
    }

    /** Waits until another page may be read; false if no page may be read any more. */
    boolean awaitRoom() throws InterruptedException {
        lock.lock();
        try {
            while (!sealed && isFull()) {
                room.await();
            }
            return !sealed;
        } finally {
            lock.unlock();
        }
    }

    /** Adds the next page. After {@link #seal()}, the page is dropped, and the next run reads it again. */
    void add(Page page) {
        lock.lock();
        try {
            if (!sealed) {
                unsent.add(page);
                bytes += page.bytes();
                work.signal();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Waits until there is a page to send, and leaves it where it is. While the relay is paused, nothing must count as
     * sent. Otherwise a paused relay could not stop.
     */
    void awaitUnsent() throws InterruptedException {
        lock.lock();
        try {
            while (unsent.isEmpty() && !sealed) {
                work.await();
            }
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #awaitUnsent()}, but returns false if there is none within this time. */
    boolean awaitUnsent(Duration time) throws InterruptedException {
        lock.lock();
        try {
            long left = time.toNanos();
            while (unsent.isEmpty() && !sealed && left > 0) {
                left = work.awaitNanos(left);
            }
            return !unsent.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Waits for the next page to send; null if none will come. */
    @Nullable Page take() throws InterruptedException {
        lock.lock();
        try {
            awaitUnsent();
            return next();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #take()}, but returns null also if no page comes within this time. */
    @Nullable Page take(Duration time) throws InterruptedException {
        lock.lock();
        try {
            awaitUnsent(time);
            return next();
        } finally {
            lock.unlock();
        }
    }

    private @Nullable Page next() {
        Page page = unsent.poll();
        if (page != null) {
            sent.add(page);
        }
        return page;
    }

    /** The records of the page that {@link #take} returns next; none if there is no page. */
    List<OutboxRecord> nextRecords() {
        lock.lock();
        try {
            Page next = unsent.peek();
            return next == null ? List.of() : next.records();
        } finally {
            lock.unlock();
        }
    }

    /** Whether a page waits to be sent. */
    boolean hasUnsent() {
        lock.lock();
        try {
            return !unsent.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** Removes and returns the oldest page if all of it is acknowledged; null otherwise. Later pages wait for it. */
    @Nullable Page pollDone() {
        lock.lock();
        try {
            Page oldest = sent.peek();
            if (oldest == null || !oldest.isDone()) {
                return null;
            }
            bytes -= oldest.bytes();
            room.signal();
            return sent.poll();
        } finally {
            lock.unlock();
        }
    }

    /** Whether {@link #pollDone()} would return a page. */
    boolean hasDone() {
        lock.lock();
        try {
            Page oldest = sent.peek();
            return oldest != null && oldest.isDone();
        } finally {
            lock.unlock();
        }
    }

    /** Whether the oldest page has been with the producer since this monotonic time without an outcome. */
    boolean isUnsettledSince(long then) {
        lock.lock();
        try {
            for (Page page : sent) {
                if (!page.isDone()) { // Checks all records of the page: the first one may be parked and never handed
                    // over.
                    return page.records().stream()
                            .anyMatch(record -> record.handedAt() != 0 && record.handedAt() - then <= 0);
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** Records of unfinished pages that were handed to the producer, or soon will be. */
    List<OutboxRecord> sentRecords() {
        List<OutboxRecord> records = new ArrayList<>();
        sentPages().forEach(page -> records.addAll(page.records()));
        return records;
    }

    private List<Page> sentPages() {
        lock.lock();
        try {
            return List.copyOf(sent);
        } finally {
            lock.unlock();
        }
    }

    /** Whether all records handed to the producer have an outcome. */
    boolean isSettled() {
        lock.lock();
        try {
            return sent.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    boolean isSealed() {
        lock.lock();
        try {
            return sealed;
        } finally {
            lock.unlock();
        }
    }

    /** Stops reading and sending. Pages not yet sent are dropped; pages that the producer has stay. */
    void seal() {
        lock.lock();
        try {
            sealed = true;
            unsent.forEach(page -> bytes -= page.bytes());
            unsent.clear();
            room.signalAll();
            work.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
