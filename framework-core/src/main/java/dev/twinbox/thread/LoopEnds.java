package dev.twinbox.thread;

import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Which loops have ended without being asked. Their threads write it, health checks read it. It outlives the threads, so
 * it knows how often a loop has ended in a row.
 */
public final class LoopEnds {

    private static final Logger LOG = System.getLogger(LoopEnds.class.getName());

    /** After so many ends in a row a new process may help. */
    static final int SEVERAL = 5;

    /** A loop that has run for this time is well again. */
    static final Duration SETTLED = Duration.ofSeconds(10);

    private static final Duration FIRST_WAIT = Duration.ofMillis(100);
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(30);
    private static final int MOST_DOUBLINGS = 16;

    /**
     * What is known about one loop.
     *
     * @param inARow how often it has ended since it was last well
     * @param since when it was started again, or when it ended, by the monotonic clock
     */
    private record Ends(int inARow, String cause, boolean isRunning, long since) {

        boolean isWell(long now) {
            return isRunning && now - since >= SETTLED.toNanos();
        }
    }

    private final Map<String, Ends> loops = new ConcurrentHashMap<>();
    private final LongSupplier nanoTime;

    public LoopEnds() {
        this(System::nanoTime);
    }

    LoopEnds(LongSupplier nanoTime) {
        this.nanoTime = nanoTime;
    }

    /** A loop begins, for the first time or again. */
    void begins(String loop) {
        loops.computeIfPresent(loop, (name, ends) -> new Ends(ends.inARow(), ends.cause(), true, nanoTime.getAsLong()));
    }

    /**
     * A loop has ended although nobody asked it to.
     *
     * @param thrown null if it just returned
     * @return how long to wait before it is started again
     */
    Duration ended(String loop, @Nullable Throwable thrown) {
        String cause = thrown == null ? "it returned" : thrown.toString();
        long now = nanoTime.getAsLong();
        Ends ends = loops.compute(
                loop,
                (name, before) ->
                        new Ends(before == null || before.isWell(now) ? 1 : before.inARow() + 1, cause, false, now));
        Duration wait = waitAfter(ends.inARow());
        LOG.log(
                Level.ERROR,
                () -> "Thread " + loop + " ended without being asked, " + ends.inARow()
                        + " times in a row. It is started again after " + wait + "; report it: " + cause,
                thrown);
        return wait;
    }

    private static Duration waitAfter(int ends) {
        Duration wait = FIRST_WAIT.multipliedBy(1L << Math.min(ends - 1, MOST_DOUBLINGS));
        return wait.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : wait;
    }

    /** Why the component is not ready, by the name of the loop. Empty if all loops run. */
    public SortedMap<String, String> troubles() {
        return endedAtLeast(1, "; it is started again, the log has the cause");
    }

    /** Why the process should be started again, by the name of the loop. Empty if that would not help. */
    public SortedMap<String, String> reasonsToRestart() {
        return endedAtLeast(SEVERAL, "; restart the process, and report the cause that the log has");
    }

    private SortedMap<String, String> endedAtLeast(int times, String remedy) {
        long now = nanoTime.getAsLong();
        SortedMap<String, String> texts = new TreeMap<>();
        loops.forEach((loop, ends) -> {
            if (ends.inARow() >= times && !ends.isWell(now)) {
                texts.put(
                        "thread " + loop,
                        "has ended without being asked, " + ends.inARow() + " times in a row: " + ends.cause()
                                + remedy);
            }
        });
        return texts;
    }
}
