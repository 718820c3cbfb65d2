package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.Test;

/** A paused broker keeps its connections. Only the missing heartbeats show that it does not answer. */
class BrokerPausedIT {

    private final Topics topics = MainApp.topics();

    @Test
    void readinessSaysSoAndTheReceiverGoesOnByItself() {
        MainApp.awaitNoTrouble("main");
        Servers.kafka().pause();
        try {
            // Other applications on this server may have noticed it before.
            await("readiness is down")
                    .atMost(MainApp.LIMIT)
                    .untilAsserted(() -> assertThat(Servers.payara().get("/health/ready"))
                            .contains("twinbox-inbox", "kafka group " + MainApp.GROUP, "no heartbeat answered"));
            assertThat(Servers.payara().status("/health/ready")).isEqualTo(503);
        } finally {
            Servers.kafka().resume();
        }
        topics.sendMany("ejb", 0, 10);
        MainApp.awaitLagZero(MainApp.GROUP, "ejb");
        MainApp.awaitNoTrouble("main");
    }
}
