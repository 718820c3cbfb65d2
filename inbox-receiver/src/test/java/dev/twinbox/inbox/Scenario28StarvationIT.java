package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.stream.IntStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Scenario 28, STARVATION: events that always fail, and dead ones, do not delay other events. */
class Scenario28StarvationIT {

    @BeforeEach
    void clean() {
        ParkingApp.clean();
    }

    @Test
    void goodEventsGetTheirTurnBehindManyThatFail() {
        String[] bad = ParkingApp.ids(25);
        String[] good = ParkingApp.ids(5);
        IntStream.range(0, bad.length)
                .forEach(
                        i -> ParkingApp.topics().add(ParkingApp.APP, "bad-" + i, bad[i], "runtime", ParkingApp.ALWAYS));
        IntStream.range(0, good.length)
                .forEach(i -> ParkingApp.topics().add(ParkingApp.APP, "good-" + i, good[i], "", 0));
        ParkingApp.topics().flush();
        ParkingApp.awaitLagZero();

        assertThat(ParkingApp.effects()).contains(good);
        assertThat(ParkingApp.database().count("inbox_parked")).isEqualTo(bad.length);
        // Dead events do not delay those that are due either.
        await().atMost(ParkingApp.LIMIT)
                .untilAsserted(() -> assertThat(ParkingApp.database().count("inbox_parked where state = 'dead'"))
                        .isEqualTo(bad.length));
        String late = Topics.id();
        ParkingApp.topics().add(ParkingApp.APP, "late", late, "checked", 3);
        ParkingApp.topics().flush();
        await().atMost(ParkingApp.LIMIT)
                .untilAsserted(() -> assertThat(ParkingApp.effects()).containsOnlyOnce(late));
    }
}
