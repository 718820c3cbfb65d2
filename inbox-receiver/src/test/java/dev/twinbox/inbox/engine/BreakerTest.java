package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Breaker.Outcome.FAILED;
import static dev.twinbox.inbox.engine.Breaker.Outcome.OTHER;
import static dev.twinbox.inbox.engine.Breaker.Outcome.SUCCEEDED;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.engine.Breaker.State;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
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

    /** They are calls that did not fail by what is away. */
    @Test
    void otherFailuresKeepItClosed() {
        ended(5, OTHER);
        ended(19, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.CLOSED);
        ended(1, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.OPEN);
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
            Breaker.Probe probe = breaker.takeProbe(now);
            if (probe != null) {
                breaker.ended(probe, i % 2 == 0 ? FAILED : OTHER, now);
                seconds.add(i);
            }
            pass("PT1S");
        }

        assertThat(seconds).containsExactly(1, 3, 7, 15, 31, 61, 91);
    }

    @Test
    void aProbeThatSucceedsClosesItAndTheFailuresAreForgotten() {
        open();
        pass("PT1S");
        breaker.ended(taken(), SUCCEEDED, now);

        ended(19, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.CLOSED);
        ended(1, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.OPEN);
    }

    private Breaker.Probe taken() {
        Breaker.Probe probe = breaker.takeProbe(now);
        assertThat(probe).isNotNull();
        return Objects.requireNonNull(probe);
    }

    /** However long it takes. */
    @Test
    void fault117TheNextProbeWaitsForTheEndOfTheLastOne() {
        open();
        pass("PT1S");
        Breaker.Probe first = taken();
        pass("PT5M");
        assertThat(breaker.takeProbe(now)).isNull();

        breaker.ended(first, OTHER, now);
        pass("PT1.9S");
        assertThat(breaker.takeProbe(now)).isNull();
        pass("PT0.1S");
        assertThat(breaker.takeProbe(now)).isNotNull();
    }

    /** Of a thread that hung and comes back, for example. */
    @Test
    void fault117TheSecondEndOfAProbeDoesNotCount() {
        open();
        pass("PT1S");
        Breaker.Probe first = taken();
        breaker.ended(first, OTHER, now);
        breaker.ended(first, SUCCEEDED, now);
        assertThat(breaker.state(now)).isEqualTo(State.OPEN);

        pass("PT2S");
        taken();
        breaker.ended(first, OTHER, now);
        pass("PT1M");
        assertThat(breaker.takeProbe(now)).isNull();
    }

    /** It began before, so it says nothing about now, and does not keep the next one waiting. */
    @Test
    void fault117AProbeThatHangsSinceTheBreakerWasOpenBeforeDoesNotCount() {
        open();
        pass("PT9M");
        Breaker.Probe old = taken();
        pass("PT1M");
        assertThat(breaker.state(now)).isEqualTo(State.WORN_OUT);
        ended(1, SUCCEEDED);
        ended(19, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.OPEN);
        breaker.ended(old, SUCCEEDED, now);
        assertThat(breaker.state(now)).isEqualTo(State.OPEN);

        pass("PT1S");
        taken();
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
        assertThat(breaker.takeProbe(now)).isNull();
        ended(100, FAILED);
        ended(1, OTHER);
        assertThat(breaker.state(now)).isEqualTo(State.WORN_OUT);

        ended(1, SUCCEEDED);
        assertThat(breaker.state(now)).isEqualTo(State.CLOSED);
        ended(20, FAILED);
        assertThat(breaker.state(now)).isEqualTo(State.OPEN);
    }
}
