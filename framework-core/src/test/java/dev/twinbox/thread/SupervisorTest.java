package dev.twinbox.thread;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** No loop ends in silence. */
class SupervisorTest {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final AtomicLong now = new AtomicLong();
    private final LoopEnds ends = new LoopEnds(now::get);
    private final StopRequest stop = new StopRequest();
    private final Supervisor supervisor = new Supervisor(Thread::new, ends, stop);

    @AfterEach
    void stopAll() {
        stop.ask();
        assertThat(supervisor.join(LIMIT)).isEmpty();
    }

    @Test
    void aLoopThatReturnsOrThrowsIsStartedAgainAndMakesNotReady() throws InterruptedException {
        AtomicInteger runs = new AtomicInteger();
        CountDownLatch third = new CountDownLatch(3);
        supervisor.start("loop", () -> {
            third.countDown();
            switch (runs.incrementAndGet()) {
                case 1 -> {}
                case 2 -> throw new AssertionError("second");
                default -> stop.await(LIMIT);
            }
        });

        assertThat(third.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(ends.troubles()).containsOnlyKeys("thread loop");
        assertThat(ends.troubles().get("thread loop")).contains("2 times in a row", "AssertionError: second");
        assertThat(ends.reasonsToRestart()).isEmpty();

        now.addAndGet(LoopEnds.SETTLED.toNanos());
        assertThat(ends.troubles()).isEmpty();
    }

    @Test
    void anInterruptFlagThatALoopLeavesBehindDoesNotEndIt() throws InterruptedException {
        CountDownLatch second = new CountDownLatch(2);
        supervisor.start("loop", () -> {
            second.countDown();
            Thread.currentThread().interrupt();
        });

        assertThat(second.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
    }

    @Test
    void anInterruptIsNoRequestToStopAndEndsOneWaitOnly() {
        Thread.currentThread().interrupt();
        assertThat(stop.await(LIMIT)).isFalse();
        assertThat(Thread.currentThread().isInterrupted()).isFalse();

        stop.ask();
        Thread.currentThread().interrupt();
        assertThat(stop.await(LIMIT)).isTrue();
    }

    @Test
    void afterSeveralEndsInARowTheProcessShouldBeStartedAgain() {
        for (int i = 0; i < LoopEnds.SEVERAL; i++) {
            assertThat(ends.reasonsToRestart()).isEmpty();
            ends.begins("loop");
            ends.ended("loop", new IllegalStateException("again"));
        }
        assertThat(ends.reasonsToRestart()).containsOnlyKeys("thread loop");

        ends.begins("loop");
        now.addAndGet(LoopEnds.SETTLED.toNanos());
        assertThat(ends.reasonsToRestart()).isEmpty();
        assertThat(ends.ended("loop", null)).isEqualTo(Duration.ofMillis(100));
    }

    @Test
    void theWaitGrowsUpToALimit() {
        List<Duration> waits = java.util.stream.IntStream.range(0, 100)
                .mapToObj(i -> ends.ended("loop", null))
                .toList();

        assertThat(waits).startsWith(Duration.ofMillis(100), Duration.ofMillis(200), Duration.ofMillis(400));
        assertThat(waits).last().isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void theOwnerIsToldWhenALoopThatCannotGoOnAloneEnds() throws InterruptedException {
        AtomicReference<Throwable> told = new AtomicReference<>();
        CountDownLatch tells = new CountDownLatch(1);
        supervisor.start("loop", () -> {}, cause -> {
            told.set(cause);
            tells.countDown();
        });

        assertThat(tells.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(told.get()).hasMessage("thread loop returned");
        assertThat(ends.troubles()).containsOnlyKeys("thread loop");
    }

    @Test
    void aLoopThatWasAskedToStopEndsWithoutATrouble() {
        supervisor.start("one", () -> stop.await(LIMIT));
        supervisor.start("two", () -> stop.await(LIMIT), cause -> {
            throw new AssertionError("told", cause);
        });

        stop.ask();

        assertThat(supervisor.join(LIMIT)).isEmpty();
        assertThat(ends.troubles()).isEmpty();
    }
}
