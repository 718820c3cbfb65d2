package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.PausableHandlers;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.server.PayaraHost;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * An operator pauses a topic and a handler of an application with two instances. One is killed meanwhile. On real servers.
 */
@Tag("proof")
class PausedIT {

    private static final String APP = "paused";
    private static final String HELD = "paused-held";
    private static final String PARKED = "paused-parked";
    private static final int KEYS = 10;
    private static final int ROUNDS = 8;
    private static final Duration LIMIT = Duration.ofSeconds(150);

    private static final PausedTable PAUSED = PausedTable.of(new SqlIdentifier(null, "inbox_event"));

    private final Database database = new Database(APP);
    private final List<List<String>> idsOfKeys = new ArrayList<>();

    @Test
    void itIsObeyedAtOnceSurvivesAKillAndEventsFollowInOrder() throws SQLException {
        Servers.kafka().createTopic(HELD, 2);
        Servers.kafka().createTopic(PARKED, 2);
        for (int key = 0; key < KEYS; key++) {
            idsOfKeys.add(new ArrayList<>());
        }
        TestApp app =
                new TestApp(APP, database.name()).with(PausableHandlers.class).with("twinbox.inbox.batch.size", "10");
        try (Topics topics = new Topics();
                PayaraHost victim = Servers.newPayara()) {
            MainApp.deploy(app);
            victim.deploy(APP, app.build());
            await().atMost(LIMIT).until(() -> victim.status("/" + APP + "/status") == 200);
            for (int round = 0; round < 2; round++) {
                sendOneOfEachKey(topics);
            }
            awaitCalls("held", 2 * KEYS);
            awaitCalls("parked", 2 * KEYS);

            pauseWhileEventsCome(topics);
            assertObeyedWithinSeconds("held", PausedTable.Kind.TOPIC, HELD);
            assertObeyedWithinSeconds("parked", PausedTable.Kind.HANDLER, "parked");
            long called = database.count("call where handler in ('held', 'parked')");
            victim.close();
            sendOneOfEachKey(topics);

            int sent = idsOfKeys.get(0).size() * KEYS;
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("steady")).hasSize(sent));
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(topics.lag(APP, PARKED)).isZero());
            MainApp.awaitNoTrouble(APP);
            assertThat(database.count("call where handler in ('held', 'parked')"))
                    .isEqualTo(called);
            assertThat(topics.lag(APP, HELD)).isPositive();
            assertThat(database.count(
                            "inbox_parked where handler = 'parked' and attempts = 0 and error like 'paused: %'"))
                    .isEqualTo(sent - database.effects("parked").size());

            Servers.payara().undeploy(APP);
            MainApp.deploy(app);
            awaitStatus("pausedTopics", 1);
            sendOneOfEachKey(topics);
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("steady")).hasSize(sent + KEYS));
            assertThat(database.count("call where handler in ('held', 'parked')"))
                    .isEqualTo(called);
            assertThat(Servers.payara().get("/" + APP + "/status"))
                    .contains("pausedHandlers=1", "note pause of topic " + HELD + "=is paused by an operator since ")
                    .contains("until \"twinbox-inbox-cli.jar resume --handler parked\"")
                    .doesNotContain("trouble");
            assertThat(Servers.payara().get("/health/ready")).startsWith("{\"status\":\"UP\"");

            resume(PausedTable.Kind.TOPIC, HELD);
            resume(PausedTable.Kind.HANDLER, "parked");
            sendOneOfEachKey(topics);
            for (String handler : List.of("held", "parked", "steady")) {
                await().atMost(LIMIT)
                        .untilAsserted(
                                () -> assertThat(database.effects(handler)).hasSize(sent + 2 * KEYS));
                for (List<String> ids : idsOfKeys) {
                    assertThat(database.effects(handler))
                            .containsSubsequence(ids)
                            .doesNotHaveDuplicates();
                }
            }
            assertThat(database.count("inbox_parked")).isZero();
            awaitStatus("pausedTopics", 0);
        } finally {
            Servers.payara().undeploy(APP);
        }
    }

    /** Both instances are busy when they learn of it. */
    private void pauseWhileEventsCome(Topics topics) throws SQLException {
        for (int round = 0; round < ROUNDS; round++) {
            if (round == 1) {
                pause(PausedTable.Kind.TOPIC, HELD);
                pause(PausedTable.Kind.HANDLER, "parked");
            }
            sendOneOfEachKey(topics);
        }
        awaitStatus("pausedTopics", 1);
        awaitStatus("pausedHandlers", 1);
        int sent = idsOfKeys.get(0).size() * KEYS;
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.effects("steady")).hasSize(sent));
    }

    /** By the database's clock. A second is promised; the machine of the test may stand still meanwhile. */
    private void assertObeyedWithinSeconds(String handler, PausedTable.Kind kind, String name) {
        assertThat(database.texts(
                        "select call.at - p.since from call, inbox_paused p where handler = ? and what = ? and name = ? "
                                + "and call.at > p.since + interval '3 seconds'",
                        handler,
                        kind.text(),
                        name))
                .isEmpty();
    }

    private void awaitCalls(String handler, int calls) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.effects(handler)).hasSize(calls));
    }

    private static void awaitStatus(String name, int value) {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(MainApp.status(APP, name)).isEqualTo(value));
    }

    /** To both topics. */
    private void sendOneOfEachKey(Topics topics) {
        for (int key = 0; key < KEYS; key++) {
            String id = Topics.id();
            idsOfKeys.get(key).add(id);
            topics.add(HELD, key % 2, "key-" + key, id, "", 0);
            topics.add(PARKED, key % 2, "key-" + key, id, "", 0);
        }
        topics.flush();
    }

    private void pause(PausedTable.Kind kind, String name) throws SQLException {
        try (Connection connection = database.connect()) {
            PAUSED.pause(connection, APP, kind, name);
        }
    }

    private void resume(PausedTable.Kind kind, String name) throws SQLException {
        try (Connection connection = database.connect()) {
            PAUSED.resume(connection, null, kind, name);
        }
    }
}
