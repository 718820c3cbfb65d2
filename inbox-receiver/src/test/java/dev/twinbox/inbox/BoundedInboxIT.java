package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.BoundedHandlers;
import dev.twinbox.inbox.app.LongTopicHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** The inbox keeps the row of an event as long as its topic may redeliver it, and no longer. */
@Tag("proof")
class BoundedInboxIT {

    private static final String APP = "bounded";

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        topics = new Topics();
        Servers.kafka().createTopic(APP, 1, Map.of("retention.ms", "1000", "segment.ms", "500"));
        MainApp.deploy(new TestApp(APP, database.name())
                .with(BoundedHandlers.class)
                .with("twinbox.inbox.quick-tries", "1")
                .with("twinbox.inbox.parked.attempts", "1")
                .with("twinbox.inbox.retention", "PT2S"));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @Test
    void aRowGoesWhenItsRetentionIsOverAndWhatComesAfterThatIsAppliedAgain() {
        String id = Topics.id();
        topics.send(APP, id);
        MainApp.awaitLagZero(APP, APP);

        awaitForgotten(id);
        assertThat(MainApp.status(APP, "expired")).isPositive();

        topics.send(APP, id);
        MainApp.awaitLagZero(APP, APP);
        assertThat(database.effects(APP)).filteredOn(id::equals).hasSize(2);
    }

    @Test
    void anEventThatOneInstanceParkedAndAnotherHandledIsNeverAppliedAgain() {
        String id = Topics.id();
        topics.send(APP, id, "runtime", 2);
        MainApp.awaitLagZero(APP, APP);
        assertThat(database.texts("select state from inbox_parked where event_id = ?", id))
                .containsExactly("dead");
        // What the other instance left, and one more row that is deleted after it.
        database.execute("insert into inbox_event (consumer_group, handler, event_id) values ('bounded', 'bounded', '"
                + id + "')");
        String later = Topics.id();
        topics.send(APP, later);
        MainApp.awaitLagZero(APP, APP);
        awaitForgotten(later);
        assertThat(database.count("inbox_event where event_id = ?", id)).isEqualTo(1);

        String number = database.texts("select number from inbox_parked where event_id = ?", id)
                .get(0);
        assertThat(Servers.payara().get("/bounded/status?retry=" + number).strip())
                .isEqualTo("true");
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isZero());

        assertThat(database.effects(APP)).doesNotContain(id);
    }

    @Test
    void aTopicWhoseRetentionIsRaisedWhileTheApplicationRunsStopsTheDeletion() throws Exception {
        alter("retention.ms", "3600000");
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(Servers.payara().get("/bounded/status"))
                        .contains("note retention=Topic bounded may keep a record for PT1H0.5S "
                                + "(retention.ms=3600000 and segment.ms=500), twinbox.inbox.retention is PT2S"));
        String id = Topics.id();
        topics.send(APP, id);
        MainApp.awaitLagZero(APP, APP);

        // Twice the retention.
        await().pollDelay(Duration.ofSeconds(4))
                .atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_event where event_id = ?", id))
                        .isEqualTo(1));
        assertThat(Servers.payara().get("/health/ready"))
                .startsWith("{\"status\":\"UP\"")
                .contains("may keep a record");

        alter("retention.ms", "1000");
        awaitForgotten(id);
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() ->
                        assertThat(Servers.payara().get("/bounded/status")).doesNotContain("note "));
    }

    @Test
    void aRetentionThatIsShorterThanATopicsIsRefusedAtTheStart() {
        Servers.kafka().createTopic("long", 1);
        Servers.kafka().createTopic("compacted", 1, Map.of("cleanup.policy", "compact"));
        Servers.kafka().createTopic("snapshots", 1, Map.of("cleanup.policy", "compact"));
        TestApp app = new TestApp("short", database.name())
                .with(LongTopicHandlers.class)
                .with("twinbox.inbox.retention", "P8D");

        String log = Servers.payara().deploy("short", app.build());

        assertThat(Servers.payara().status("/short/status")).isEqualTo(404);
        assertThat(log)
                .contains("Topic long may keep a record for P14D (retention.ms=604800000 and segment.ms=604800000), "
                        + "twinbox.inbox.retention is P8D: a record that is redelivered after that would have its "
                        + "effect again. Set twinbox.inbox.retention to P14D or more, or to forever, or let the topic "
                        + "keep its records for a shorter time.")
                .contains("Topic compacted may keep a record for ever (cleanup.policy=compact)")
                .doesNotContain("Topic snapshots");
    }

    @Test
    void whatIsForgottenOnPurposeIsAppliedAgainAndNothingElse() {
        String id = Topics.id();
        String other = Topics.id();
        TestApp app = new TestApp("replay", database.name())
                .with(BoundedHandlers.class)
                .with("twinbox.inbox.retention", "forever");
        MainApp.deploy(app);
        try {
            MainApp.awaitLagZero("replay", APP); // an event of another test may fail, and its batch with it
            send(id, other);
            assertThat(forget("boundde", id))
                    .isEqualTo("group replay has no handler \"boundde\"; its handlers are [bounded]");
            assertThat(forget("bounded", "nobody")).isEqualTo("forgot 0");
            assertThat(forget("bounded", id)).isEqualTo("forgot 1");

            send(id, other);
            assertThat(database.count("call where instance = 'replay' and event_id = ?", id))
                    .isEqualTo(2);
            assertThat(database.count("call where instance = 'replay' and event_id = ?", other))
                    .isEqualTo(1);
        } finally {
            Servers.payara().undeploy("replay");
        }
    }

    private static void send(String... ids) {
        topics.sendTogether(APP, ids);
        MainApp.awaitLagZero("replay", APP);
    }

    private static String forget(String handler, String id) {
        return Servers.payara()
                .get("/replay/status?forget=" + handler + "&id=" + id)
                .strip();
    }

    private static void awaitForgotten(String id) {
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(
                                database.count("inbox_event where event_id = ? and consumer_group = 'bounded'", id))
                        .isZero());
    }

    private static void alter(String name, String value) throws ExecutionException, InterruptedException {
        topics.admin()
                .incrementalAlterConfigs(Map.of(
                        new ConfigResource(ConfigResource.Type.TOPIC, APP),
                        List.of(new AlterConfigOp(new ConfigEntry(name, value), AlterConfigOp.OpType.SET))))
                .all()
                .get();
    }
}
