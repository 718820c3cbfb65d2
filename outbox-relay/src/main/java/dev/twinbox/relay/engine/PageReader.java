package dev.twinbox.relay.engine;

import dev.twinbox.relay.pause.PauseGate;
import java.sql.SQLException;

/** The reading thread: reads pages ahead of the sending thread, as long as {@link InFlight} has room. */
final class PageReader implements Runnable {
    /** After a single row, the next one is seldom so near that a poll at once would find it. */
    private static final int FEW = 2;

    /** From here on, rows should come together: each page costs, and delays the answers to the page before. */
    private static final int MANY = 8;

    private final Window window;
    private final InFlight inFlight;
    private final PauseGate gate;
    private final Failures failures;
    private final Progress progress;
    private final Waiter idle;
    private long openedAt; // monotonic; 0 before the first window
    private long committedAfter;

    PageReader(Window window, InFlight inFlight, PauseGate gate, Failures failures, Progress progress, Waiter idle) {
        this.window = window;
        this.inFlight = inFlight;
        this.gate = gate;
        this.failures = failures;
        this.progress = progress;
        this.idle = idle;
    }

    @Override
    public void run() {
        try {
            while (awaitRoom()) {
                int read = readOnce();
                if (window.isAtEnd()) {
                    rest(read);
                }
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        } catch (Exception | Error e) { // An Error must end the session visibly, too, not only this thread.
            failures.report(e);
        }
    }

    private boolean awaitRoom() throws InterruptedException {
        gate.awaitOpen();
        if (!inFlight.hasRoom()) {
            progress.recordFull();
        }
        return inFlight.awaitRoom();
    }

    /** Reads one page; returns how many rows it had. */
    private int readOnce() throws SQLException {
        progress.recordPollStart();
        long begun = System.nanoTime();
        boolean ended = window.isAtEnd();
        if (ended) {
            // What the next window shows was not visible when the last one was opened.
            committedAfter = openedAt;
            openedAt = System.nanoTime();
        }
        Page page = window.read();
        page.setCommittedAfter(committedAfter);
        int rows = page.records().size();
        progress.recordPoll(rows);
        if (rows > 0) {
            progress.recordPart(PagePart.READ, System.nanoTime() - begun);
        }
        // A window whose last page was full ends with an empty page, which must be saved. While the window counts as
        // open, its rows count as unsent and their slot is not emptied.
        if (rows > 0 || !ended) {
            inFlight.add(page);
        }
        return rows;
    }

    private void rest(int read) throws InterruptedException {
        if (read >= FEW && read < MANY) {
            idle.resetBriefly();
        } else if (read > 0) {
            idle.reset();
        }
        idle.await();
    }
}
