package dev.twinbox.relay.resend;

import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;

/** What this process has sent again, and the job that it works on. The resend thread writes; HTTP threads read. */
public final class ResendFigures {
    private final LongAdder sent = new LongAdder();
    private volatile @Nullable ResendJob job;

    void recordSent(int events) {
        sent.add(events);
    }

    /** @param newJob null: there is none */
    void show(@Nullable ResendJob newJob) {
        job = newJob;
    }

    /** Events that Kafka has acknowledged for jobs, repeated ones included. */
    public long sent() {
        return sent.sum();
    }

    /** Whether this process works on a job. */
    public boolean isActive() {
        return job != null;
    }
}
