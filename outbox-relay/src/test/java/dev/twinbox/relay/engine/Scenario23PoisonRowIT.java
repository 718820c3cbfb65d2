package dev.twinbox.relay.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.relay.OutboxDatabaseFixture;
import dev.twinbox.relay.ParkedSelections;
import dev.twinbox.relay.config.RelayConfig;
import dev.twinbox.relay.jdbc.ParkedRows;
import dev.twinbox.relay.jdbc.ParkedSelection;
import dev.twinbox.relay.jdbc.ParkedState;
import java.sql.Connection;
import java.util.Set;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** POISON-ROW: a row that cannot be read does not delay other rows. */
class Scenario23PoisonRowIT {

    /** Rows of a table whose constraints were dropped, or declared not valid. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({
        "an odd number of headers, 'headers', 'array[''a'', ''b'', ''c'']', not an even number",
        "a header without a value, 'headers', 'array[''a'', null]', is null",
        "headers of two dimensions, 'headers', 'array[array[''a'', ''b''], array[''c'', ''d'']]', 2 dimensions",
        "no type, 'type', 'null', is null",
        "no time, 'occurred_at', 'null', is null",
        "no topic, 'topic', 'null', no topic",
    })
    void anUnreadableRowIsParkedWithItsFaultAndAllOthersAreSentAtOnce(
            String name, String column, String value, String fault) throws Exception {
        // Pages are cut in two ways. A row without a required value must get lost in neither.
        for (int bytes : name.startsWith("no type") ? new int[] {100_000, 5_000} : new int[] {5_000}) {
            try (EngineRig rig = EngineRig.create().withTopic();
                    Connection connection = rig.connect()) {
                rig.page = new RelayConfig.Page(50, bytes, 4);
                rig.execute("alter table outbox_event drop constraint headers_in_pairs, drop constraint topic_legal,"
                        + " drop constraint attributes_not_empty, alter column type drop not null,"
                        + " alter column topic drop not null,"
                        + " alter column occurred_at drop not null");
                connection.setAutoCommit(false);
                rig.insert(connection, "poisoned", "poison");
                OutboxDatabaseFixture.execute(connection, "update outbox_event set " + column + " = " + value);
                rig.insert(connection, column.equals("topic") ? "other" : "poisoned", "behind");
                for (int i = 0; i < 100; i++) {
                    rig.insert(connection, "k" + i % 5, "good " + i);
                }
                connection.commit();
                EngineRig.Running relay = rig.start();

                await("the good ones").until(() -> rig.recordCount() >= (column.equals("topic") ? 101 : 100));
                rig.awaitParked(ParkedState.REFUSED, 1);
                ParkedRows.Line poison =
                        rig.parked(connection).list(ParkedSelection.ALL, 10).get(0);
                assertThat(poison.error()).contains("cannot be read", fault, poison.id());
                long polls = relay.progress().polls();
                long before = System.nanoTime();
                await().until(() -> System.nanoTime() - before > 1_000_000_000L);
                assertThat(relay.progress().polls() - polls)
                        .as("polls in a second")
                        .isLessThan(100);

                rig.parked(connection).discard(ParkedSelections.number(poison.number()));
                rig.awaitNothingParked();
                rig.awaitRecords(101);
                assertThat(Set.copyOf(rig.payloads()))
                        .hasSize(101)
                        .contains("behind")
                        .doesNotContain("poison");
            }
        }
    }
}
