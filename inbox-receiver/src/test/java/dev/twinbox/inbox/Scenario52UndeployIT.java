package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/**
 * Scenario 52, UNDEPLOY: an undeployed application leaves no thread, member, MBean or class loader, whatever it was
 * doing. {@link Scenario52TwentyRedeploymentsIT} does it twenty times in a row.
 */
@Tag("proof")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class Scenario52UndeployIT {

    private static PassingApp app;

    @BeforeAll
    static void start() {
        app = new PassingApp();
    }

    @AfterAll
    static void end() {
        app.close();
    }

    @Test
    @Order(1)
    void underLoadNothingIsLostRepeatedOrLeft() {
        app.deploy();
        app.startWork();
        app.undeploy();
        app.assertNothingIsLeft();
        assertThat(app.topics.members(PassingApp.NAME)).isZero();
        app.assertEachEffectOnce();
    }

    @Test
    @Order(2)
    void aHandlerInProgressFinishesAndItsOffsetIsCommitted() throws Exception {
        app.deploy();
        String id = Topics.id();
        Thread undeployment;
        try (Database.Gate gate = app.database.shutGate(521)) {
            app.topics.send("passing", id, "gate:521", 1);
            await().atMost(MainApp.LIMIT).until(() -> app.database.waiting(521) == 1);
            int log = app.payara.log().length();
            undeployment = new Thread(app::undeploy);
            undeployment.start();
            await("the undeployment is in progress")
                    .atMost(MainApp.LIMIT)
                    .until(() -> app.payara.log().substring(log).contains("Receiver of group passing stops"));
            // The handler is still running.
            assertThat(app.database.waiting(521)).isEqualTo(1);
        }
        undeployment.join();

        assertThat(app.database.effects(PassingApp.NAME)).containsOnlyOnce(id);
        assertThat(app.topics.lag("passing", "passing")).isZero();
        assertThat(app.topics.members("passing")).isZero();
        app.assertNothingIsLeft();
    }

    @Test
    @Order(3)
    void withKafkaDownItGoesAllTheSame() {
        app.deploy();
        Servers.kafka().stop();
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(app.payara.get("/passing/status"))
                        .contains("trouble kafka group passing=has no connection to a broker"));
        assertThat(app.payara.status("/health/ready")).isEqualTo(503);

        app.undeploy();

        app.assertNothingIsLeft();
        Servers.kafka().start();
    }

    @Test
    @Order(4)
    void noMoreClassLoadersAreLeftThanTheServerKeepsItself() {
        app.assertNoClassLoadersAreLeft();
    }

    @Test
    @Order(5)
    void withTheDatabaseDownItGoesAllTheSame() {
        app.deploy();
        Servers.postgres().stop();
        app.topics.send("passing", Topics.id());
        await().atMost(MainApp.LIMIT)
                .untilAsserted(
                        () -> assertThat(app.payara.get("/passing/status")).contains("trouble database="));

        app.undeploy();

        app.assertNothingIsLeft();
        Servers.postgres().start();
    }

    @Test
    @Order(6)
    void withKafkaAndDatabaseDownItCanBeDeployedAndWaits() {
        Servers.kafka().stop();
        Servers.postgres().stop();

        app.payara.deploy("passing", app.app().build());
        assertThat(app.payara.get("/passing/status")).contains("trouble database=");
        assertThat(app.payara.status("/health/ready")).isEqualTo(503);

        Servers.kafka().start();
        Servers.postgres().start();
        await().atMost(MainApp.LIMIT)
                .untilAsserted(
                        () -> assertThat(app.payara.get("/passing/status")).doesNotContain("trouble"));
        String id = Topics.id();
        app.topics.send("passing", id);
        await().atMost(MainApp.LIMIT)
                .untilAsserted(
                        () -> assertThat(app.database.effects(PassingApp.NAME)).containsOnlyOnce(id));
        app.undeploy();
    }
}
