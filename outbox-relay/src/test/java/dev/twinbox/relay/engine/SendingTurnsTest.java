package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(30)
class SendingTurnsTest {
    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final AtomicInteger begun = new AtomicInteger();
    private final Semaphore answers = new Semaphore(0); // each ends one flush
    private final SendingTurns turns = new SendingTurns(() -> {
        begun.incrementAndGet();
        answers.acquireUninterruptibly();
    });
    private final List<Thread> threads = new ArrayList<>();
    private final List<Throwable> failures = Collections.synchronizedList(new ArrayList<>());

    /** What a thread of the test does. */
    private interface Work {
        void run() throws InterruptedException;
    }

    private Thread start(Work work) {
        Thread thread = new Thread(() -> {
            try {
                work.run();
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt(); // the end of the test
            } catch (Throwable e) {
                failures.add(e);
            }
        });
        threads.add(thread);
        thread.start();
        return thread;
    }

    @AfterEach
    void end() throws InterruptedException {
        answers.release(1_000);
        for (Thread thread : threads) {
            thread.interrupt();
            thread.join();
        }
        assertThat(failures).isEmpty();
    }

    private static void awaitWaiting(Thread thread) {
        await().atMost(LIMIT).until(() -> thread.getState() == Thread.State.WAITING);
    }

    @Test
    void theOtherThreadGoesOnWhileTheFirstOneFlushes() throws InterruptedException {
        CountDownLatch hasPage = new CountDownLatch(1);
        CountDownLatch otherHasTurn = new CountDownLatch(1);
        Thread first = start(() -> {
            turns.take();
            hasPage.await();
            turns.flush();
        });
        awaitWaiting(first);
        Thread other = start(() -> {
            turns.take();
            otherHasTurn.countDown();
        });
        awaitWaiting(other);
        assertThat(otherHasTurn.getCount()).isOne();

        hasPage.countDown();

        assertThat(otherHasTurn.await(20, TimeUnit.SECONDS)).isTrue();
        await().atMost(LIMIT).until(() -> begun.get() == 1);
        assertThat(first.isAlive()).as("it still flushes").isTrue();
    }

    @Test
    void whatIsHandedOverDuringAFlushIsFlushedAfterIt() throws InterruptedException {
        CountDownLatch hasPage = new CountDownLatch(1);
        CountDownLatch goesOn = new CountDownLatch(1);
        Thread first = start(() -> {
            turns.take();
            hasPage.await();
            turns.flush();
        });
        awaitWaiting(first);
        Thread other = start(() -> {
            turns.take();
            await().atMost(LIMIT).until(() -> begun.get() == 1);
            turns.flush();
            goesOn.countDown();
        });
        awaitWaiting(other);
        hasPage.countDown();
        assertThat(goesOn.await(20, TimeUnit.SECONDS)).as("it does not wait").isTrue();
        assertThat(begun).hasValue(1);

        answers.release();

        await().atMost(LIMIT).until(() -> begun.get() == 2);
    }

    @Test
    void aThreadWithoutAnotherOneFlushesAndKeepsItsTurn() throws InterruptedException {
        answers.release();
        turns.take();
        turns.flush();
        assertThat(begun).hasValue(1);

        Thread other = start(turns::take);
        awaitWaiting(other);
    }

    @Test
    void onlyOneThreadHasTheTurnAndAllEnd() throws InterruptedException {
        AtomicInteger senders = new AtomicInteger();
        AtomicInteger sent = new AtomicInteger();
        List<Integer> atOnce = Collections.synchronizedList(new ArrayList<>());
        answers.release(1_000_000);
        for (int i = 0; i < 2; i++) {
            start(() -> {
                turns.take();
                while (sent.incrementAndGet() < 20_000) {
                    if (senders.incrementAndGet() != 1) {
                        atOnce.add(sent.get());
                    }
                    senders.decrementAndGet();
                    turns.flush();
                    turns.take();
                }
                turns.leave();
            });
        }
        for (Thread thread : threads) {
            thread.join();
        }
        assertThat(atOnce).isEmpty();
        assertThat(begun.get()).isPositive();
    }
}
