package dev.twinbox.console;

import java.util.function.LongSupplier;

/** Lets so many through in a second, and as many at once after a pause. For several threads. */
final class RateLimit {
    private static final long SECOND = 1_000_000_000L;

    private final LongSupplier nanoTime;
    private final long interval;
    private final long burst;
    private long nextAt;

    /** @param nanoTime monotonic */
    RateLimit(int perSecond, LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
        this.interval = SECOND / perSecond;
        this.burst = SECOND;
        this.nextAt = nanoTime.getAsLong() - burst;
    }

    /** Whether one more may pass now. */
    synchronized boolean tryPass() {
        long now = nanoTime.getAsLong();
        if (now - nextAt > burst) {
            nextAt = now - burst;
        }
        if (nextAt - now > 0) {
            return false;
        }
        nextAt += interval;
        return true;
    }
}
