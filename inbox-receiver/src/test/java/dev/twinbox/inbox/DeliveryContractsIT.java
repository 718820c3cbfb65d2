package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.Test;

class DeliveryContractsIT {

    private static final String AT_MOST_ONCE_GROUP = MainApp.GROUP + "-at-most-once";

    private final Database database = MainApp.database();
    private final Topics topics = MainApp.topics();

    @Test
    void aRepeatedEventHasItsEffectOnceOrAgainByContract() {
        String id = Topics.id();

        topics.send("contracts", id);
        awaitLagZero();
        topics.send("contracts", id);
        awaitLagZero();

        assertThat(database.effects("once")).containsOnlyOnce(id);
        assertThat(database.effects("atLeastOnce")).filteredOn(id::equals).hasSize(2);
        await().atMost(MainApp.LIMIT) // its offset is committed first
                .untilAsserted(() -> assertThat(database.effects("atMostOnce"))
                        .filteredOn(id::equals)
                        .hasSize(2));
        assertThat(database.texts("select handler from inbox_event where event_id = ?", id))
                .containsExactly("once");
    }

    @Test
    void aFailureIsTriedAgainOrDroppedByContract() {
        String id = Topics.id();
        long dropped = MainApp.status("main", "dropped");

        topics.send("contracts", id, "checked", 1);
        awaitLagZero();
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() ->
                        assertThat(MainApp.status("main", "dropped") - dropped).isEqualTo(1));

        assertThat(database.effects("once")).containsOnlyOnce(id);
        assertThat(database.effects("atLeastOnce")).containsOnlyOnce(id);
        assertThat(database.calls("atLeastOnce", id)).isEqualTo(2);
        assertThat(database.effects("atMostOnce")).doesNotContain(id);
        assertThat(database.calls("atMostOnce", id)).isEqualTo(1);
    }

    @Test
    void atMostOnceCommitsItsOffsetBeforeTheHandlerIsDone() {
        String id = Topics.id();
        try (Database.Gate gate = database.shutGate(71)) {
            topics.send("contracts", id, "gate:71", 10);
            await().atMost(MainApp.LIMIT).until(() -> database.waiting(71) == 2);

            assertThat(topics.lag(AT_MOST_ONCE_GROUP, "contracts")).isZero();
            assertThat(topics.lag(MainApp.GROUP, "contracts")).isEqualTo(1);
        }
        awaitLagZero();
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.effects("atMostOnce")).containsOnlyOnce(id));
    }

    private static void awaitLagZero() {
        MainApp.awaitLagZero(MainApp.GROUP, "contracts");
        MainApp.awaitLagZero(AT_MOST_ONCE_GROUP, "contracts");
    }
}
