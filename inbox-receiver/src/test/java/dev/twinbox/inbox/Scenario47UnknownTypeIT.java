package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.KnownTypeHandler;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Scenario 47, UNKNOWN-TYPE: events of unknown types are skipped, counted, and logged once per type. An event that
 * cannot be read is parked with the reason.
 *
 * <p>{@link Scenario46ClassRenameIT} tests that unknown types can also be parked, and handled once there is a handler.
 */
@Tag("proof")
class Scenario47UnknownTypeIT {

    private static final String APP = "unknowing";

    @Test
    void unknownTypesAreSkippedCountedAndNamedOnceAndAMissingTypeIsParked() {
        Database database = new Database(APP);
        Servers.kafka().createTopic(APP, 1);
        try (Topics topics = new Topics()) {
            MainApp.deploy(new TestApp(APP, database.name()).with(KnownTypeHandler.class));
            for (int i = 0; i < 3; i++) {
                send(topics, "somebody.elses");
                send(topics, "order.v9");
            }
            String untyped = send(topics, null);
            String known = send(topics, "order.v1");
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(() -> assertThat(topics.lag(APP, APP)).isZero());

            assertThat(database.effects(APP)).containsExactly(known);
            assertThat(database.texts("select event_id from inbox_event")).containsExactly(known);
            assertThat(MainApp.status(APP, "skipped")).isEqualTo(6);
            for (String type : new String[] {"somebody.elses", "order.v9"}) {
                assertThat(Servers.payara().log())
                        .containsOnlyOnce("No handler takes events of type " + type + " on topic unknowing");
            }
            assertThat(database.texts(
                            "select state || ' ' || error from inbox_parked "
                                    + "where convert_from(record_value, 'UTF8') like ?",
                            "%" + untyped + "%"))
                    .singleElement()
                    .satisfies(text -> assertThat(text).startsWith("dead ").contains("header ce_type is missing"));
            assertThat(database.count("inbox_parked")).isEqualTo(1);
        } finally {
            Servers.payara().undeploy(APP);
        }
    }

    private static String send(Topics topics, String type) {
        String id = Topics.id();
        topics.send(APP, 0, id, type, Topics.order(id, "", 0));
        return id;
    }
}
