package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.PassingHandler;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Scenario 52, UNDEPLOY: an application that goes leaves no thread, member, MBean or class loader, whatever it was doing. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class Undeploy52IT {

    private static final String HANDLER = "passing";
    private static final Duration UNDEPLOY_LIMIT = Duration.ofSeconds(30);
    private static final int ROUNDS = Integer.getInteger("twinbox.it.undeploy.rounds", 2);

    private static Database database;
    private static Topics topics;
    private static dev.twinbox.inbox.server.PayaraHost payara;

    @BeforeAll
    static void start() {
        database = new Database("passing");
        topics = new Topics();
        Servers.kafka().createTopic("passing", 2);
        payara = Servers.newPayara();
    }

    @AfterAll
    static void end() {
        payara.close();
        Servers.kafka().start();
        Servers.postgres().start();
        topics.close();
    }

    @Test
    @Order(1)
    void underLoadNothingIsLostRepeatedOrLeft() {
        long sent = 0;
        for (int round = 0; round < ROUNDS; round++) {
            deploy();
            topics.sendMany("passing", 0, 100);
            topics.sendMany("passing", 1, 100);
            sent += 200;
            // It is in the middle of them.
            long atLeast = sent - 150;
            await().atMost(MainApp.LIMIT).until(() -> database.count("effect") >= atLeast);
            undeploy();
            assertNothingIsLeft();
            assertThat(topics.members("passing")).isZero();
        }
        deploy();
        long all = sent;
        await().atMost(MainApp.LIMIT)
                .untilAsserted(
                        () -> assertThat(topics.lag("passing", "passing")).isZero());
        assertThat(database.count("effect")).isEqualTo(all);
        assertThat(database.texts("select count(distinct event_id) from effect"))
                .containsExactly(Long.toString(all));
        undeploy();
    }

    @Test
    @Order(2)
    void aHandlerInProgressFinishesAndItsOffsetIsCommitted() throws Exception {
        deploy();
        String id = Topics.id();
        Thread undeployment;
        try (Database.Gate gate = database.shutGate(521)) {
            topics.send("passing", id, "gate:521", 1);
            await().atMost(MainApp.LIMIT).until(() -> database.waiting(521) == 1);
            undeployment = new Thread(Undeploy52IT::undeploy);
            undeployment.start();
            // It is under way: the consumer is told to stop, and the handler is still there.
            assertThat(database.waiting(521)).isEqualTo(1);
        }
        undeployment.join();

        assertThat(database.effects(HANDLER)).containsOnlyOnce(id);
        assertThat(topics.lag("passing", "passing")).isZero();
        assertThat(topics.members("passing")).isZero();
        assertNothingIsLeft();
    }

    @Test
    @Order(3)
    void withKafkaDownItGoesAllTheSame() {
        deploy();
        Servers.kafka().stop();
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(payara.get("/passing/status"))
                        .contains("trouble kafka group passing=has no connection to a broker"));
        assertThat(payara.status("/health/ready")).isEqualTo(503);

        undeploy();

        assertNothingIsLeft();
        Servers.kafka().start();
    }

    /**
     * But two of five or more, which Payara itself keeps, as heap dumps show: the thread of its transaction recovery, started by
     * the first transaction of the server, has the class loader of the application of that transaction as its context; and the
     * timer that resizes connection pools still has the pool of the last application, with that one's driver.
     */
    @Test
    @Order(4)
    void noMoreClassLoadersAreLeftThanTheServerKeepsItself() {
        assertThat(Integer.parseInt(payara.command("loaders", "30"))).isLessThanOrEqualTo(2);
    }

    @Test
    @Order(5)
    void withTheDatabaseDownItGoesAllTheSame() {
        deploy();
        Servers.postgres().stop();
        topics.send("passing", Topics.id());
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(payara.get("/passing/status")).contains("trouble database="));

        undeploy();

        assertNothingIsLeft();
        Servers.postgres().start();
    }

    @Test
    @Order(6)
    void withKafkaAndDatabaseDownItCanBeDeployedAndWaits() {
        Servers.kafka().stop();
        Servers.postgres().stop();

        payara.deploy("passing", app().build());
        assertThat(payara.get("/passing/status")).contains("trouble database=");
        assertThat(payara.status("/health/ready")).isEqualTo(503);

        Servers.kafka().start();
        Servers.postgres().start();
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(payara.get("/passing/status")).doesNotContain("trouble"));
        String id = Topics.id();
        topics.send("passing", id);
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.effects(HANDLER)).containsOnlyOnce(id));
        undeploy();
    }

    private static TestApp app() {
        return new TestApp("passing", database.name())
                .with(PassingHandler.class)
                .with("twinbox.inbox.batch.size", "20")
                .with("twinbox.inbox.stop.timeout", "PT5S");
    }

    private static void deploy() {
        String log = payara.deploy("passing", app().build());
        assertThat(payara.status("/passing/status")).as(log).isEqualTo(200);
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(payara.get("/passing/status")).doesNotContain("trouble"));
    }

    private static void undeploy() {
        long begin = System.nanoTime();
        payara.undeploy("passing");
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(UNDEPLOY_LIMIT);
    }

    private static void assertNothingIsLeft() {
        assertThat(payara.command("threads")).isEmpty();
        assertThat(payara.command("mbeans")).isEmpty();
    }
}
