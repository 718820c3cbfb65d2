package dev.twinbox.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class RunsTest {

    @Test
    void theMedianIsThatOfTheSidesOwnRuns() {
        Runs runs = new Runs();
        runs.add("one", 1, 100, Duration.ofSeconds(1));
        runs.add("other", 1, 100, Duration.ofMillis(1));
        runs.add("one", 2, 100, Duration.ofSeconds(10));
        runs.add("one", 3, 100, Duration.ofSeconds(2));

        assertThat(runs.median("one")).isEqualTo(50);
        assertThat(runs.median("other")).isEqualTo(100_000);
    }

    @Test
    void ratiosAreThoseOfTheRunsOfOneRound() {
        Runs runs = new Runs();
        runs.add("one", 1, 100, Duration.ofSeconds(1));
        runs.add("other", 1, 100, Duration.ofSeconds(2));
        runs.add("one", 2, 100, Duration.ofSeconds(10));
        runs.add("other", 2, 100, Duration.ofSeconds(10));
        runs.add("one", 3, 100, Duration.ofSeconds(2));
        runs.add("other", 3, 100, Duration.ofSeconds(3));

        assertThat(runs.ratios("one", "other")).containsExactly(2.0, 1.0, 1.5);
        assertThat(runs.medianRatio("one", "other")).isEqualTo(1.5);
    }
}
