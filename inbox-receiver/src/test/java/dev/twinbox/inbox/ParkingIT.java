package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Guarantee G4: an event that cannot be handled is parked, in order, and does not delay other keys. */
class ParkingIT {

    @BeforeEach
    void clean() {
        ParkingApp.clean();
    }

    @Test
    void laterEventsOfItsKeyWaitBehindItInOrderAndAllOthersGoOn() {
        String[] ids = ParkingApp.ids(6);
        ParkingApp.topics().add(ParkingApp.APP, "a", ids[0], "repair", ParkingApp.ALWAYS);
        ParkingApp.topics().add(ParkingApp.APP, "b", ids[1], "", 0);
        ParkingApp.topics().add(ParkingApp.APP, "a", ids[2], "", 0);
        ParkingApp.topics().add(ParkingApp.APP, "a", ids[3], "", 0);
        ParkingApp.topics().add(ParkingApp.APP, ids[4], "", 0);
        ParkingApp.topics().flush();
        ParkingApp.awaitLagZero();
        ParkingApp.topics().add(ParkingApp.APP, "a", ids[5], "", 0);
        ParkingApp.topics().flush();
        ParkingApp.awaitLagZero();

        assertThat(ParkingApp.effects()).contains(ids[1], ids[4]).doesNotContain(ids[0], ids[2], ids[3], ids[5]);
        assertThat(ParkingApp.database().effects("healthy")).contains(ids);
        ParkingApp.awaitState(ids[0], "dead");
        assertThat(ParkingApp.database()
                        .texts("select event_id from inbox_parked where state = 'behind' order by number"))
                .containsExactly(ids[2], ids[3], ids[5]);
        // A redelivery in the meantime is left in its place.
        ParkingApp.topics().add(ParkingApp.APP, "a", ids[2], "", 0);
        ParkingApp.topics().flush();
        ParkingApp.awaitLagZero();
        assertThat(ParkingApp.database().count("inbox_parked")).isEqualTo(4);
        await().atMost(ParkingApp.LIMIT)
                .untilAsserted(() -> assertThat(Servers.payara().get("/health/ready"))
                        .startsWith("{\"status\":\"UP\"")
                        .contains("\"parked events dead\":\"1\"", "\"parked events waiting\":\"3\""));

        ParkingApp.database().execute("insert into repaired values (1)");
        assertThat(ParkingApp.status("retry=" + ParkingApp.number(ids[0]))).isEqualTo("true");
        ParkingApp.awaitNothingParked();

        assertThat(ParkingApp.effects())
                .containsSubsequence(ids[0], ids[2], ids[3], ids[5])
                .doesNotHaveDuplicates();
        assertThat(ParkingApp.database()
                        .count("inbox_event where handler = 'parking' and event_id = any (?)", (Object) ids))
                .isEqualTo(6);
    }

    @Test
    void aParkedEventThatSucceedsLaterIsFollowedByItsKeyWithoutAnybodysHelp() {
        String[] ids = ParkingApp.ids(3);
        ParkingApp.topics().add(ParkingApp.APP, "c", ids[0], "checked", ParkingApp.ATTEMPTS - 1);
        ParkingApp.topics().add(ParkingApp.APP, "c", ids[1], "", 0);
        ParkingApp.topics().add(ParkingApp.APP, "c", ids[2], "error", 3);
        ParkingApp.topics().flush();
        ParkingApp.awaitLagZero();
        ParkingApp.awaitNothingParked();

        assertThat(ParkingApp.effects()).containsSubsequence(ids).doesNotHaveDuplicates();
        // Once in the batch, then alone, then the attempts that are left after parking. The batch does not count as an
        // attempt.
        assertThat(ParkingApp.database().calls("parking", ids[0])).isEqualTo(ParkingApp.ATTEMPTS);
        assertThat(ParkingApp.database().calls("parking", ids[1])).isEqualTo(1);
    }

    @Test
    void faultsOfTheDatabaseUseUpNoAttempts() {
        String serialization = Topics.id();
        String deadlock = Topics.id();
        ParkingApp.topics()
                .add(
                        ParkingApp.APP,
                        "infra-1",
                        serialization,
                        "sql:do 'begin raise sqlstate $$40001$$; end'",
                        ParkingApp.ATTEMPTS + 2);
        ParkingApp.topics()
                .add(
                        ParkingApp.APP,
                        "infra-2",
                        deadlock,
                        "sql:do 'begin raise sqlstate $$40P01$$; end'",
                        ParkingApp.ATTEMPTS + 2);
        ParkingApp.topics().flush();
        ParkingApp.awaitLagZero();

        for (String id : List.of(serialization, deadlock)) {
            assertThat(ParkingApp.database().calls("parking", id))
                    .as("calls, more than failures are allowed")
                    .isGreaterThan(ParkingApp.ATTEMPTS);
        }
        assertThat(ParkingApp.effects()).containsOnlyOnce(serialization, deadlock);
        assertThat(ParkingApp.database().count("inbox_parked")).isZero();
    }
}
