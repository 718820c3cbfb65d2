package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.StoppingHandler;
import dev.twinbox.inbox.server.PayaraHost;
import java.time.Duration;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Scenario 54, SHUTDOWN, the receiver's side: after SIGTERM the handler finishes, its offset is committed, and nothing
 * is lost.
 */
@Tag("proof")
class Scenario54ShutdownIT {

    private static final Duration LIMIT = Duration.ofSeconds(90);
    /** Payara Micro's last lines race with the end of its services, which then cannot format them. */
    private static final Pattern LOGGED_TOO_LATE = Pattern.compile(
            "java\\.util\\.logging\\.ErrorManager: 5: .*\\n.*ServiceLocatorImpl\\(.* has been shut down\\n(\\tat .*\\n)*");

    @Test
    void theRunningHandlerCommitsAndNothingIsRepeatedAfterTheNextStart() throws Exception {
        Database database = new Database("shutdown");
        Servers.kafka().createTopic("stopping", 1);
        String id = Topics.id();
        try (Topics topics = new Topics();
                PayaraHost payara = Servers.newPayara()) {
            payara.deploy("shutdown", app(database).build());
            int log;
            try (Database.Gate gate = database.shutGate(541)) {
                topics.send("stopping", id, "gate:541", 1);
                await().atMost(MainApp.LIMIT).until(() -> database.waiting(541) == 1);
                log = payara.log()
                        .length(); // while it joins its group, Kafka's client logs exceptions that are no failures
                payara.sendTerm();
                // The handler needs two more seconds. The server logs nothing more that could be waited for.
                await().atMost(MainApp.LIMIT)
                        .during(Duration.ofSeconds(2))
                        .until(() -> database.waiting(541) == 1 && payara.isAlive());
            }
            payara.awaitEnd(LIMIT);

            assertThat(database.effects("stopping")).containsExactly(id);
            assertThat(topics.lag("shutdown", "stopping")).isZero();
            assertThat(topics.members("shutdown")).isZero();
            assertThat(LOGGED_TOO_LATE.matcher(payara.log().substring(log)).replaceAll(""))
                    .doesNotContain("Exception", "SEVERE", "\tat ");

            String next = Topics.id();
            topics.send("stopping", next);
            MainApp.deploy(app(database));
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(
                            () -> assertThat(database.effects("stopping")).containsExactly(id, next));
            assertThat(database.calls("stopping", id)).isEqualTo(1);
        } finally {
            Servers.payara().undeploy("shutdown");
        }
    }

    private static TestApp app(Database database) {
        return new TestApp("shutdown", database.name()).with(StoppingHandler.class);
    }
}
