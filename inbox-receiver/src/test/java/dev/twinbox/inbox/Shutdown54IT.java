package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.StoppingHandler;
import dev.twinbox.inbox.server.PayaraHost;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** Scenario 54, SHUTDOWN, the receiver's side: SIGTERM lets the handler finish, commits its offset, and loses nothing. */
class Shutdown54IT {

    private static final Duration LIMIT = Duration.ofSeconds(40);

    @Test
    void theRunningHandlerCommitsAndNothingIsRepeatedAfterTheStart() throws Exception {
        Database database = new Database("shutdown");
        Servers.kafka().createTopic("stopping", 1);
        try (Topics topics = new Topics();
                PayaraHost payara = Servers.newPayara()) {
            TestApp app = new TestApp("shutdown", database.name()).with(StoppingHandler.class);
            payara.deploy("shutdown", app.build());
            String id = Topics.id();
            try (Database.Gate gate = database.shutGate(541)) {
                topics.send("stopping", id, "gate:541", 1);
                await().atMost(MainApp.LIMIT).until(() -> database.waiting(541) == 1);
                payara.sendTerm();
                // The handler has two seconds of work left; the server logs nothing any more that could be waited for.
                await().atMost(MainApp.LIMIT).during(Duration.ofSeconds(2)).until(() -> database.waiting(541) == 1);
            }
            payara.awaitEnd(LIMIT);

            assertThat(database.effects("stopping")).containsExactly(id);
            assertThat(topics.lag("shutdown", "stopping")).isZero();
            assertThat(topics.members("shutdown")).isZero();
        }
    }
}
