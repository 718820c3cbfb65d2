package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.thread.LoopEnds;
import dev.twinbox.thread.StopRequest;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** No thread of a session ends in silence. */
class SessionThreadsTest {

    private static final Duration LIMIT = Duration.ofSeconds(20);

    private final Waiter main = new Waiter(new RelayConfig.Idle(Duration.ofMillis(1), LIMIT));
    private final Failures failures = new Failures(main);
    private final LoopEnds ends = new LoopEnds();
    private final SessionThreads threads = new SessionThreads(failures, ends);

    @AfterEach
    void end() {
        threads.interrupt();
        threads.join();
    }

    @Test
    void aThreadThatEndsWithoutBeingAskedEndsTheSession() throws InterruptedException {
        threads.start("reader", () -> Thread.currentThread().interrupt());

        main.await(LIMIT);
        assertThat(failures.hasAny()).isTrue();
        assertThat(failures.worst()).hasMessage("thread reader returned");
        assertThat(ends.troubles()).containsOnlyKeys("thread reader");
    }

    @Test
    void aThreadThatHasReportedAFailureMayEnd() throws InterruptedException {
        threads.start("sender", () -> failures.report(new IllegalStateException("reported")));

        main.await(LIMIT);
        threads.join();
        assertThat(failures.worst()).hasMessage("reported");
        assertThat(ends.troubles()).isEmpty();
    }

    @Test
    void anIndependentThreadIsStartedAgainWhileTheSessionGoesOn() throws InterruptedException {
        CountDownLatch second = new CountDownLatch(2);
        StopRequest never = new StopRequest();
        threads.startIndependent("housekeeping", () -> {
            second.countDown();
            if (second.getCount() > 0) {
                throw new IllegalStateException("first");
            }
            never.await(LIMIT);
        });

        assertThat(second.await(LIMIT.toSeconds(), TimeUnit.SECONDS)).isTrue();
        assertThat(failures.hasAny()).isFalse();
        assertThat(ends.troubles()).containsOnlyKeys("thread housekeeping");
    }

    @Test
    void aThreadThatWasAskedMayEnd() {
        threads.expectEnds();
        threads.start("reader", () -> {});

        threads.join();
        assertThat(failures.hasAny()).isFalse();
        assertThat(ends.troubles()).isEmpty();
    }
}
