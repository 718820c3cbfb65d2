package dev.twinbox.relay.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.LongRange;
import org.junit.jupiter.api.Test;

class EventTimeTest {
    private static final Instant EPOCH = Instant.parse("2000-01-01T00:00:00Z");

    private final EventTime eventTime = new EventTime();

    @Property
    void anyTimeOfFourDigitYearsSurvives(
            @ForAll @LongRange(min = -63_000_000_000_000_000L, max = 252_000_000_000_000_000L) long micros) {
        String text = text(micros);
        assertThat(text).hasSize(27).endsWith("Z");
        assertThat(Instant.parse(text)).isEqualTo(EPOCH.plus(micros, ChronoUnit.MICROS));
    }

    @Test
    void whatIsKeptFromOneRowDoesNotShowInTheNext() {
        assertThat(text(999_999)).isEqualTo("2000-01-01T00:00:00.999999Z");
        assertThat(text(1)).isEqualTo("2000-01-01T00:00:00.000001Z");
        assertThat(text(0)).isEqualTo("2000-01-01T00:00:00.000000Z");
        assertThat(text(-1)).isEqualTo("1999-12-31T23:59:59.999999Z");
    }

    @Test
    void infinityHasNoText() {
        assertThat(eventTime.rfc3339(Long.MAX_VALUE)).isNull();
        assertThat(eventTime.rfc3339(Long.MIN_VALUE)).isNull();
    }

    @Test
    void theFirstAndTheLastSecondOfFourDigitYearsAreWithinAndTheirNeighboursAreNot() {
        long first = 1_000_000 * ChronoUnit.SECONDS.between(EPOCH, Instant.parse("0000-01-01T00:00:00Z"));
        long last = 1_000_000 * ChronoUnit.SECONDS.between(EPOCH, Instant.parse("9999-12-31T23:59:59Z")) + 999_999;

        assertThat(text(first)).isEqualTo("0000-01-01T00:00:00.000000Z");
        assertThat(eventTime.rfc3339(first - 1)).isNull();
        assertThat(text(last)).isEqualTo("9999-12-31T23:59:59.999999Z");
        assertThat(eventTime.rfc3339(last + 1)).isNull();
    }

    private String text(long micros) {
        return new String(eventTime.rfc3339(micros), StandardCharsets.US_ASCII);
    }
}
