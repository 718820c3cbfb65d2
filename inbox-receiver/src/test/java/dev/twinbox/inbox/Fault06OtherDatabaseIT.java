package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A handler uses another database, which fails again and again. The failure was taken for one of the application's own
 * database, so the partition waited for ever.
 */
@Tag("proof")
class Fault06OtherDatabaseIT {

    @BeforeEach
    void clean() {
        ParkingApp.clean();
    }

    @ParameterizedTest
    @ValueSource(strings = {"08006", "57P01", "25006", "53300", "40003"})
    void itCountsAsAnAttemptBecauseTheOwnDatabaseWorks(String state) {
        String broken = Topics.id();
        String other = Topics.id();
        ParkingApp.topics().add(ParkingApp.APP, "a", broken, "state:" + state, ParkingApp.ALWAYS);
        ParkingApp.topics().add(ParkingApp.APP, "b", other, "", 0);
        ParkingApp.topics().flush();

        ParkingApp.awaitLagZero();
        assertThat(ParkingApp.effects()).contains(other);
        ParkingApp.awaitState(broken, "dead");
        assertThat(ParkingApp.error(broken)).contains("another database failed");
        // Once in the batch, which does not count.
        assertThat(ParkingApp.database().calls("parking", broken)).isEqualTo(1 + ParkingApp.ATTEMPTS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"40001", "40P01"})
    void aConflictIsNeverCountedButDoesNotHoldUpThePartition(String state) {
        int conflicts = 8 + 4 * ParkingApp.ATTEMPTS;
        String loser = Topics.id();
        String behind = Topics.id();
        String other = Topics.id();
        ParkingApp.topics().add(ParkingApp.APP, "a", loser, "state:" + state, conflicts);
        ParkingApp.topics().add(ParkingApp.APP, "a", behind, "", 0);
        ParkingApp.topics().add(ParkingApp.APP, "b", other, "", 0);
        ParkingApp.topics().flush();

        ParkingApp.awaitLagZero();
        ParkingApp.awaitNothingParked();

        assertThat(ParkingApp.effects())
                .containsSubsequence(other, loser, behind)
                .doesNotHaveDuplicates();
        assertThat(ParkingApp.database().calls("parking", loser)).isEqualTo(conflicts + 1);
    }

    @Test
    void aParkedEventWhoseOtherDatabaseFailsDoesNotDelayOtherParkedEvents() {
        String[] ids = ParkingApp.ids(3);
        ParkingApp.topics().add(ParkingApp.APP, "a", ids[0], "state:08006", ParkingApp.ALWAYS);
        ParkingApp.topics().add(ParkingApp.APP, "b", ids[1], "state:40001", ParkingApp.ALWAYS);
        ParkingApp.topics().add(ParkingApp.APP, "c", ids[2], "checked", ParkingApp.ATTEMPTS - 1);
        ParkingApp.topics().flush();

        ParkingApp.awaitLagZero();
        ParkingApp.awaitState(ids[0], "dead");
        ParkingApp.awaitState(ids[1], "retry");
        await().atMost(ParkingApp.LIMIT)
                .untilAsserted(() -> assertThat(ParkingApp.effects()).contains(ids[2]));
        assertThat(Servers.payara().get("/parking/status")).doesNotContain("trouble");
    }
}
