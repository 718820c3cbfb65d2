package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The time from commit to acknowledgement counts from the commit, not from the insert, and not from the first look. */
@Tag("proof")
class DeliveryTimesIT {
    private static final Duration SOON = Duration.ofSeconds(60);
    private static final Duration OPEN = Duration.ofSeconds(3);
    private static final String METRIC = "twinbox_relay_commit_to_acknowledgement_seconds";

    @ParameterizedTest
    @ValueSource(strings = {"at-least-once", "exactly-once"})
    void aTransactionThatStaysOpenIsNotCountedAsWaiting(String delivery) throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            Map<String, String> config =
                    Map.of("twinbox.relay.delivery", delivery, "twinbox.relay.name", rig.database());
            if (delivery.equals("exactly-once")) {
                rig.command(config, "migrate");
            } else {
                rig.insertAndCommit(1); // before the first look: nobody knows for how long
            }
            RelayProcess relay = rig.startRelay(config);
            await("first look")
                    .atMost(SOON)
                    .until(() -> value(relay, "twinbox_relay_polls_total") > 2
                            && value(relay, "twinbox_relay_in_flight") == 0);
            assertThat(value(relay, METRIC + "_count")).isZero();

            try (Connection connection = rig.connect()) {
                connection.setAutoCommit(false);
                rig.insert(connection, "k");
                long began = System.nanoTime();
                await("an open transaction").atMost(SOON).until(() -> System.nanoTime() - began > OPEN.toNanos());
                connection.commit();
            }
            await("second").atMost(SOON).until(() -> value(relay, METRIC + "_count") == 1);
            assertThat(value(relay, METRIC + "_sum"))
                    .as("seconds from the commit to the acknowledgement")
                    .isGreaterThan(0)
                    .isLessThan(OPEN.toMillis() / 1e3);
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    @Test
    void anOutageOfKafkaIsInTheTimes() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(Map.of());
            rig.insertAndCommit(1);
            await("first").atMost(SOON).until(() -> value(relay, "twinbox_relay_acknowledged_total") == 1);
            double before = value(relay, METRIC + "_sum");
            double count = value(relay, METRIC + "_count");

            RelayRig.KAFKA.pause();
            try {
                rig.insertAndCommit(1);
                long began = System.nanoTime();
                await("an outage").atMost(SOON).until(() -> System.nanoTime() - began > OPEN.toNanos());
            } finally {
                RelayRig.KAFKA.resume();
            }
            await("second").atMost(SOON).until(() -> value(relay, METRIC + "_count") == count + 1);
            assertThat(value(relay, METRIC + "_sum") - before).isGreaterThan(OPEN.toMillis() / 1e3);
            assertThat(relay.terminate()).as(relay.log()).isZero();
        }
    }

    private static double value(RelayProcess relay, String metric) throws Exception {
        return RelayMetrics.of(relay).value(metric);
    }
}
