package dev.twinbox.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.fixtures.RelayProcess;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** ACK-BEFORE-SEND: the position never runs ahead of the broker's acknowledgement. */
@Tag("proof")
class Scenario03AckBeforeSendIT {
    private static final Duration SOON = Duration.ofSeconds(90);
    private static final int EVENTS = 10;

    @AfterEach
    void kafkaIsBack() {
        RelayRig.KAFKA.resume();
        RelayRig.KAFKA.start();
    }

    @Test
    void whileKafkaIsDownNothingCountsAsSentAndLaterAllArrives() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(Map.of("twinbox.relay.lease", "PT2S"));
            RelayRig.KAFKA.stop();
            rig.insertAndCommit(EVENTS);

            awaitPollsWhileInFlight(relay);
            assertThat(rig.saves()).as("positions saved").isZero();
            assertKafkaIsTheCause(relay);
            relay.kill();
            relay.start();
            awaitPollsWhileInFlight(relay);
            assertThat(rig.saves()).as("positions saved").isZero();
            assertKafkaIsTheCause(relay);

            RelayRig.KAFKA.start();
            rig.assertExact();
            await("the position is saved").atMost(SOON).until(() -> rig.saves() > 0);
            relay.awaitReady();
        }
    }

    @Test
    void aBrokerThatTakesRecordsAndDoesNotAnswerHasNotAcknowledgedThem() throws Exception {
        try (RelayRig rig = RelayRig.create()) {
            RelayProcess relay = rig.startRelay(Map.of());
            rig.insertAndCommit(1);
            rig.assertExact();
            await("the position is saved").atMost(SOON).until(() -> rig.saves() > 0);
            long saves = rig.saves();

            RelayRig.KAFKA.pause();
            rig.insertAndCommit(EVENTS);
            awaitPollsWhileInFlight(relay);
            assertThat(rig.saves()).as("positions saved").isEqualTo(saves);

            RelayRig.KAFKA.resume();
            rig.assertExact();
            await("the position is saved").atMost(SOON).until(() -> rig.saves() > saves);
        }
    }

    /** The relay has read all events and has polled three more times, so it had time to save a position wrongly. */
    private static void awaitPollsWhileInFlight(RelayProcess relay) throws Exception {
        await("events in flight")
                .atMost(SOON)
                .ignoreExceptions()
                .until(() -> RelayMetrics.of(relay).value("twinbox_relay_in_flight") >= EVENTS);
        double polls = RelayMetrics.of(relay).value("twinbox_relay_polls_total");
        await("three more polls")
                .atMost(SOON)
                .until(() -> RelayMetrics.of(relay).value("twinbox_relay_polls_total") >= polls + 3);
    }

    private static void assertKafkaIsTheCause(RelayProcess relay) {
        await("not ready, and Kafka is the cause").atMost(SOON).untilAsserted(() -> {
            String ready = RelayMetrics.get(relay, "/health/ready").body();
            assertThat(ready).contains("\"name\":\"kafka\",\"status\":\"DOWN\"", "\"inFlight\":\"" + EVENTS + "\"");
        });
    }
}
