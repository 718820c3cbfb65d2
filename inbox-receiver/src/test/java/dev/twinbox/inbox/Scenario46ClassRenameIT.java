package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.AliasedHandlers;
import dev.twinbox.inbox.app.RenamedHandlers;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Scenario 46, CLASS-RENAME: events under the name of a removed class cause one clear error each. They are handled when
 * the new type has the old name as an alias.
 */
@Tag("proof")
class Scenario46ClassRenameIT {

    private static final String APP = "renamed";

    @Test
    void withoutAnAliasEachEventIsParkedWithAReasonAndWithOneEachIsHandled() {
        Database database = new Database(APP);
        Servers.kafka().createTopic(APP, 1);
        List<String> ids = new ArrayList<>();
        try (Topics topics = new Topics()) {
            MainApp.deploy(app(database).with(RenamedHandlers.class));
            for (int i = 0; i < 10; i++) {
                ids.add(send(topics, "a.b.Old"));
            }
            String renamed = send(topics, "order.placed");
            awaitLagZero(topics);

            assertThat(database.effects(APP)).containsExactly(renamed);
            assertThat(database.texts("select state || ' ' || event_type || ' ' || error from inbox_parked"))
                    .hasSize(ids.size())
                    .allSatisfy(text -> assertThat(text)
                            .startsWith("dead a.b.Old ")
                            .contains("no handler takes its type a.b.Old: add a handler, or an alias to one"));
            List<String> parked = database.texts("select number from inbox_parked order by number");

            Servers.payara().undeploy(APP);
            MainApp.deploy(app(database).with(AliasedHandlers.class));
            parked.forEach(number -> assertThat(Servers.payara().get("/renamed/status?retry=" + number))
                    .startsWith("true"));
            String late = send(topics, "a.b.Old");
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(
                            () -> assertThat(database.count("inbox_parked")).isZero());
            awaitLagZero(topics);

            assertThat(database.effects(APP))
                    .contains(renamed, late)
                    .containsAll(ids)
                    .hasSize(ids.size() + 2);
        } finally {
            Servers.payara().undeploy(APP);
        }
    }

    private static TestApp app(Database database) {
        return new TestApp(APP, database.name()).with("twinbox.inbox.unknown-type", "park");
    }

    private static String send(Topics topics, String type) {
        String id = Topics.id();
        topics.send(APP, 0, id, type, Topics.order(id, "", 0));
        return id;
    }

    private static void awaitLagZero(Topics topics) {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(APP, APP)).isZero());
    }
}
