package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.config.ExitCode;
import dev.twinbox.relay.jdbc.ParkedState;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

/** ORDER-RETRY: no later event of its key overtakes an event that fails, and other keys are not delayed. */
class Scenario16OrderRetryIT {

    @Test
    void anEventThatFailsForAWhileIsNotOvertakenAndOtherKeysAreNotHeldUp() throws Exception {
        try (EngineRig rig = EngineRig.create().withTopic();
                Connection connection = rig.connect();
                BrokenProducer broken = new BrokenProducer(
                        BrokenProducer.Fault.FAILURE, record -> payload(record).equals("K1 01"))) {
            rig.between = broken;
            for (int i = 0; i < 10; i++) {
                for (String key : List.of("K1", "K2", "K3")) {
                    rig.insert(connection, key, key + " %02d".formatted(i));
                }
            }
            EngineRig.Running first = rig.start();
            await("K2 and K3")
                    .until(() -> rig.payloadsOf("K2").contains("K2 09")
                            && rig.payloadsOf("K3").contains("K3 09"));
            assertThat(first.stop()).isEqualTo(ExitCode.OK);
            for (int i = 10; i < 15; i++) {
                rig.insert(connection, "K1", "K1 %02d".formatted(i));
            }
            rig.start();
            rig.insert(connection, "K2", "K2 10");
            await().until(() -> rig.payloadsOf("K2").contains("K2 10"));
            assertThat(rig.payloadsOf("K1")).containsOnly("K1 00");
            assertThat(broken.faults()).isGreaterThan(1);

            broken.mend();
            rig.awaitNothingParked();
            rig.assertExact(); // first appearances of each key in order
            assertThat(rig.number("select count(*) from outbox_event")).isEqualTo(36);
        }
    }

    /**
     * Compression hides the size of an event, so the relay cannot find out before sending that the broker refuses it.
     * The first batch of a producer is the dangerous one. The broker knows no sequence number of this producer yet, and
     * would accept the second batch after it has refused the first.
     */
    @Test
    void anEventThatTheBrokerRefusesIsNotOvertakenByWhatWasSentWithIt() throws Exception {
        for (int round = 0; round < 3; round++) {
            try (EngineRig rig = EngineRig.create().withTopic(Map.of("max.message.bytes", "5000"));
                    Connection connection = rig.connect()) {
                rig.kafka.put("batch.size", "1"); // one batch per record
                connection.setAutoCommit(false);
                rig.insert(connection, "k", Scenario24TooLargeIT.incompressible(20_000));
                for (int i = 0; i < 20; i++) {
                    rig.insert(connection, "k", "behind " + i);
                }
                rig.insert(connection, "another", "passes");
                connection.commit();
                rig.start();
                rig.awaitParked(ParkedState.REFUSED, 1);
                rig.awaitParked(ParkedState.BEHIND, 20);
                await().until(() -> rig.payloadsOf("another").contains("passes"));
                assertThat(rig.payloadsOf("k")).isEmpty();
            }
        }
    }

    private static String payload(ProducerRecord<byte[], byte[]> record) {
        return record.value() == null ? "" : new String(record.value(), StandardCharsets.UTF_8);
    }
}
