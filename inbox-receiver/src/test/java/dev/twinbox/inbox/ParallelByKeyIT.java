package dev.twinbox.inbox;

import static dev.twinbox.inbox.ParallelApp.LIMIT;
import static dev.twinbox.inbox.ParallelApp.MOVING;
import static dev.twinbox.inbox.ParallelApp.awaitLagZero;
import static dev.twinbox.inbox.ParallelApp.awaitOwners;
import static dev.twinbox.inbox.ParallelApp.database;
import static dev.twinbox.inbox.ParallelApp.topics;
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
 * Several lanes of a partition at the same time: each key stays in order and every effect happens once, whatever fails.
 * {@link RebalanceStormIT} does it for minutes, with servers that are paused and killed.
 */
@Tag("proof")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class ParallelByKeyIT {

    private static final String APP = ParallelApp.GROUP;
    private static final String SECOND = "parallel-b";

    @BeforeAll
    static void deploy() {
        MainApp.deploy(ParallelApp.instance(APP));
        MainApp.deploy(ParallelApp.instance(SECOND));
        awaitOwners(2);
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        Servers.payara().undeploy(SECOND);
    }

    @Test
    @Order(1)
    void theOrderOfAKeyIsKeptThroughRepetitionsIsolationAndParking() {
        Sent sent = new Sent("parallel");
        for (int i = 0; i < 300; i++) {
            String key = "f" + i % 15;
            // One failure: the batch is repeated event by event. Three failures: the event is parked, and later events
            // of its key after it.
            String action = i % 47 == 5 ? "runtime" : "";
            topics().add(APP, key, sent.next(key), action, i % 2 == 0 ? 1 : 3);
        }
        topics().flush();
        awaitLagZero(APP);
        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(database().count("inbox_parked")).isZero());

        assertThat(MainApp.status(APP, "parked") + MainApp.status(SECOND, "parked"))
                .isPositive();
        sent.assertExact();
    }

    @Test
    @Order(2)
    void aRebalanceInTheMiddleLosesRepeatsAndReordersNothing() {
        Sent sent = new Sent(MOVING);
        try (Load load = new Load(sent)) {
            load.awaitStarted();
            ParallelApp.passThrough();
            awaitOwners(2);
        }
        awaitLagZero(MOVING);

        sent.assertExact();
        ParallelApp.assertAtLeastOnceInOrder(sent);
    }
}
