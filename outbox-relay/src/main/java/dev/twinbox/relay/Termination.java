package dev.twinbox.relay;

import dev.twinbox.relay.config.ExitCode;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Turns SIGTERM and SIGINT into a clean end: asks the relay to stop, waits for it, and exits with its code, where the JVM
 * alone would cut it off and say 143. A second signal changes nothing.
 */
final class Termination {
    private static final Logger LOG = LoggerFactory.getLogger(Termination.class);

    private final CountDownLatch ended = new CountDownLatch(1);
    private final Runnable stop;
    private final Duration limit;
    private volatile ExitCode exitCode = ExitCode.OK;

    private Termination(Runnable stop, Duration limit) {
        this.stop = stop;
        this.limit = limit;
    }

    /**
     * From now on a signal calls {@code stop}.
     *
     * @param limit after which the process is cut off
     */
    static Termination install(Runnable stop, Duration limit) {
        Termination termination = new Termination(stop, limit);
        Runtime.getRuntime().addShutdownHook(new Thread(termination::onShutdown, "relay-termination"));
        return termination;
    }

    /** The relay has ended by itself or as asked; to be called when nothing is left to do but to exit. */
    void ended(ExitCode code) {
        exitCode = code;
        ended.countDown();
    }

    private void onShutdown() {
        if (ended.getCount() == 0) {
            return; // the relay ended first, and its code is on its way
        }
        LOG.info("Asked to stop, settling what is in flight");
        stop.run();
        Runtime.getRuntime().halt(awaitEnd().number());
    }

    private ExitCode awaitEnd() {
        try {
            if (ended.await(limit.toNanos(), TimeUnit.NANOSECONDS)) {
                return exitCode;
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        LOG.error("Cut off after {}, start it again: what is in flight is sent again then", limit);
        return ExitCode.UNFINISHED;
    }
}
