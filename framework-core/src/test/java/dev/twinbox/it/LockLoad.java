package dev.twinbox.it;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Supplier;

/** Several threads count by random keys for a while. */
final class LockLoad {

    private static final int THREADS = 4;
    private static final int KEYS = 1_000;

    private final ExecutorService executor;
    private final long end;

    LockLoad(ExecutorService executor, Duration time) {
        this.executor = executor;
        this.end = System.nanoTime() + time.toNanos();
    }

    /** What became of one try. */
    enum Outcome {
        COUNTED,
        BUSY,
        STALE
    }

    /** One try: takes the key, pauses, counts. */
    interface Counting {
        Outcome count(String key, long leaseMillis, Runnable pause, long workMillis) throws Exception;
    }

    /**
     * Returns how many counts committed, and how many locks were lost before.
     *
     * @param prefix of the keys
     * @param countings makes one for each thread
     */
    String run(String prefix, Supplier<Counting> countings) throws Exception {
        AtomicInteger stale = new AtomicInteger();
        List<Future<Integer>> counts = new ArrayList<>();
        for (int i = 0; i < THREADS; i++) {
            counts.add(executor.submit(() -> count(prefix, countings.get(), stale)));
        }
        int counted = 0;
        for (Future<Integer> each : counts) {
            counted += each.get(5, TimeUnit.MINUTES);
        }
        return counted + " " + stale;
    }

    private int count(String prefix, Counting counting, AtomicInteger stale) throws Exception {
        int counted = 0;
        while (System.nanoTime() - end < 0) {
            // Some keys are wanted by many, and many leases are shorter than the work.
            int number = ThreadLocalRandom.current().nextInt(KEYS);
            String key = prefix + (number % 4 == 0 ? number % 16 : number);
            long lease = ThreadLocalRandom.current().nextLong(1, 20);
            long pause = ThreadLocalRandom.current().nextLong(0, 20);
            Outcome outcome = counting.count(
                    key, lease, () -> LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(pause)), pause / 4);
            if (outcome == Outcome.COUNTED) {
                counted++;
            } else if (outcome == Outcome.STALE) {
                stale.incrementAndGet();
            }
        }
        return counted;
    }
}
