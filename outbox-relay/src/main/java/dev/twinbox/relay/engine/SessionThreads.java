package dev.twinbox.relay.engine;

import dev.twinbox.thread.LoopEnds;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The threads of one session. None of them ends in silence: one that ends without being asked, and without having
 * reported a failure, ends the session. The next one begins at the saved position.
 *
 * <p>Only for the main thread.
 */
final class SessionThreads {
    private static final Logger LOG = LoggerFactory.getLogger(SessionThreads.class);
    private static final Duration THREADS_END = Duration.ofSeconds(10);

    private final Failures failures;
    private final StopRequest stop;
    private final Supervisor supervisor;

    /** @param failures a session with a failure is over, so its threads may end */
    SessionThreads(Failures failures, LoopEnds ends) {
        this.failures = failures;
        this.stop = new StopRequest(failures::hasAny);
        this.supervisor =
                new Supervisor(Supervisor.DAEMONS, ends, stop); // a hanging client must not keep the process alive
    }

    /** Starts a thread without which the session cannot go on. */
    void start(String name, Supervisor.Loop loop) {
        supervisor.start(name, loop, failures::report);
    }

    /** Starts a thread that can be started again while the others go on. */
    void startIndependent(String name, Supervisor.Loop loop) {
        supervisor.start(name, loop);
    }

    /** From now on a thread may end. */
    void expectEnds() {
        stop.ask();
    }

    void interrupt() {
        expectEnds();
        supervisor.interrupt();
    }

    /** Waits for the end of all threads, and reports those that do not end in time. */
    void join() {
        supervisor.join(THREADS_END).forEach(name -> LOG.warn("Thread {} has not ended within {}", name, THREADS_END));
    }
}
