package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.BusyHandler;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/**
 * Many parked events, and what they need is well again. One thread retried them one by one while the workers were idle,
 * and a slow handler held up all others.
 */
@Tag("proof")
class Fault37RetriesOnWorkersIT {

    private static final String APP = "busy";
    private static final int PARTITIONS = 4;
    private static final int EVENTS = 60;
    private static final int ALWAYS = 1_000_000;
    private static final Duration LIMIT = Duration.ofSeconds(120);

    /**
     * Fails as long as the table is empty, and takes a moment if not. It takes longer than commits take on a slow disk.
     * So the rates show how many handlers run side by side.
     */
    private static final String WORK = "sql:select pg_sleep(0.25), 1 / count(*) from repaired";

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        database.execute("create table repaired (id int)");
        topics = new Topics();
        Servers.kafka().createTopic(APP, PARTITIONS);
        MainApp.deploy(new TestApp(APP, database.name())
                .with(BusyHandler.class)
                .with("twinbox.inbox.batch.size", "1")
                .with("twinbox.inbox.workers", "4")
                .with("twinbox.inbox.quick-tries", "1")
                .with("twinbox.inbox.parked.retry.initial", "PT60S")
                .with("twinbox.inbox.parked.retry.max", "PT60S")
                .with("twinbox.inbox.parked.attempts", "1000"));
    }

    @AfterAll
    static void undeploy() {
        Servers.payara().undeploy(APP);
        topics.close();
    }

    @BeforeEach
    void clean() {
        database.execute("truncate inbox_parked, repaired, effect, call");
    }

    @Test
    void parkedEventsAreRetriedAtLeastHalfAsFastAsNewOnesAreHandled() {
        database.execute("insert into repaired values (1)");
        long begin = System.nanoTime();
        send(EVENTS);
        awaitEffects(EVENTS);
        double perSecondNew = EVENTS * 1e9 / (System.nanoTime() - begin);

        clean();
        List<String> ids = send(EVENTS);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isEqualTo(EVENTS));
        repair();
        begin = System.nanoTime();
        awaitEffects(EVENTS);
        double perSecondParked = EVENTS * 1e9 / (System.nanoTime() - begin);

        assertThat(perSecondParked)
                .as("parked events per second, new events: %s", perSecondNew)
                .isGreaterThan(perSecondNew / 2);
        assertThat(database.effects(APP)).containsExactlyInAnyOrderElementsOf(ids);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isZero());
    }

    @Test
    void aSlowRetryHoldsUpNeitherOtherParkedEventsNorNewOnesAndItsKeyStaysInOrder() {
        String slow = Topics.id();
        String behind = Topics.id();
        topics.add(
                APP, "slow", slow, "sql:select 1 / count(*) from repaired, pg_advisory_xact_lock_shared(371)", ALWAYS);
        topics.add(APP, "slow", behind, "", 0);
        List<String> parked = send(40);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isEqualTo(42));
        try (Database.Gate gate = database.shutGate(371)) {
            repair();
            await("the slow one is being retried").atMost(LIMIT).until(() -> database.waiting(371) == 1);
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects(APP)).containsAll(parked));
            List<String> fresh = send(40);
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(database.effects(APP)).containsAll(fresh));

            assertThat(database.waiting(371)).isEqualTo(1);
            assertThat(database.effects(APP)).doesNotContain(slow, behind);
        }
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.effects(APP)).containsSubsequence(slow, behind));
        assertThat(database.effects(APP)).doesNotHaveDuplicates();
    }

    /** What the handler needs is well again, and all events that it was needed for are due. */
    private static void repair() {
        database.execute("insert into repaired values (1); "
                + "update inbox_parked set next_try_at = clock_timestamp() where state = 'retry'");
    }

    private static void awaitEffects(int number) {
        await().atMost(LIMIT.multipliedBy(3))
                .pollInterval(Duration.ofMillis(20))
                .until(() -> database.count("effect") == number);
    }

    private static List<String> send(int number) {
        List<String> ids = new ArrayList<>();
        for (int i = 0; i < number; i++) {
            String id = Topics.id();
            topics.add(APP, i % PARTITIONS, id, id, WORK, ALWAYS);
            ids.add(id);
        }
        topics.flush();
        return ids;
    }
}
