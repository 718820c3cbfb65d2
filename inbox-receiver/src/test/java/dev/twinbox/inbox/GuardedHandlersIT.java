package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.GuardedHandlers;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Two instances of an application get one event at the same time, and its handler is guarded. */
@Tag("proof")
class GuardedHandlersIT {

    private static final String TOPIC = "guarded";

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deployTwo() {
        database = new Database(TOPIC);
        topics = new Topics();
        Servers.kafka().createTopic(TOPIC, 2);
        deploy("guarded-a");
        deploy("guarded-b");
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.owners(TOPIC, TOPIC)).hasSize(2));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy("guarded-a");
        Servers.payara().undeploy("guarded-b");
        topics.close();
    }

    private static void deploy(String name) {
        MainApp.deploy(new TestApp(name, database.name())
                .with("twinbox.inbox.group", TOPIC)
                .with(GuardedHandlers.class));
    }

    @ParameterizedTest
    @CsvSource({"order, guarded, 121, 1", "note, guarded-repeating, 122, 2"})
    void theSecondWaitsWithoutAnAttemptAndWithoutALockInTheDatabase(
            String type, String handler, int number, int effects) {
        String id = Topics.id();
        String free = Topics.id();
        try (Database.Gate gate = database.shutGate(number)) {
            topics.send(TOPIC, 0, id, type, Topics.order(id, "gate:" + number, 1));
            topics.send(TOPIC, 1, id, type, Topics.order(id, "gate:" + number, 1));
            await().atMost(MainApp.LIMIT).until(() -> database.waiting(number) == 1);
            awaitRefusals();

            assertThat(database.calls(handler, id)).isEqualTo(1);
            assertThat(database.count("pg_stat_activity where datname = 'guarded' and wait_event_type = 'Lock' "
                            + "and query like '-- inbox: claim%'"))
                    .isZero();
            assertThat(database.count("inbox_parked")).isZero();
        }
        topics.send(TOPIC, 0, free, type, Topics.order(free, "", 0));
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(topics.lag(TOPIC, TOPIC)).isZero());

        // A handler without an inbox row is called again afterwards; the guard only keeps the calls apart.
        assertThat(database.count("effect where handler = ? and event_id = ?", handler, id))
                .isEqualTo(effects);
        assertThat(database.effects(handler)).contains(free);
        assertThat(database.count("inbox_parked")).isZero();
    }

    /** Each refusal is a transaction that finds the row of the lock and grants nothing. */
    private static void awaitRefusals() {
        long before = scans();
        await().atMost(MainApp.LIMIT).until(() -> scans() > before + 2);
        assertThat(database.count("inbox_lock")).isEqualTo(1);
    }

    private static long scans() {
        return Long.parseLong(
                database.texts("select seq_scan + idx_scan from pg_stat_all_tables where relname = 'inbox_lock'")
                        .get(0));
    }

    @Test
    void theLocksTableIsMissingAndHandlersGoOn() {
        String id = Topics.id();
        database.execute("alter table inbox_lock rename to inbox_lock_away");
        try {
            topics.send(TOPIC, 0, id, "order", Topics.order(id, "", 0));
            await().atMost(MainApp.LIMIT)
                    .untilAsserted(() -> assertThat(database.effects("guarded")).contains(id));
        } finally {
            database.execute("alter table inbox_lock_away rename to inbox_lock");
        }
        String next = Topics.id();
        topics.send(TOPIC, 0, next, "order", Topics.order(next, "", 0));
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.effects("guarded")).contains(next));
    }
}
