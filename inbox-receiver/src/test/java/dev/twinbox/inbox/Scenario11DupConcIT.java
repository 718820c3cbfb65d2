package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.ConcurrentHandler;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Scenario 11, DUP-CONC: two instances of an application get one event at the same time. */
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class Scenario11DupConcIT {

    private static final String HANDLER = "concurrent";

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deployTwo() {
        database = new Database("conc");
        topics = new Topics();
        Servers.kafka().createTopic("conc", 2);
        deploy("conc-a");
        deploy("conc-b");
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.owners("conc", "conc")).hasSize(2));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy("conc-a");
        Servers.payara().undeploy("conc-b");
        topics.close();
    }

    private static void deploy(String name) {
        MainApp.deploy(new TestApp(name, database.name())
                .with("twinbox.inbox.group", "conc")
                .with(ConcurrentHandler.class));
    }

    @Test
    @Order(1)
    void theSecondWaitsForTheFirstAndSkips() {
        String id = Topics.id();
        long duplicates = duplicates();
        try (Database.Gate gate = database.shutGate(111)) {
            sendToBoth(id, "gate:111", 1);
            awaitOneInHandlerAndOneAtItsClaim(111);
        }
        awaitLagZero();

        assertThat(database.effects(HANDLER)).containsOnlyOnce(id);
        assertThat(database.calls(HANDLER, id)).isEqualTo(1);
        assertThat(duplicates() - duplicates).isEqualTo(1);
    }

    @Test
    @Order(2)
    void whenTheFirstRollsBackTheSecondRuns() {
        // The first one's retry may now and then be quicker than the waiting claim, but not each time.
        int rounds = 0;
        while (instancesCalledAfterARollback() < 2) {
            assertThat(++rounds).as("rounds in which the second did nothing").isLessThan(10);
        }
    }

    private static int instancesCalledAfterARollback() {
        String id = Topics.id();
        try (Database.Gate gate = database.shutGate(112)) {
            sendToBoth(id, "gate-then-throw:112", 1);
            awaitOneInHandlerAndOneAtItsClaim(112);
        }
        awaitLagZero();

        assertThat(database.effects(HANDLER)).containsOnlyOnce(id);
        assertThat(database.count("inbox_event where event_id = ?", id)).isEqualTo(1);
        assertThat(database.calls(HANDLER, id)).isEqualTo(2);
        return database.texts("select distinct instance from call where event_id = ?", id)
                .size();
    }

    @Test
    @Order(3)
    void aRebalanceWaitsForTheHandlerAndRepeatsNothing() {
        Servers.payara().undeploy("conc-b");
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.owners("conc", "conc")).hasSize(1));
        String[] ids = {Topics.id(), Topics.id()};
        try (Database.Gate gate = database.shutGate(113)) {
            topics.send("conc", 0, ids[0], "order", Topics.order(ids[0], "gate:113", 1));
            topics.send("conc", 1, ids[1], "order", Topics.order(ids[1], "gate:113", 1));
            await().atMost(MainApp.LIMIT).until(() -> database.waiting(113) == 2);
            String log = Servers.payara()
                    .deploy(
                            "conc-b",
                            new TestApp("conc-b", database.name())
                                    .with("twinbox.inbox.group", "conc")
                                    .with(ConcurrentHandler.class)
                                    .build());
            assertThat(log).contains("Receiver starts");
            // The new member has asked to join. The old one is still running its handlers.
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(() -> assertThat(topics.members("conc")).isEqualTo(2));
            assertThat(database.waiting(113)).isEqualTo(2);
        }
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.owners("conc", "conc")).hasSize(2));
        awaitLagZero();

        for (String id : ids) {
            assertThat(database.effects(HANDLER)).containsOnlyOnce(id);
            assertThat(database.calls(HANDLER, id)).isEqualTo(1);
        }
    }

    private static void sendToBoth(String id, String action, int times) {
        topics.send("conc", 0, id, "order", Topics.order(id, action, times));
        topics.send("conc", 1, id, "order", Topics.order(id, action, times));
    }

    private static void awaitOneInHandlerAndOneAtItsClaim(int gate) {
        await().atMost(MainApp.LIMIT)
                .until(() -> database.waiting(gate) == 1
                        && database.count("pg_stat_activity where datname = 'conc' and wait_event_type = 'Lock' "
                                        + "and query like '-- inbox: claim%'")
                                == 1);
    }

    private static void awaitLagZero() {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.lag("conc", "conc")).isZero());
    }

    private static long duplicates() {
        return MainApp.status("conc-a", "duplicates") + MainApp.status("conc-b", "duplicates");
    }
}
