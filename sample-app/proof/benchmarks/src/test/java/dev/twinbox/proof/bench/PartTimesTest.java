package dev.twinbox.proof.bench;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.offset;

import java.util.Map;
import java.util.TreeMap;
import org.junit.jupiter.api.Test;

class PartTimesTest {

    @Test
    void onlyPagesSinceTheEarlierLookCount() {
        PartTimes before = times(10, 10, 10, 5);
        PartTimes after = times(10, 50, 110, 6);

        PartTimes between = after.since(before);

        assertThat(between.pages()).isEqualTo(100);
        assertThat(between.meanMillis()).isCloseTo(10, offset(1e-9));
        // Forty pages took one to two milliseconds, sixty longer.
        assertThat(between.millis(20)).isCloseTo(1.5, offset(1e-9));
        assertThat(between.millis(40)).isCloseTo(2, offset(1e-9));
        assertThat(between.millis(99)).as("a time beyond the last limit").isCloseTo(2, offset(1e-9));
    }

    @Test
    void timesBelowTheFirstLimitAreSpreadFromZero() {
        assertThat(times(10, 10, 10, 1).millis(50)).isCloseTo(0.5, offset(1e-9));
    }

    private static PartTimes times(double upToOne, double upToTwo, double all, double seconds) {
        return new PartTimes(
                "read",
                new TreeMap<>(Map.of(1e-3, upToOne, 2e-3, upToTwo, Double.POSITIVE_INFINITY, all)),
                seconds,
                all);
    }
}
