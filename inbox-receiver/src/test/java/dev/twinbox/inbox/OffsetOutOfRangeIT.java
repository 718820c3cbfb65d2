package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.RangeHandler;
import java.util.Map;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Records that retention deleted before the group read them are lost. The receiver reports it and does not skip them
 * silently.
 */
@Tag("proof")
class OffsetOutOfRangeIT {

    private static final TopicPartition PARTITION = new TopicPartition("range", 0);

    private final Database database = new Database("range");

    @AfterEach
    void undeploy() {
        Servers.payara().undeploy("range");
    }

    @Test
    void theGapIsAnErrorUntilAnOperatorSetsTheOffset() throws Exception {
        Servers.kafka().createTopic(PARTITION.topic(), 2);
        try (Topics topics = new Topics()) {
            String before = Topics.id();
            String behind = Topics.id();
            topics.send(PARTITION.topic(), before);
            MainApp.deploy(app());
            MainApp.awaitLagZero("range", PARTITION.topic());
            Servers.payara().undeploy("range");

            topics.sendMany(PARTITION.topic(), 0, 4);
            topics.send(PARTITION.topic(), behind);
            topics.admin()
                    .deleteRecords(Map.of(PARTITION, RecordsToDelete.beforeOffset(5)))
                    .all()
                    .get();
            int log = Servers.payara().log().length();
            Servers.payara().deploy("range", app().build());
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(() -> assertThat(Servers.payara().get("/range/status"))
                            .contains("trouble " + PARTITION + "=offset 1 of group range is not on " + PARTITION));
            // Another partition goes on in the meantime.
            String elsewhere = Topics.id();
            topics.send(PARTITION.topic(), 1, elsewhere, "order", Topics.order(elsewhere, "", 0));
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("range")).containsExactly(before, elsewhere));
            assertThat(Servers.payara().log().substring(log))
                    .contains("SEVERE", "Events may be lost: offset 1 of group range", "--reset-offsets --to-earliest");
            Servers.payara().undeploy("range");

            topics.admin()
                    .alterConsumerGroupOffsets("range", Map.of(PARTITION, new OffsetAndMetadata(5)))
                    .all()
                    .get();
            MainApp.deploy(app());
            MainApp.awaitLagZero("range", PARTITION.topic());
            assertThat(database.effects("range")).containsExactly(before, elsewhere, behind);
        }
    }

    private TestApp app() {
        return new TestApp("range", database.name()).with(RangeHandler.class);
    }
}
