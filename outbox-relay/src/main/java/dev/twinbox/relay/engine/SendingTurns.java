package dev.twinbox.relay.engine;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Two threads take turns at sending. A thread that has sent all pages gives the turn to the other one, and flushes the
 * producer itself. So the records of a page that comes alone need no further thread before they leave.
 *
 * <p>The producer's own {@code linger.ms} is one number for all situations. With 0, a backlog is sent in batches of a
 * few records, which burdens the broker. With more, a single event waits in vain. So records linger, and a flush ends
 * the linger time. {@code flush()} returns only when all records are acknowledged, and the next page must not wait for
 * that. Records added meanwhile do not linger either.
 *
 * <p>Whoever has the turn is the sending thread. It sees all that the one before it has written. A thread that fails
 * keeps its turn, so that no later page overtakes.
 */
final class SendingTurns {
    private final Runnable flush;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition free = lock.newCondition();
    private @Nullable Thread sending;
    private int waiting; // threads that wait for the turn
    private boolean flushing;
    private boolean again; // the thread that flushes must flush once more

    /** @param flush of the producer */
    SendingTurns(Runnable flush) {
        this.flush = flush;
    }

    /** Waits for the turn, unless this thread has it. */
    void take() throws InterruptedException {
        lock.lock();
        try {
            awaitTurn();
        } finally {
            lock.unlock();
        }
    }

    private void awaitTurn() throws InterruptedException {
        waiting++;
        try {
            while (sending != null && sending != Thread.currentThread()) {
                free.await();
            }
            sending = Thread.currentThread();
        } finally {
            waiting--;
        }
    }

    /**
     * Has all records flushed that were handed over so far. If the other thread waits, it gets the turn, and this method
     * returns when this thread has it again. If the other thread is flushing, it flushes once more. If it has not come
     * yet, this thread keeps the turn.
     */
    void flush() throws InterruptedException {
        lock.lock();
        try {
            if (flushing) {
                again = true;
                return;
            }
            flushing = true;
            if (waiting > 0) {
                giveUpTurn();
            }
        } finally {
            lock.unlock();
        }
        do {
            flush.run();
        } while (!takeUnlessAskedAgain());
    }

    private boolean takeUnlessAskedAgain() throws InterruptedException {
        lock.lock();
        try {
            flushing = again;
            again = false;
            if (flushing) {
                return false;
            }
            awaitTurn();
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** Called by the sending thread when no page will come any more, so that the other thread can end, too. */
    void leave() {
        lock.lock();
        try {
            giveUpTurn();
        } finally {
            lock.unlock();
        }
    }

    private void giveUpTurn() {
        sending = null;
        free.signal();
    }
}
