package dev.twinbox.relay.resend;

import dev.twinbox.relay.jdbc.SentEvents;
import java.time.Duration;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What this process has done of a job since it began it, or went on with it. Only for the resend thread. */
final class ResendWork {
    private final long job;
    private @Nullable String mark;
    private long after;
    private ResendJob.Sent unsaved = ResendJob.Sent.NOTHING;
    private @Nullable String refusal;
    private final long begunAt = System.nanoTime();
    private long savedAt = begunAt;

    /** @param after number after which it goes on */
    ResendWork(long job, long after) {
        this.job = job;
        this.after = after;
    }

    long job() {
        return job;
    }

    /** The moment at which the job's topics were certainly set aside; null: they are not yet. */
    @Nullable String mark() {
        return mark;
    }

    void setMark(String newMark) {
        mark = newMark;
    }

    boolean isOlderThan(Duration age) {
        return System.nanoTime() - begunAt > age.toNanos();
    }

    long after() {
        return after;
    }

    /** All of this page is done. */
    void recordDone(SentEvents.Page page, int sent, Map<Long, String> refused) {
        after = page.next();
        unsaved = unsaved.plus(new ResendJob.Sent(sent, page.parked(), refused.size()));
        if (refusal == null) {
            refusal = refused.values().stream().findFirst().orElse(null);
        }
    }

    /** What is done since the last save. */
    ResendJob.Sent unsaved() {
        return unsaved;
    }

    /** The first refusal; null: there was none. */
    @Nullable String refusal() {
        return refusal;
    }

    boolean isSavedSince(long nanoTime) {
        return savedAt - nanoTime >= 0;
    }

    void recordSaved() {
        unsaved = ResendJob.Sent.NOTHING;
        savedAt = System.nanoTime();
    }
}
