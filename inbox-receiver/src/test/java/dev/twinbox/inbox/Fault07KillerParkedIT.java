package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A parked event ends the process each time, so no failure is ever stored. Its attempts were counted, but nobody
 * compared them with the limit.
 */
@Tag("proof")
class Fault07KillerParkedIT {

    @BeforeEach
    void clean() {
        ParkingApp.clean();
    }

    @Test
    void itIsGivenUpAtTheLimitWithoutAnotherCall() {
        String killer = Topics.id();
        ParkingApp.topics().add(ParkingApp.APP, "k", killer, "checked", ParkingApp.ALWAYS);
        ParkingApp.topics().flush();
        ParkingApp.awaitLagZero();
        ParkingApp.awaitState(killer, "dead");
        long calls = ParkingApp.database().calls("parking", killer);

        // The row as processes leave it that ended during an attempt.
        ParkingApp.database()
                .execute("update inbox_parked set state = 'retry', attempts = 5, next_try_at = clock_timestamp() "
                        + "where event_id = '" + killer + "'");
        ParkingApp.awaitState(killer, "dead");

        assertThat(ParkingApp.database().calls("parking", killer)).isEqualTo(calls);
        assertThat(ParkingApp.error(killer))
                .contains("the process ended during attempt 5", "twinbox.inbox.parked.attempts is 5");

        // A retry by an operator starts to count again.
        assertThat(ParkingApp.status("retry=" + ParkingApp.number(killer))).isEqualTo("true");
        ParkingApp.awaitState(killer, "dead");
        assertThat(ParkingApp.database().calls("parking", killer)).isEqualTo(calls + ParkingApp.ATTEMPTS);
    }
}
