package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.RepairableHandler;
import dev.twinbox.inbox.jdbc.ParkedSelection;
import dev.twinbox.inbox.jdbc.SelectedRows;
import dev.twinbox.jdbc.SqlIdentifier;
import java.sql.Connection;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * A handler fails for 500 keys and works again later. One retry of the cause, as one click of the console does it, frees
 * all 10,000 events in the order of each key. {@code ConsoleIT} has the console.
 */
@Tag("proof")
class TenThousandParkedIT {

    private static final String APP = "repairable";
    private static final int KEYS = 500;
    private static final int EVENTS = 10_000;
    private static final Duration LIMIT = Duration.ofMinutes(5);

    @Test
    void oneRetryOfTheirCauseFreesThemInTheOrderOfEachKey() throws Exception {
        Database database = new Database(APP);
        database.execute("create table repaired (id int)");
        Servers.kafka().createTopic(APP, 1);
        Topics topics = new Topics();
        MainApp.deploy(new TestApp(APP, database.name())
                .with(RepairableHandler.class)
                .with("twinbox.inbox.quick-tries", "1")
                .with("twinbox.inbox.parked.attempts", "2")
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.1S"));
        Map<String, Integer> numbers = new HashMap<>();
        for (int i = 0; i < EVENTS; i++) {
            String id = Topics.id();
            numbers.put(id, i);
            topics.add(APP, "k" + i % KEYS, id, i < KEYS ? "fails" : "", 0);
        }
        topics.flush();
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked where state = 'dead'"))
                        .isEqualTo(KEYS));
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isEqualTo(EVENTS));
        assertThat(database.effects(APP)).isEmpty();

        database.execute("insert into repaired values (1)");
        ParkedSelection ofCause = new ParkedSelection(null, APP, APP, null, null, APP, "division by zero", null, null);
        try (Connection connection = database.connect()) {
            SelectedRows parked = new SelectedRows(new SqlIdentifier(null, "inbox_event"));
            assertThat(parked.retryAll(connection, ofCause, more -> {})).isEqualTo(KEYS);
        }
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isZero());

        List<Integer> effects = database.effects(APP).stream().map(numbers::get).toList();
        assertThat(effects).hasSize(EVENTS).doesNotHaveDuplicates();
        effects.stream()
                .collect(Collectors.groupingBy(number -> number % KEYS))
                .forEach((key, ofKey) -> assertThat(ofKey).as("key k" + key).isSorted());
        Servers.payara().undeploy(APP);
    }
}
