package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.BreakingHandlers;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** A service that handlers need is away: their circuit breakers open, and close when it is back. On a real server. */
@Tag("proof")
class CircuitBreakerIT {

    private static final String APP = "breaker";
    private static final int KEYS = 10;
    private static final int ATTEMPTS = 12;
    private static final int ALWAYS = 1_000_000;
    private static final Duration LIMIT = Duration.ofSeconds(150);

    private final Database database = new Database(APP);
    private final Topics topics = new Topics();
    private final List<List<String>> idsOfKeys = new ArrayList<>();

    @Test
    void eventsWaitInOrderWithoutAttemptsUntilTheServiceIsBack() {
        database.execute("create table repaired (id int)");
        Servers.kafka().createTopic(APP, 1);
        MainApp.deploy(new TestApp(APP, database.name())
                .with(BreakingHandlers.class)
                .with("twinbox.inbox.quick-tries", "2")
                .with("twinbox.inbox.batch.size", "10")
                .with("twinbox.inbox.parked.attempts", Integer.toString(ATTEMPTS))
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.4S"));
        for (int key = 0; key < KEYS; key++) {
            idsOfKeys.add(new ArrayList<>());
        }

        sendOneOfEachKey();
        await().atMost(LIMIT)
                .untilAsserted(
                        () -> assertThat(MainApp.status(APP, "openBreakers")).isEqualTo(2));
        assertThat(Servers.payara().get("/" + APP + "/status"))
                .contains("note circuit breaker of handler needy=is open", "circuit breaker of handler needyList")
                .doesNotContain("trouble");
        assertThat(Servers.payara().get("/health/ready")).startsWith("{\"status\":\"UP\"");

        for (int i = 0; i < 5; i++) {
            sendOneOfEachKey();
        }
        MainApp.awaitLagZero(APP, APP);
        String later = "event_id in (select event_id from inbox_parked where state = 'behind')";
        assertThat(database.effects("modest")).hasSize(6 * KEYS).doesNotHaveDuplicates();
        assertThat(database.count("inbox_parked")).isEqualTo(2 * 6 * KEYS);
        assertThat(database.count("call where handler = 'needy' and " + later)).isZero();

        awaitProbes(1);
        List<String> attempts = attempts();
        awaitProbes(1);
        assertThat(attempts()).isEqualTo(attempts);
        assertThat(database.count("inbox_parked where state in ('dead', 'passed')"))
                .isZero();

        database.execute("insert into repaired values (1)");
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isZero());
        assertThat(MainApp.status(APP, "openBreakers")).isZero();
        assertThat(Servers.payara().get("/" + APP + "/status")).doesNotContain("note circuit breaker");
        for (List<String> ids : idsOfKeys) {
            assertThat(database.effects("needy")).containsSubsequence(ids).doesNotHaveDuplicates();
            assertThat(database.effects("needyList")).containsSubsequence(ids).doesNotHaveDuplicates();
        }
        assertThat(database.effects("needy")).hasSize(6 * KEYS);
    }

    private void sendOneOfEachKey() {
        for (int key = 0; key < KEYS; key++) {
            String id = Topics.id();
            idsOfKeys.get(key).add(id);
            topics.add(APP, "key-" + key, id, "service", ALWAYS);
        }
        topics.flush();
    }

    /** Attempts of the parked events. That of a probe on its way is counted, so two looks must agree. */
    private List<String> attempts() {
        List<String> attempts = new ArrayList<>();
        await().atMost(LIMIT).pollInterval(Duration.ofMillis(100)).until(() -> {
            List<String> before = List.copyOf(attempts);
            attempts.clear();
            attempts.addAll(database.texts("select handler || event_id || attempts from inbox_parked order by number"));
            return attempts.equals(before);
        });
        return attempts;
    }

    private void awaitProbes(int more) {
        long before = database.count("call where handler = 'needy'");
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("call where handler = 'needy'"))
                        .isGreaterThanOrEqualTo(before + more));
    }
}
