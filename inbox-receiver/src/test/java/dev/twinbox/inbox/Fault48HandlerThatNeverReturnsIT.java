package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.HangingHandler;
import java.time.Duration;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A handler that never returns. The receiver had no limit of its own: the partition stood for ever, and rows that the
 * handler had locked stayed locked.
 */
@Tag("proof")
class Fault48HandlerThatNeverReturnsIT {

    private static final String APP = "hanging";
    private static final Duration LIMIT = Duration.ofSeconds(90);

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        topics = new Topics();
        Servers.kafka().createTopic(APP, 1);
        MainApp.deploy(new TestApp(APP, database.name())
                .with(HangingHandler.class)
                .with("twinbox.inbox.handler-timeout", "PT1S")
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.4S"));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().get("/" + APP + "/status?release=1");
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @Test
    void aHandlerThatTakesTooLongIsInterruptedAndItsEventParked() {
        long before = MainApp.status(APP, "timedOut");
        String slow = Topics.id();
        String other = Topics.id();
        topics.add(APP, "a", slow, "wait", 2);
        topics.add(APP, "b", other, "", 0);
        topics.flush();

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.effects(APP)).contains(slow, other));

        assertThat(database.effects(APP)).containsSubsequence(other, slow).containsOnlyOnce(slow);
        assertThat(database.calls(APP, slow)).isEqualTo(3);
        assertThat(MainApp.status(APP, "timedOut") - before).isEqualTo(2);
        assertThat(MainApp.status(APP, "hung")).isZero();
        assertThat(Servers.payara().log()).contains("took longer than PT1S");
    }

    @Test
    void aHandlerThatWaitsForTheDatabaseIsEndedThere() {
        String waiting = Topics.id();
        String other = Topics.id();
        try (Database.Gate gate = database.shutGate(481)) {
            topics.add(APP, "c", waiting, "gate:481", 1);
            topics.add(APP, "d", other, "", 0);
            topics.flush();
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects(APP)).contains(other, waiting));

            assertThat(database.waiting(481)).as("sessions that still wait").isZero();
            assertThat(database.calls(APP, waiting)).isEqualTo(2);
        }
        assertThat(database.effects(APP)).containsOnlyOnce(waiting);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(MainApp.status(APP, "hung")).isZero());
    }

    @Test
    void aHandlerThatNeverReturnsHoldsUpNothingAndIsCounted() {
        String hanging = Topics.id();
        String behind = Topics.id();
        String other = Topics.id();
        topics.add(APP, "e", hanging, "hang", 2);
        topics.add(APP, "e", behind, "", 0);
        topics.add(APP, "f", other, "", 0);
        topics.flush();

        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.effects(APP)).contains(other, hanging, behind));
        assertThat(database.effects(APP)).containsSubsequence(other, hanging, behind);
        assertThat(database.calls(APP, hanging)).isEqualTo(3);
        assertThat(MainApp.status(APP, "hung")).as("threads that hang").isEqualTo(2);
        assertThat(Servers.payara().log()).contains("has not returned");
        await("no handler keeps a session open")
                .atMost(LIMIT)
                .until(() -> database.count("pg_stat_activity where datname = ? and state like 'idle in%'", APP) == 0);

        Servers.payara().get("/" + APP + "/status?release=1");
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(MainApp.status(APP, "hung")).isZero());
        assertThat(database.effects(APP)).containsOnlyOnce(hanging).containsOnlyOnce(behind);
        MainApp.awaitNoTrouble(APP);
    }
}
