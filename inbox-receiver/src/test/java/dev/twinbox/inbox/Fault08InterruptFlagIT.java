package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A handler restores the interrupt flag and throws, as handlers should. The thread that retried parked events ended for
 * ever, without a log line, and readiness stayed UP.
 */
class Fault08InterruptFlagIT {

    private static final Duration LIMIT = Duration.ofSeconds(40);

    @BeforeEach
    void clean() {
        ParkingApp.clean();
    }

    @Test
    void parkedEventsAreRetriedAfterAHandlerHasRestoredTheInterruptFlag() {
        String[] ids = ParkingApp.ids(3);
        int allButOne = ParkingApp.ATTEMPTS - 1;
        ParkingApp.topics().add(ParkingApp.APP, "i", ids[0], "interrupt", allButOne);
        ParkingApp.topics().add(ParkingApp.APP, "i", ids[1], "", 0);
        ParkingApp.topics().add(ParkingApp.APP, "j", ids[2], "interrupt", allButOne);
        ParkingApp.topics().flush();

        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(ParkingApp.effects()).contains(ids).containsSubsequence(ids[0], ids[1]));
        assertThat(ParkingApp.database().calls("parking", ids[0])).isEqualTo(ParkingApp.ATTEMPTS);
        ParkingApp.awaitNothingParked();
        MainApp.awaitNoTrouble(ParkingApp.APP);
    }
}
