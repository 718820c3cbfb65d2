package dev.twinbox.proof.bench;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/**
 * Looks at the processor time of all processes again and again while a program runs. So the time of a part of the run is
 * known, without the start of the program. The looks themselves cost less than one percent of a processor.
 */
final class ProcessorSamples implements AutoCloseable {
    private static final Duration INTERVAL = Duration.ofMillis(250);

    /** One look; the moment is by the machine's clock. */
    private record Sample(Instant at, ProcessorTime total) {}

    private final BenchServers servers;
    private final List<Sample> samples = new ArrayList<>(); // guarded by itself
    private final Thread thread = new Thread(this::look, "bench-processor-samples");
    private volatile boolean ended;

    private ProcessorSamples(BenchServers servers) {
        this.servers = servers;
    }

    static ProcessorSamples start(BenchServers servers) {
        ProcessorSamples samples = new ProcessorSamples(servers);
        samples.thread.setDaemon(true);
        samples.thread.start();
        return samples;
    }

    private void look() {
        while (!ended) {
            lookOnce();
            LockSupport.parkNanos(INTERVAL.toNanos());
        }
    }

    private void lookOnce() {
        synchronized (samples) {
            samples.add(new Sample(Instant.now(), ProcessorTime.withSenders(servers)));
        }
    }

    /** What was used between two moments of the past; between two looks it is taken as even. */
    ProcessorTime between(Instant from, Instant to) {
        lookOnce(); // The last look of the thread may have been before the end.
        return at(to).since(at(from));
    }

    private ProcessorTime at(Instant moment) {
        synchronized (samples) {
            for (int i = 1; i < samples.size(); i++) {
                Sample before = samples.get(i - 1);
                Sample after = samples.get(i);
                if (!moment.isAfter(after.at)) {
                    double part = (double) Duration.between(before.at, moment).toNanos()
                            / Math.max(1, Duration.between(before.at, after.at).toNanos());
                    return before.total.towards(after.total, Math.max(0, part));
                }
            }
            throw new InvalidRunException("the processor time was not looked at after " + moment);
        }
    }

    @Override
    public void close() throws InterruptedException {
        ended = true;
        LockSupport.unpark(thread);
        thread.join();
    }
}
