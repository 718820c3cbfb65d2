package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A deferred constraint trigger raises an error at commit, and the pooled connection is broken afterwards. The
 * transaction that parks the event was always the one that got this connection, so nothing was parked and the handler
 * was called for ever.
 */
@Tag("proof")
class Fault02DeferredTriggerIT {

    @BeforeEach
    void createTrigger() {
        ParkingApp.clean();
        ParkingApp.database().execute("""
                create function refuse_at_commit() returns trigger language plpgsql as
                $$ begin raise exception 'refused at commit'; end $$""");
        ParkingApp.database().execute("""
                create constraint trigger refuse after insert on effect deferrable initially deferred
                for each row when (new.handler = 'parking' and new.event_id like 'deferred-%')
                execute function refuse_at_commit()""");
    }

    @AfterEach
    void dropTrigger() {
        ParkingApp.database().execute("drop trigger refuse on effect");
        ParkingApp.database().execute("drop function refuse_at_commit");
    }

    @Test
    void itIsParkedAfterItsQuickTriesAndAllOthersGoOn() {
        String refused = "deferred-" + Topics.id();
        String[] ids = ParkingApp.ids(4);
        ParkingApp.topics().add(ParkingApp.APP, "d", refused, "", 0);
        ParkingApp.topics().add(ParkingApp.APP, "d", ids[0], "", 0);
        ParkingApp.topics().add(ParkingApp.APP, "e", ids[1], "", 0);
        ParkingApp.topics().add(ParkingApp.APP, ids[2], "", 0);
        ParkingApp.topics().add(ParkingApp.APP, "f", ids[3], "", 0);
        ParkingApp.topics().flush();

        ParkingApp.awaitLagZero();
        assertThat(ParkingApp.effects()).contains(ids[1], ids[2], ids[3]).doesNotContain(ids[0], refused);
        // Once in the batch, then the two quick tries.
        assertThat(ParkingApp.database()
                        .count(
                                "call c join inbox_parked p using (event_id) where c.handler = 'parking' "
                                        + "and c.event_id = ? and c.at <= p.parked_at",
                                refused))
                .isEqualTo(3);

        ParkingApp.awaitState(refused, "dead");
        assertThat(ParkingApp.error(refused)).isNotBlank();
        assertThat(ParkingApp.database().calls("parking", refused)).isEqualTo(1 + ParkingApp.ATTEMPTS);
        assertThat(ParkingApp.database().texts("select event_id from inbox_parked where state = 'behind'"))
                .isEqualTo(List.of(ids[0]));
    }
}
