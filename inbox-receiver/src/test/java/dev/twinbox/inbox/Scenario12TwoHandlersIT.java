package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.OtherGroup;
import org.junit.jupiter.api.Test;

/** Scenario 12, TWO-HANDLERS: each handler of an event has its own effect and its own retries. */
class Scenario12TwoHandlersIT {

    private final Database database = MainApp.database();
    private final Topics topics = MainApp.topics();

    @Test
    void everyHandlerOfEveryGroupHasExactlyOneEffect() {
        MainApp.deploy(new TestApp("other", database.name()).with(OtherGroup.class));
        try {
            String id = Topics.id();

            topics.send("two", id, "runtime", 2);
            MainApp.awaitLagZero(MainApp.GROUP, "two");
            MainApp.awaitLagZero("other", "two");

            for (String handler : new String[] {"H1", "H2", "H3", "H4", "other H1"}) {
                assertThat(database.effects(handler)).as(handler).containsOnlyOnce(id);
            }
            assertThat(database.count("inbox_event where event_id = ?", id)).isEqualTo(5);
            // Once in the batch that H2 failed, and once alone. Not again for H2's second failure.
            assertThat(database.calls("H1", id)).isEqualTo(2);
            assertThat(database.calls("H2", id)).isEqualTo(3);
            assertThat(database.calls("H3", id)).isEqualTo(1);
            assertThat(database.calls("H4", id)).isEqualTo(1);
        } finally {
            Servers.payara().undeploy("other");
        }
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.members("other")).isZero());
    }
}
