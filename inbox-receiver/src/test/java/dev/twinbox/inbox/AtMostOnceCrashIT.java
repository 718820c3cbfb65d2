package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.CrashHandlers;
import dev.twinbox.inbox.server.PayaraHost;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A server is killed while handlers of all three delivery contracts handle the same event. */
@Tag("proof")
class AtMostOnceCrashIT {

    @Test
    void theEventIsLostForAtMostOnceOnlyAndTheNextInstanceHasThePartition() {
        Database database = new Database("crash");
        Servers.kafka().createTopic("crash", 1);
        String id = Topics.id();
        try (Topics topics = new Topics()) {
            try (PayaraHost payara = Servers.newPayara();
                    Database.Gate gate = database.shutGate(91)) {
                payara.deploy("crash", app(database).build());
                topics.send("crash", id, "gate:91", 1);
                await().atMost(MainApp.LIMIT).until(() -> database.waiting(91) == 2);
                payara.close();
            }
            Servers.payara().deploy("crash", app(database).build());
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(
                            () -> assertThat(database.effects("crash-once")).containsExactly(id));
            String next = Topics.id();
            topics.send("crash", next);
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(() ->
                            assertThat(database.effects("crash-at-most-once")).contains(next));

            assertThat(database.effects("crash-at-most-once")).containsExactly(next);
            assertThat(database.calls("crash-at-most-once", id)).isEqualTo(1);
            assertThat(database.calls("crash-once", id)).isEqualTo(2);
        } finally {
            Servers.payara().undeploy("crash");
        }
    }

    private static TestApp app(Database database) {
        return new TestApp("crash", database.name()).with(CrashHandlers.class);
    }
}
