package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.fixtures.RelayProcess;
import java.sql.SQLException;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;

class RelayKilledIT {
    private static final int KILLS = 6;

    @Test
    void a_relay_killed_again_and_again_under_load_loses_nothing_and_keeps_the_order_of_each_key() throws SQLException {
        // Small pages, so that kills meet all stages of reading, sending and saving.
        Map<String, String> config = Map.of(
                "twinbox.relay.lease", "PT2S",
                "twinbox.relay.page.rows", "20");
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.relay(config).start();
            try (BusinessLoad load = BusinessLoad.start(rig, 4)) {
                for (int i = 0; i < KILLS; i++) {
                    rig.awaitRecords(
                            rig.recordCount() + ThreadLocalRandom.current().nextInt(1, 500));
                    relay.kill();
                    relay.start();
                }
                assertThat(load.commits()).isPositive();
            }
            rig.assertExact();
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }
}
