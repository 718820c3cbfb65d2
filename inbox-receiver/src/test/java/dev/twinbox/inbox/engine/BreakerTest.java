package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Breaker.Outcome.FAILED;
import static dev.twinbox.inbox.engine.Breaker.Outcome.SUCCEEDED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.engine.Breaker.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class BreakerTest {

    private final Breaker breaker = new Breaker();
    private long now = Duration.ofHours(-1).toNanos(); // System.nanoTime may be negative

    private void ended(int calls, Breaker.Outcome outcome) {
        for (int i = 0; i < calls; i++) {
            breaker.ended(outcome, now);
        }
    }

    private void pass(String time) {
        now += Duration.parse(time).toNanos();
    }

    private void open() {
        ended(20, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.OPEN);
    }

    @ParameterizedTest
    @CsvSource({"0, 19, CLOSED", "0, 20, OPEN", "4, 16, OPEN", "5, 15, CLOSED", "5, 20, OPEN", "100, 399, CLOSED"})
    void itOpensAtTwentyCallsOfWhichEightyPercentFail(int succeeded, int failed, State expected) {
        ended(succeeded, SUCCEEDED);
        ended(failed, FAILED);

        assertThat(breaker.state(now)).isEqualTo(expected);
    }

    @Test
    void onlyTheCallsOfTheLastTenSecondsCount() {
        ended(10, FAILED);
        pass("PT3S");
        ended(9, FAILED);
        pass("PT12S");
        ended(1, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.CLOSED);

        pass("PT9S");
        ended(18, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.CLOSED);
        ended(1, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.OPEN);
    }

    @Test
    void probesBecomeRarerUpToHalfAMinute() {
        open();
        List<Integer> seconds = new ArrayList<>();
        for (int i = 0; i <= 100; i++) {
            if (breaker.takeProbe(now)) {
                breaker.probeFailed();
                seconds.add(i);
            }
            pass("PT1S");
        }

        assertThat(seconds).containsExactly(1, 2, 4, 8, 16, 32, 62, 92);
    }

    @Test
    void aProbeThatSucceedsClosesItAndTheFailuresAreForgotten() {
        open();
        pass("PT1S");
        assertThat(breaker.takeProbe(now)).isTrue();

        assertThat(breaker.probeSucceeded()).isTrue();
        assertThat(breaker.probeSucceeded()).isFalse();
        ended(19, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.CLOSED);
        ended(1, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.OPEN);
    }

    /** It began before the breaker was open. */
    @Test
    void aCallThatSucceedsWhileItIsOpenDoesNotCloseIt() {
        open();
        ended(1, SUCCEEDED);

        assertThat(breaker.state(now)).isEqualTo(State.OPEN);
    }

    @Test
    void afterTenMinutesItIsWornOutUntilACallSucceeds() {
        open();
        pass("PT9M59S");
        assertThat(breaker.state(now)).isEqualTo(State.OPEN);
        pass("PT1S");
        assertThat(breaker.state(now)).isEqualTo(State.WORN_OUT);
        assertThat(breaker.takeProbe(now)).isFalse();
        ended(100, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.WORN_OUT);

        ended(1, SUCCEEDED);
        assertThat(breaker.state(now)).isEqualTo(State.CLOSED);
        ended(20, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.OPEN);
    }
}
