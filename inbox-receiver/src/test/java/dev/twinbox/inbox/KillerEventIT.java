package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.KillerHandler;
import dev.twinbox.inbox.server.PayaraHost;
import java.time.Duration;
import java.util.Map;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** An event that kills the process is noticed, and is not started for ever. */
@Tag("proof")
class KillerEventIT {

    private static final String APP = "killer";

    @Test
    void itIsGivenUpAfterSomeBeginningsThatNeverEndedAndTheOthersAreHandled() throws Exception {
        Database database = new Database(APP);
        Servers.kafka().createTopic(APP, 1);
        String before = Topics.id();
        String killer = Topics.id();
        String behind = Topics.id();
        String after = Topics.id();
        try (Topics topics = new Topics()) {
            topics.add(APP, "a", before, "", 0);
            topics.add(APP, "b", killer, "halt", 1_000_000);
            topics.add(APP, "b", behind, "", 0);
            topics.add(APP, "c", after, "", 0);
            topics.flush();
            // The offset as an instance leaves it that died during its first batch.
            topics.admin()
                    .alterConsumerGroupOffsets(APP, Map.of(new TopicPartition(APP, 0), new OffsetAndMetadata(0)))
                    .all()
                    .get();
            try (PayaraHost payara = Servers.newPayara()) {
                payara.control().deployWithoutAnswer(APP, app(database).build());
                payara.awaitEnd(Duration.ofMinutes(3));
            }
            assertThat(database.texts("select event_id || ' ' || state || ' ' || attempts from inbox_parked"))
                    .containsExactly(killer + " begun 1");
            assertThat(database.effects(APP)).containsExactly(before);

            // Two more crashes, for which this test starts no servers.
            database.execute("update inbox_parked set attempts = 3");
            MainApp.deploy(app(database));
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(() -> assertThat(topics.lag(APP, APP)).isZero());

            assertThat(database.effects(APP)).containsExactly(before, after);
            assertThat(database.texts("select event_id || ' ' || state || ' ' || coalesce(error, '') from inbox_parked "
                            + "order by number"))
                    .containsExactly(
                            killer + " dead the process ended 3 times while handler " + APP
                                    + " was handling this event; it is not retried",
                            behind + " behind ");
            assertThat(database.calls(APP, killer)).isEqualTo(1);
        } finally {
            Servers.payara().undeploy(APP);
        }
    }

    private static TestApp app(Database database) {
        return new TestApp(APP, database.name()).with(KillerHandler.class);
    }
}
