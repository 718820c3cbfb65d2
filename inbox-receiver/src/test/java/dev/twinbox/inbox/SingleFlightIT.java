package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.CustomerLookup;
import dev.twinbox.inbox.app.LookingUpHandlers;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Handlers on several lanes look one customer up at a remote service. */
@Tag("proof")
class SingleFlightIT {

    private static final String TOPIC = "looking-up";
    private static final int EVENTS = 16;

    private static CustomerService service;
    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        service = new CustomerService();
        database = new Database("looking_up");
        topics = new Topics();
        Servers.kafka().createTopic(TOPIC, 1);
        MainApp.deploy(new TestApp(TOPIC, database.name())
                .withCaffeine()
                .with("twinbox.inbox.lanes", "4")
                .with("twinbox.inbox.workers", "4")
                .with("test.customers", service.address().toString())
                .with(CustomerLookup.class, LookingUpHandlers.class));
    }

    @AfterAll
    static void undeploy() {
        service.close();
        Servers.payara().undeploy(TOPIC);
        topics.close();
    }

    @Test
    void severalLanesMakeOneCall() {
        service.shut();
        int before = service.calls();

        String[] ids = send("customer-42");
        awaitHandlers(ids);
        await().atMost(MainApp.LIMIT).until(() -> service.calls() == before + 1);
        service.open();

        awaitEffects(ids);
        assertThat(service.calls()).isEqualTo(before + 1);
    }

    /** Each event that waited has failed. It is tried again as after any exception. */
    @Test
    void aFailureIsThatOfAllWhoWaitAndTheirEventsAreTriedAgain() {
        service.shut();
        service.answerWith(503);
        int before = service.calls();

        String[] ids = send("customer-43");
        awaitHandlers(ids);
        await().atMost(MainApp.LIMIT).until(() -> service.calls() == before + 1);
        service.open();
        await().atMost(MainApp.LIMIT).until(() -> service.calls() > before + 1);
        assertThat(effects(ids)).isZero();
        service.answerWith(200);

        awaitEffects(ids);
    }

    private static String[] send(String customer) {
        String[] ids = Stream.generate(Topics::id).limit(EVENTS).toArray(String[]::new);
        for (int i = 0; i < EVENTS; i++) {
            topics.add(TOPIC, "key-" + i, ids[i], customer, 0);
        }
        topics.flush();
        return ids;
    }

    /** Waits until several lanes are in the handler. */
    private static void awaitHandlers(String... ids) {
        await().atMost(MainApp.LIMIT).until(() -> database.count("call where event_id = any (?)", (Object) ids) >= 3);
    }

    private static void awaitEffects(String... ids) {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(effects(ids)).isEqualTo(EVENTS));
    }

    private static long effects(String... ids) {
        return database.count("effect where event_id = any (?)", (Object) ids);
    }
}
