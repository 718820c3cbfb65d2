package dev.twinbox.proof.landscape;

import dev.twinbox.fixtures.ChildProcess;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;

/** A process that is started again whenever it ends, for whatever reason, until {@link #letGo}. */
public final class Server {

    /** A terminal sends Ctrl-C to child processes, too. By then this process knows that it is to end as well. */
    private static final Duration BEFORE_RESTART = Duration.ofMillis(300);

    private static final Duration RETRY = Duration.ofSeconds(1);

    private final String name;
    private final ChildProcess process;
    private final Runnable start;
    private final Consumer<String> journal;
    private final Executor threads;

    // Written by the thread that starts the process (one at a time), read by the page.
    private volatile Health health = Health.DOWN;
    private final AtomicInteger restarts = new AtomicInteger();
    private volatile boolean letGo;

    /**
     * @param name for people, e.g. {@code Relay}
     * @param start starts the process unless it runs, and returns when it can be used
     * @param threads runs the restarts, which take seconds
     */
    Server(String name, ChildProcess process, Runnable start, Consumer<String> journal, Executor threads) {
        this.name = name;
        this.process = process;
        this.start = start;
        this.journal = journal;
        this.threads = threads;
    }

    /** Whether a process can be used. */
    public enum Health {
        /** Not started yet, killed, or it cannot be started. */
        DOWN,
        /** The process is being started. */
        STARTING,
        /** The process can be used. */
        UP
    }

    /** Starts the process and returns when it can be used. From now on it is restarted when it ends. */
    public void start() {
        health = Health.STARTING;
        try {
            start.run();
        } catch (RuntimeException e) {
            health = Health.DOWN;
            throw e;
        }
        health = Health.UP;
        watch();
    }

    private void watch() {
        // Without a handle the process has ended already.
        CompletableFuture<?> end = ProcessHandle.of(process.pid())
                .map(ProcessHandle::onExit)
                .orElseGet(() -> CompletableFuture.completedFuture(null));
        CompletableFuture<Void> unused = end.thenRunAsync(this::startAgain, after(BEFORE_RESTART));
    }

    private void startAgain() {
        if (letGo) {
            return;
        }
        long endedAt = System.nanoTime();
        health = Health.STARTING;
        journal.accept(name + ": the process ended, restarting it");
        try {
            start();
            restarts.incrementAndGet();
            journal.accept(String.format(
                    Locale.ROOT,
                    "%s: running again after %.1f s",
                    name,
                    (System.nanoTime() - endedAt) / 1_000_000_000.0));
        } catch (RuntimeException e) {
            if (!letGo) {
                journal.accept(name + " cannot be started, next attempt in one second: " + e.getMessage());
                after(RETRY).execute(this::startAgain);
            }
        }
    }

    private Executor after(Duration delay) {
        return CompletableFuture.delayedExecutor(delay.toMillis(), TimeUnit.MILLISECONDS, threads);
    }

    /** Kills the process with {@code SIGKILL}. It is restarted. */
    public void kill() {
        journal.accept(name + ": kill -9 process " + process.pid());
        health = Health.DOWN;
        process.kill();
    }

    /** Stops the process cleanly. It is restarted. */
    public void restart() {
        journal.accept(name + ": stopping the process");
        health = Health.DOWN;
        process.stop();
    }

    /** Whether it can be used now. */
    public Health health() {
        return health;
    }

    /** How often it was restarted. */
    public int restarts() {
        return restarts.get();
    }

    /** The process as it is now. */
    public View view() {
        Health now = health;
        return new View(now.name().toLowerCase(Locale.ROOT), now == Health.UP ? process.pid() : 0, restarts.get());
    }

    /** Ends the restarts. */
    public void letGo() {
        letGo = true;
    }

    /**
     * A process at one moment.
     *
     * @param health one of down, starting, up
     * @param pid the process id; 0 while it is not up
     */
    public record View(String health, long pid, int restarts) {}
}
