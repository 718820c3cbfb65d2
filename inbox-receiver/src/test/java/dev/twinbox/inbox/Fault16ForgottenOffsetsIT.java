package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.OffsetHandlers;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.NewPartitions;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Kafka forgets the offsets of a group that was away for some days. The inbox database remembers them. Only handlers
 * that may lose events do not go on there: they may not repeat any, so they go on at the end.
 */
@Tag("proof")
class Fault16ForgottenOffsetsIT {

    private static final List<String> CONTRACTS = List.of("once", "atLeastOnce", "atMostOnce");
    private static final Duration LIMIT = Duration.ofSeconds(40);

    private final Database database = new Database("fault16_" + Topics.id().substring(0, 8));
    private final String group = "fault16-" + Topics.id().substring(0, 8);
    private final Topics topics = new Topics();

    @BeforeEach
    void createTopic() {
        Servers.kafka().createTopic("offsets", 2);
    }

    @AfterEach
    void clean() throws Exception {
        Servers.payara().undeploy(group);
        topics.admin().deleteTopics(List.of("offsets")).all().get();
        await().until(() -> !topics.admin().listTopics().names().get().contains("offsets"));
        topics.close();
    }

    @Test
    void theGroupGoesOnWhereTheInboxDatabaseRemembersIt() throws Exception {
        MainApp.deploy(app());
        topics.sendMany("offsets", 0, 500);
        topics.sendMany("offsets", 1, 500);
        awaitEffects(1000);
        awaitLagZero();
        Servers.payara().undeploy(group);
        topics.sendMany("offsets", 0, 3); // while the application is away
        topics.admin()
                .deleteConsumerGroups(List.of(group, group + "-at-most-once"))
                .all()
                .get();

        int log = Servers.payara().log().length();
        MainApp.deploy(app());
        awaitLagZero();
        assertThat(effects("once")).isEqualTo(1003);
        assertThat(effects("atLeastOnce")).isEqualTo(1003);
        assertThat(effects("atMostOnce")).isEqualTo(1000);
        assertThat(MainApp.status(group, "duplicates")).isZero();
        assertThat(Servers.payara().log().substring(log))
                .containsPattern("Kafka has no offset of group " + group + " any more for \\{offsets-0=\\d+")
                .containsPattern(
                        "Kafka has no offset of group " + group + "-at-most-once any more for \\{offsets-0=\\d+");

        topics.sendMany("offsets", 1, 2);
        await().atMost(LIMIT).untilAsserted(() -> {
            assertThat(effects("once")).isEqualTo(1005);
            assertThat(effects("atLeastOnce")).isEqualTo(1005);
            assertThat(effects("atMostOnce")).isEqualTo(1002);
        });
    }

    @Test
    void aGroupStartsAtTheEndIfConfiguredAndAddedPartitionsAtTheirBeginning() throws Exception {
        topics.sendMany("offsets", 0, 10);
        MainApp.deploy(app().with("twinbox.inbox.start", "latest"));
        awaitLagZero();
        assertThat(effects("once")).isZero();
        topics.sendMany("offsets", 0, 2);
        awaitEffects(2);
        Servers.payara().undeploy(group);

        topics.admin()
                .createPartitions(Map.of("offsets", NewPartitions.increaseTo(3)))
                .all()
                .get();
        topics.sendMany("offsets", 2, 3);
        MainApp.deploy(app().with("twinbox.inbox.start", "latest"));
        awaitEffects(5);
    }

    @Test
    void aTopicThatIsCreatedAnewStartsAtItsBeginning() throws Exception {
        MainApp.deploy(app());
        topics.sendMany("offsets", 0, 10);
        awaitEffects(10);
        awaitLagZero();

        topics.admin().deleteTopics(List.of("offsets")).all().get();
        await().until(() -> !topics.admin().listTopics().names().get().contains("offsets"));
        Servers.kafka().createTopic("offsets", 2);
        topics.sendMany("offsets", 0, 3);
        awaitEffects(13);
        MainApp.awaitNoTrouble(group);

        Servers.payara().undeploy(group);
        topics.admin().deleteTopics(List.of("offsets")).all().get();
        await().until(() -> !topics.admin().listTopics().names().get().contains("offsets"));
        Servers.kafka().createTopic("offsets", 2);
        topics.sendMany("offsets", 0, 2);
        MainApp.deploy(app());
        awaitEffects(15);
    }

    private void awaitEffects(long number) {
        await().atMost(Duration.ofSeconds(90))
                .untilAsserted(() -> assertThat(CONTRACTS)
                        .allSatisfy(handler ->
                                assertThat(effects(handler)).as(handler).isEqualTo(number)));
    }

    private void awaitLagZero() {
        for (String each : List.of(group, group + "-at-most-once")) {
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(topics.lag(each, "offsets")).isZero());
        }
    }

    private long effects(String handler) {
        return database.count("effect where handler = ?", handler);
    }

    private TestApp app() {
        return new TestApp(group, database.name()).with(OffsetHandlers.class);
    }
}
