package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.GuardedHandlers;
import java.sql.Connection;
import java.time.Duration;
import java.util.List;
import org.awaitility.core.ConditionTimeoutException;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.MethodOrderer;
import org.junit.jupiter.api.Order;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestMethodOrder;

/** Attacks on guarded handlers. Each asserts what the docs promise; what is red fell. */
@Tag("proof")
@TestMethodOrder(MethodOrderer.OrderAnnotation.class)
class HuntMGuardIT {

    private static final String TOPIC = "guarded";
    private static final String APP = "huntm-guard";

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deployOne() {
        database = new Database("huntm_guard");
        topics = new Topics();
        Servers.kafka().createTopic(TOPIC, 1);
        MainApp.deploy(new TestApp(APP, database.name())
                .with("twinbox.inbox.group", TOPIC)
                .with("twinbox.inbox.parked.retry.max", "PT1S")
                .with(GuardedHandlers.class));
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.owners(TOPIC, TOPIC)).hasSize(1));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    // "If the locks do not work, handlers go on without them." The table is locked: VACUUM FULL, or DDL that waits.
    @Test
    @Order(1)
    void g01_theTableOfLocksIsLocked() throws Exception {
        String first = Topics.id();
        topics.send(TOPIC, 0, first, "order", Topics.order(first, "", 0));
        await().atMost(MainApp.LIMIT).until(() -> database.calls("guarded", first) == 1);
        int logBefore = Servers.payara().log().length();
        String id = Topics.id();
        boolean isHandled;
        try (Connection operator = database.connect()) {
            operator.setAutoCommit(false);
            operator.createStatement().execute("lock table inbox_lock in access exclusive mode");
            topics.send(TOPIC, 0, id, "order", Topics.order(id, "", 0));
            try {
                await().atMost(Duration.ofSeconds(60)).until(() -> database.calls("guarded", id) == 1);
                isHandled = true;
            } catch (ConditionTimeoutException e) {
                isHandled = false;
            }
            say("G01", "handled within 60 s: " + isHandled + "; status "
                    + Servers.payara().get("/" + APP + "/status") + "; log since "
                    + Servers.payara().log().substring(logBefore));
        }
        await().atMost(MainApp.LIMIT).until(() -> database.calls("guarded", id) == 1);
        assertThat(isHandled).isTrue();
    }

    // "A guard keeps its calls apart." A parked event is tried again, and is delivered again meanwhile.
    @Test
    @Order(2)
    void g02_aRetryAndARedelivery() {
        String id = Topics.id();
        topics.send(TOPIC, 0, id, "note", Topics.order(id, "gate-then-throw:322", 1_000));
        await().atMost(MainApp.LIMIT).until(() -> !parked(id).isEmpty());
        long atOnce;
        try (Database.Gate gate = database.shutGate(322)) {
            await().atMost(MainApp.LIMIT).until(() -> database.waiting(322) == 1);
            topics.send(TOPIC, 0, id, "note", Topics.order(id, "gate-then-throw:322", 1_000));
            try {
                await().atMost(Duration.ofSeconds(15)).until(() -> database.waiting(322) > 1);
            } catch (ConditionTimeoutException e) {
                say("G02", "no second call within 15 s");
            }
            atOnce = database.waiting(322);
            say("G02", "calls at once " + atOnce + ", parked " + parked(id));
        }
        assertThat(atOnce).isEqualTo(1);
    }

    private static List<String> parked(String id) {
        return database.texts("select event_id || ' attempts ' || attempts from inbox_parked where event_id = '" + id + "'");
    }

    private static void say(String attack, Object what) {
        System.out.println("HUNTM " + attack + ": " + String.valueOf(what).replace('\n', ' '));
    }
}
