package dev.twinbox.lock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import dev.twinbox.KeyLock;
import dev.twinbox.fixtures.RedisServer;
import dev.twinbox.fixtures.SharedServers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Hunt: connections to a sound Redis that are out of step. */
class HuntRedisTwoIT {

    private static final RedisServer REDIS = RedisServer.create();
    private static EffectDatabase database;

    @BeforeAll
    static void start() throws Exception {
        REDIS.start();
        database = EffectDatabase.create(SharedServers.postgres(), "hunt_redis_two");
    }

    @AfterAll
    static void stop() {
        REDIS.close();
    }

    private static void deep(int levels, Runnable work) {
        if (levels == 0) {
            work.run();
        } else {
            deep(levels - 1, work);
        }
    }

    /** An application calls tryLock deep in a recursion. Redis and database are sound. */
    @Test
    void aStackThatEndsWithinAQuestion() throws Exception {
        try (QuickLeases leases = LockParts.redis(REDIS.url(), 5_000);
                QuickLeases others = LockParts.redis(REDIS.url(), 5_000)) {
            String warm = HuntLockRig.key("warm");
            assertThat(leases.take(warm, "x", HuntLockRig.LONG)).isTrue();
            AtomicInteger overflows = new AtomicInteger();
            AtomicInteger passed = new AtomicInteger();
            for (int levels = 20; levels < 6_000 && overflows.get() < 400; levels += levels < 300 ? 40 : 7) {
                int now = levels;
                String key = HuntLockRig.key("deep");
                Thread thread = new Thread(
                        null,
                        () -> {
                            try {
                                deep(now, () -> {
                                    try {
                                        if (leases.take(key, "deep", Duration.ofSeconds(5))) {
                                            passed.incrementAndGet();
                                        }
                                    } catch (QuickLeases.AwayException e) {
                                        // away
                                    }
                                });
                            } catch (StackOverflowError e) {
                                overflows.incrementAndGet();
                            }
                        },
                        "deep",
                        160_000);
                thread.start();
                thread.join();
            }
            LockParts mine = database.parts(leases);
            LockParts other = database.parts(others);
            List<String> wrong = new ArrayList<>();
            int refused = 0;
            for (int i = 0; i < 30; i++) {
                String key = HuntLockRig.key("after");
                Optional<KeyLock> lock = mine.tryLock(key, HuntLockRig.LONG);
                if (lock.isEmpty()) {
                    wrong.add(key);
                }
            }
            String key = HuntLockRig.key("shared");
            Optional<KeyLock> theirs = other.tryLock(key, HuntLockRig.LONG);
            Optional<KeyLock> ours = mine.tryLock(key, HuntLockRig.LONG);
            if (theirs.isPresent()) {
                try {
                    HuntLockRig.write(other, theirs.get(), key, "theirs");
                } catch (RuntimeException e) {
                    refused++;
                    System.out.println("DEEP: the sound instance was refused: " + e.getMessage());
                }
            }
            System.out.println("DEEP: passed " + passed + ", overflows " + overflows + "; afterwards " + wrong.size()
                    + " of 30 free keys were not granted: " + wrong + "; shared: theirs " + theirs + ", ours " + ours);
            assertThat(overflows.get()).isPositive();
            assertThat(wrong).isEmpty();
            assertThat(refused).isZero();
        }
    }

    /** As documented: 100 ms or more. Somebody works. */
    @Test
    void leasesOfTheDocumentedLengthLetSomebodyWork() throws Exception {
        List<QuickLeases> all = new ArrayList<>();
        LockParts[] parts = new LockParts[4];
        for (int i = 0; i < 4; i++) {
            QuickLeases leases = LockParts.redis(REDIS.url(), 50);
            all.add(leases);
            parts[i] = database.parts(leases);
        }
        AtomicInteger granted = new AtomicInteger();
        AtomicInteger written = new AtomicInteger();
        List<Thread> threads = new ArrayList<>();
        long end = System.nanoTime() + 4_000_000_000L;
        for (LockParts mine : parts) {
            Thread thread = new Thread(() -> {
                while (System.nanoTime() - end < 0) {
                    mine.tryLock("documented", Duration.ofMillis(ThreadLocalRandom.current().nextInt(100, 200)))
                            .ifPresent(lock -> {
                                granted.incrementAndGet();
                                try {
                                    HuntLockRig.write(mine, lock, "documented", "x");
                                    written.incrementAndGet();
                                } catch (RuntimeException e) {
                                    // refused
                                }
                                lock.close();
                            });
                }
            });
            thread.start();
            threads.add(thread);
        }
        for (Thread each : threads) {
            each.join();
        }
        System.out.println("DOCUMENTED granted " + granted + " written " + written);
        all.forEach(QuickLeases::close);
        assertThat(written.get()).isGreaterThan(5);
    }

    @Test
    void closingIsHarmlessWhateverComes() {
        QuickLeases leases = LockParts.redis(REDIS.url(), 500);
        LockParts parts = database.parts(leases);
        KeyLock lock = parts.tryLock(HuntLockRig.key("closed"), HuntLockRig.LONG).orElseThrow();
        leases.close();
        assertThatCode(lock::close).doesNotThrowAnyException();
        assertThat(parts.tryLock(HuntLockRig.key("closed"), HuntLockRig.LONG)).isPresent();
    }
}
