package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Events are refused while others are unsent. The last line of the status said that nothing is stuck. */
@Tag("proof")
class Fault62StatusOfRefusedIT {

    @Test
    void refusedEventsAreNamedWhileOthersAreUnsent() throws Exception {
        RelayRig.KAFKA.start();
        try (RelayRig rig = RelayRig.create()) {
            rig.execute("insert into outbox_lease (relay, owner, epoch, ends_at, system_identifier, events)"
                    + " select 'relay', gen_random_uuid(), 1, clock_timestamp() + interval '1 hour', system_identifier,"
                    + " 'public.outbox_event' from pg_control_system()");
            rig.execute("insert into outbox_parked (relay, state, error, seq, id, topic, key, type)"
                    + " values ('relay', 'refused', 'too large', 1, gen_random_uuid(), 'small', 'k', 't')");
            rig.insertAndCommit(5);
            String status = rig.command(Map.of(), "status");
            assertThat(status.lines().filter(line -> line.startsWith("stuck")))
                    .singleElement()
                    .satisfies(
                            line -> assertThat(line).contains("refused events wait for an operator", "/health/ready"));
            rig.execute("delete from outbox_parked");
            assertThat(rig.command(Map.of(), "status")).containsPattern("stuck +no; if \"unsent\" does not shrink");
        }
    }
}
