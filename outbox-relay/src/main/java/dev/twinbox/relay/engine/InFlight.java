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
 * The pages between the database and the saved position, oldest first: read but not sent, then sent but not acknowledged. The
 * reading thread adds, the sending thread takes, the main thread removes what is acknowledged. What it holds is bounded in
 * bytes, so it is what stops the reading when the broker is slow or away.
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

    /** One page always fits, also one that is larger than all that should be in flight. */
    private boolean isFull() {
        return bytes > 0 && bytes + pageBytes > limit;
    }

    /** Waits until another page may be read; false: none may be read any more. */
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

    /** Adds the next page; a page that comes after {@link #seal()} is left to the next run. */
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

    /** Waits for the next page to send; null: there will be none. */
    @Nullable Page take() throws InterruptedException {
        lock.lock();
        try {
            while (unsent.isEmpty() && !sealed) {
                work.await();
            }
            return next();
        } finally {
            lock.unlock();
        }
    }

    /** As {@link #take()}, but null also if none comes within this time. */
    @Nullable Page take(Duration time) throws InterruptedException {
        lock.lock();
        try {
            long left = time.toNanos();
            while (unsent.isEmpty() && !sealed && left > 0) {
                left = work.awaitNanos(left);
            }
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

    /** Whether a page waits to be sent. */
    boolean hasUnsent() {
        lock.lock();
        try {
            return !unsent.isEmpty();
        } finally {
            lock.unlock();
        }
    }

    /** The oldest page, removed, if all of it is acknowledged; null if not. Later pages wait for it. */
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

    /** Whether the oldest page has been with the producer since this monotonic time and is not settled. */
    boolean isUnsettledSince(long then) {
        lock.lock();
        try {
            for (Page page : sent) {
                if (!page.isDone()) { // only the first record of a page may have been set aside
                    return page.records().stream()
                            .anyMatch(record -> record.handedAt() != 0 && record.handedAt() - then <= 0);
                }
            }
            return false;
        } finally {
            lock.unlock();
        }
    }

    /** What was handed to the producer, or is about to be, and is not behind the saved position. */
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

    /** Whether everything that was handed to the producer is settled. */
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

    /** No further page is read or sent; those not yet sent are dropped, those in the producer's hands remain. */
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
