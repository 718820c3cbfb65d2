package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Scenario 27, ERRMSG: an event is parked whatever its handler throws. The error text is cleaned and shortened. */
@Tag("proof")
class Scenario27ErrMsgIT {

    @BeforeEach
    void clean() {
        ParkingApp.clean();
    }

    @Test
    void whateverIsThrownTheErrorFitsAndTheAttemptsAreRight() {
        String[] actions = {"long", "dirty", "null", "cycle", "hostile"};
        String[] ids = ParkingApp.ids(actions.length);
        for (int i = 0; i < actions.length; i++) {
            ParkingApp.topics().add(ParkingApp.APP, "errmsg-" + i, ids[i], actions[i], ParkingApp.ALWAYS);
        }
        String good = Topics.id();
        ParkingApp.topics().add(ParkingApp.APP, "errmsg", good, "", 0);
        ParkingApp.topics().flush();
        ParkingApp.awaitLagZero();
        assertThat(ParkingApp.effects()).contains(good);

        for (String id : ids) {
            ParkingApp.awaitState(id, "dead");
            assertThat(ParkingApp.database().texts("select attempts from inbox_parked where event_id = ?", id))
                    .containsExactly(Integer.toString(ParkingApp.ATTEMPTS));
        }
        assertThat(ParkingApp.error(ids[0]))
                .startsWith("java.lang.IllegalStateException: xxx")
                .endsWith("…")
                .hasSize(2000);
        assertThat(ParkingApp.error(ids[1])).isEqualTo("java.lang.IllegalStateException: a\ufffdb\ufffdc");
        assertThat(ParkingApp.error(ids[2])).isEqualTo("java.lang.IllegalStateException");
        assertThat(ParkingApp.error(ids[3]))
                .startsWith("java.lang.Exception: first <- java.lang.Exception: second <- ");
        assertThat(ParkingApp.error(ids[4]))
                .contains("Script$Hostile: its message cannot be read, java.lang.StackOverflowError");

        // An operator has discarded it: it counts as handled, also when it is redelivered.
        assertThat(ParkingApp.status("discard=" + ParkingApp.number(ids[0]))).isEqualTo("true");
        assertThat(ParkingApp.status("discard=0")).isEqualTo("false");
        long calls = ParkingApp.database().calls("parking", ids[0]);
        ParkingApp.topics().add(ParkingApp.APP, "errmsg-0", ids[0], "long", ParkingApp.ALWAYS);
        ParkingApp.topics().flush();
        ParkingApp.awaitLagZero();
        assertThat(ParkingApp.database().calls("parking", ids[0])).isEqualTo(calls);
        assertThat(ParkingApp.status("list="))
                .contains("DEAD " + ids[1] + " true")
                .doesNotContain(ids[0]);
    }
}
