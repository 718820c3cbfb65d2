package dev.twinbox.inbox.pause;

import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import java.time.Duration;

/** Reads again and again what an operator has paused, so that a change is obeyed within a second. */
public final class PauseLoop implements Supervisor.Loop {

    private static final Duration INTERVAL = Duration.ofMillis(400);

    private final Pauses pauses;
    private final StopRequest stop;

    /** Written by the thread of the loop, read by readiness checks. */
    private volatile long lastRun = System.nanoTime();

    public PauseLoop(Pauses pauses, StopRequest stop) {
        this.pauses = pauses;
        this.stop = stop;
    }

    @Override
    public void run() {
        while (!stop.await(INTERVAL)) {
            pauses.refresh();
            lastRun = System.nanoTime();
        }
    }

    /** How long ago it last ended a round. */
    public long secondsSinceLastRun() {
        return Duration.ofNanos(System.nanoTime() - lastRun).toSeconds();
    }
}
