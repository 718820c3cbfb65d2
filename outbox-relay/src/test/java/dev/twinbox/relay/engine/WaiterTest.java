package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertTimeoutPreemptively;

import dev.twinbox.relay.config.RelayConfig;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

@Timeout(20)
class WaiterTest {

    @Test
    void itWaitsLongerEachTimeUpToTheLimitAndBrieflyAgainAfterAReset() throws InterruptedException {
        Waiter waiter = new Waiter(new RelayConfig.Idle(Duration.ofMillis(20), Duration.ofMillis(80)));
        for (int millis : new int[] {20, 40, 80, 80}) {
            assertThat(elapsed(waiter)).isGreaterThanOrEqualTo(Duration.ofMillis(millis));
        }
        waiter.reset();
        assertThat(elapsed(waiter)).isGreaterThanOrEqualTo(Duration.ofMillis(20));
        assertThat(elapsed(waiter)).isGreaterThanOrEqualTo(Duration.ofMillis(20));
    }

    @Test
    void theFirstWaitAfterABriefResetIsAFourthOfTheOthers() throws InterruptedException {
        Waiter waiter = new Waiter(new RelayConfig.Idle(Duration.ofSeconds(2), Duration.ofSeconds(2)));
        waiter.resetBriefly();
        assertThat(elapsed(waiter)).isBetween(Duration.ofMillis(500), Duration.ofMillis(1_900));
        assertThat(elapsed(waiter)).isGreaterThanOrEqualTo(Duration.ofSeconds(2));
    }

    @Test
    void theWaitsStayShortForAWhileBehindAReset() throws InterruptedException {
        Duration max = Duration.ofHours(1);
        Waiter waiter = new Waiter(new RelayConfig.Idle(Duration.ofMillis(1), max));
        waiter.reset();
        assertTimeoutPreemptively(Duration.ofMinutes(2), () -> {
            for (int i = 0; i < 20; i++) { // doubling would take 17 minutes
                waiter.await();
            }
        });
    }

    @Test
    void longAfterAResetTheyGrowAgain() throws InterruptedException {
        Waiter waiter = new Waiter(new RelayConfig.Idle(Duration.ofMillis(1), Duration.ofMillis(200)));
        waiter.reset();
        await().pollInterval(Duration.ZERO)
                .pollInSameThread()
                .until(() -> elapsed(waiter).compareTo(Duration.ofMillis(200)) >= 0);
    }

    @Test
    void aWakeInAdvanceEndsTheNextWaitAndOnlyThat() throws InterruptedException {
        Waiter waiter = new Waiter(new RelayConfig.Idle(Duration.ofMillis(1), Duration.ofMillis(1)));
        waiter.wake();
        waiter.wake();
        waiter.await(Duration.ofHours(1));
        long before = System.nanoTime();
        waiter.await(Duration.ofMillis(30));
        assertThat(System.nanoTime() - before).isGreaterThanOrEqualTo(30_000_000L);
    }

    @Test
    void anotherThreadEndsTheWait() throws InterruptedException {
        Waiter waiter = new Waiter(new RelayConfig.Idle(Duration.ofMillis(1), Duration.ofMillis(1)));
        Thread other = new Thread(waiter::wake);
        other.start();
        waiter.await(Duration.ofHours(1));
        other.join();
    }

    private static Duration elapsed(Waiter waiter) throws InterruptedException {
        long before = System.nanoTime();
        waiter.await();
        return Duration.ofNanos(System.nanoTime() - before);
    }
}
