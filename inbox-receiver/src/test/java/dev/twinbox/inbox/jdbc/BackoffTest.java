package dev.twinbox.inbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import org.junit.jupiter.api.Test;

class BackoffTest {

    private final Backoff backoff = new Backoff(Duration.ofMillis(100), Duration.ofSeconds(30));

    @Test
    void doublesUpToTheCap() {
        assertThat(backoff.after(1)).isEqualTo(Duration.ofMillis(100));
        assertThat(backoff.after(2)).isEqualTo(Duration.ofMillis(200));
        assertThat(backoff.after(9)).isEqualTo(Duration.ofMillis(25_600));
        assertThat(backoff.after(10)).isEqualTo(Duration.ofSeconds(30));
    }

    @Test
    void staysAtTheCapHoweverLongItLasts() {
        assertThat(backoff.after(Integer.MAX_VALUE)).isEqualTo(Duration.ofSeconds(30));
        assertThat(new Backoff(Duration.ofDays(1), Duration.ofDays(1)).after(1000))
                .isEqualTo(Duration.ofDays(1));
    }

    @Test
    void theShortestWaitWinsOverTheMaximum() {
        assertThat(Backoff.always(Duration.ofMinutes(5)).after(1)).isEqualTo(Duration.ofMinutes(5));
        assertThat(Backoff.always(Duration.ofMinutes(5)).after(1000)).isEqualTo(Duration.ofMinutes(5));
    }
}
