package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.SlowHandler;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

@Tag("proof")
class TimeLimitIT {

    private static final String APP = "limited";

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        topics = new Topics();
        Servers.kafka().createTopic("slow", 1);
        MainApp.deploy(
                new TestApp(APP, database.name()).with(SlowHandler.class).with("twinbox.inbox.batch.max-time", "PT1S"));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @Test
    void aBatchThatTakesTooLongCommitsWhatItHasAndLeavesTheRest() {
        String first = Topics.id();
        String second = Topics.id();
        String third = Topics.id();
        try (Database.Gate gate = database.shutGate(81)) {
            topics.add("slow", first, "gate:81", 10);
            topics.add("slow", second, "", 0);
            topics.add("slow", third, "", 0);
            topics.flush();
            // batch.max-time is one second
            await().atMost(MainApp.LIMIT)
                    .until(() -> database.count(
                                    "call where event_id = ? and at < clock_timestamp() - interval '1.2 seconds'",
                                    first)
                            == 1);
            assertThat(database.count("inbox_event where event_id = ?", second)).isZero();
        }
        MainApp.awaitLagZero(APP, "slow");

        // The handler of lists gets the events that were handled in its transaction, once at the end. If the machine
        // stands still for a second, the second batch may be split too.
        List<String> batches = database.effects("SlowHandler.onBatch");
        assertThat(batches).first().isEqualTo(first);
        assertThat(String.join(" ", batches)).isEqualTo(first + " " + second + " " + third);
        assertThat(database.effects("SlowHandler.onOrder")).containsExactly(first, second, third);
        for (String id : new String[] {first, second, third}) {
            assertThat(database.calls("SlowHandler.onOrder", id)).isEqualTo(1);
            assertThat(database.count("inbox_event where event_id = ?", id)).isEqualTo(2);
        }
    }
}
