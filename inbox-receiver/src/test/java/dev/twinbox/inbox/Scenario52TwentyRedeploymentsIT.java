package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.time.Duration;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Scenario 52, UNDEPLOY, twenty times in a row. */
@Tag("proof")
class Scenario52TwentyRedeploymentsIT {

    private static final int ROUNDS = 20;

    /** The group removes a member that could not leave after its session timeout. */
    private static final Duration FORGOTTEN = Duration.ofMinutes(2);

    @Test
    void underLoadWithKafkaOrTheDatabaseDeadNowAndThenNothingIsLeftLostOrRepeated() {
        try (PassingApp app = new PassingApp()) {
            for (int round = 1; round <= ROUNDS; round++) {
                app.deploy();
                app.startWork();
                switch (round % 10) {
                    case 3 -> undeployWithoutKafka(app);
                    case 7 -> undeployWithoutDatabase(app);
                    default -> {
                        app.undeploy();
                        app.assertNothingIsLeft();
                        assertThat(app.topics.members(PassingApp.NAME)).isZero();
                    }
                }
                System.out.println("round " + round + " of " + ROUNDS + ": nothing left");
            }
            app.assertEachEffectOnce();
            app.assertNothingIsLeft();
            app.assertNoClassLoadersAreLeft();
        }
    }

    private static void undeployWithoutKafka(PassingApp app) {
        Servers.kafka().kill();
        app.undeploy();
        app.assertNothingIsLeft();
        Servers.kafka().start();
        await().atMost(FORGOTTEN)
                .ignoreExceptions()
                .untilAsserted(
                        () -> assertThat(app.topics.members(PassingApp.NAME)).isZero());
    }

    private static void undeployWithoutDatabase(PassingApp app) {
        Servers.postgres().kill();
        app.undeploy();
        app.assertNothingIsLeft();
        assertThat(app.topics.members(PassingApp.NAME)).isZero();
        Servers.postgres().start();
    }
}
