package dev.twinbox.proof.landscape;

import dev.twinbox.fixtures.ChildProcess;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/** A process that is started again whenever it ends, however it ended, until it is closed. */
final class Server implements AutoCloseable {

    /** Long enough to learn that a Ctrl-C, which a terminal sends to child processes too, was the reason for the end. */
    private static final Duration BEFORE_RESTART = Duration.ofMillis(300);

    private static final Duration RETRY = Duration.ofSeconds(1);

    private final String name;
    private final ChildProcess process;
    private final Runnable awaitReady;
    private final Journal journal;
    private final Executor threads;

    // Written by the thread that starts the process (one at a time), read by the page.
    private volatile Health health = Health.DOWN;
    private final AtomicInteger restarts = new AtomicInteger();
    private volatile boolean closed;

    /**
     * @param name what people call it, e.g. {@code Relay}
     * @param awaitReady returns when the started process is of use
     * @param threads runs the restarts, which take seconds
     */
    Server(String name, ChildProcess process, Runnable awaitReady, Journal journal, Executor threads) {
        this.name = name;
        this.process = process;
        this.awaitReady = awaitReady;
        this.journal = journal;
        this.threads = threads;
    }

    /** What the page shows of a process. */
    enum Health {
        /** Not there: not started yet, or it does not come up. */
        DOWN,
        STARTING,
        UP
    }

    /** Starts it and returns when it is of use. From here on it is watched. */
    void start() {
        health = Health.STARTING;
        try {
            process.start();
            awaitReady.run();
        } catch (RuntimeException e) {
            health = Health.DOWN;
            throw e;
        }
        health = Health.UP;
        watch();
    }

    private void watch() {
        // No handle: it has ended already.
        CompletableFuture<?> end = ProcessHandle.of(process.pid())
                .map(ProcessHandle::onExit)
                .orElseGet(() -> CompletableFuture.completedFuture(null));
        CompletableFuture<Void> unused = end.thenRunAsync(this::startAgain, after(BEFORE_RESTART));
    }

    private void startAgain() {
        if (closed) {
            return;
        }
        long endedAt = System.nanoTime();
        health = Health.STARTING;
        journal.write(name + ": the process ended, it is started again");
        try {
            start();
            restarts.incrementAndGet();
            journal.write(String.format(
                    Locale.ROOT, "%s: back after %.1f s", name, (System.nanoTime() - endedAt) / 1_000_000_000.0));
        } catch (RuntimeException e) {
            if (!closed) {
                journal.write(name + " does not come up, next try in a second: " + e.getMessage());
                after(RETRY).execute(this::startAgain);
            }
        }
    }

    private Executor after(Duration delay) {
        return CompletableFuture.delayedExecutor(delay.toMillis(), TimeUnit.MILLISECONDS, threads);
    }

    /** {@code SIGKILL}. It comes back by itself. */
    void kill() {
        journal.write(name + ": kill -9 process " + process.pid());
        health = Health.DOWN;
        process.kill();
    }

    /** A clean stop. It comes back by itself. */
    void restart() {
        journal.write(name + ": asked to stop");
        health = Health.DOWN;
        process.stop();
    }

    Health health() {
        return health;
    }

    /** How often it was started again. */
    int restarts() {
        return restarts.get();
    }

    /** The view for the page. */
    View view() {
        Health now = health;
        return new View(now.name().toLowerCase(Locale.ROOT), now == Health.UP ? process.pid() : 0, restarts.get());
    }

    /** From here on its end is its end. */
    void letGo() {
        closed = true;
    }

    /** Ends it for good. */
    @Override
    public void close() {
        letGo();
        health = Health.DOWN;
        process.close();
    }

    /**
     * What the page gets.
     *
     * @param health one of down, starting, up
     * @param pid 0 while it is not up
     */
    public record View(String health, long pid, int restarts) {}
}
