package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.DegradedAtMostOnceHandler;
import dev.twinbox.inbox.app.DegradedExactlyOnceHandler;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/**
 * Events are parked for a handler, and the handler becomes {@code AT_MOST_ONCE}. If the application has no handler of
 * another contract, nobody retried them or counted them. If it had one, they were dead for want of a handler.
 */
class Fault69ParkedForAtMostOnceIT {

    private static final String APP = "degraded";
    private static final Duration LIMIT = Duration.ofSeconds(60);

    private final Topics topics = new Topics();

    @AfterEach
    void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @Test
    void theyAreStillRetriedInOrder() {
        Database database = new Database(APP);
        database.execute("create table repaired (id int)");
        Topics.ensure(APP, 1);
        MainApp.deploy(app(database).with(DegradedExactlyOnceHandler.class));
        topics.add(APP, "key", "first", "repair", 1_000_000);
        topics.add(APP, "key", "second", "", 0);
        topics.flush();
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isEqualTo(2));
        Servers.payara().undeploy(APP);

        MainApp.deploy(app(database)
                .with(DegradedAtMostOnceHandler.class)
                .with("twinbox.inbox.start", "latest"));
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(MainApp.status(APP, "waiting")).as("waiting").isEqualTo(2));
        database.execute("insert into repaired values (1)");
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isZero());

        assertThat(database.effects(APP)).containsExactly("first", "second");
    }

    private static TestApp app(Database database) {
        return new TestApp(APP, database.name())
                .with("twinbox.inbox.quick-tries", "1")
                .with("twinbox.inbox.parked.attempts", "1000000")
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.4S");
    }
}
