package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.app.RetryRuleHandlers;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A handler says which failures are not retried, and when it wants an event again. On a real server. */
@Tag("proof")
class RetryRulesIT {

    private static final String APP = "rules";
    private static final int ATTEMPTS = 5;
    private static final Duration LIMIT = Duration.ofSeconds(150);

    private static Database database;
    private static Topics topics;

    @BeforeAll
    static void deploy() {
        database = new Database(APP);
        topics = new Topics();
        for (String handler : List.of("cdi", "ejb", "list", "repeating", "lossy", "strict", "commit")) {
            Servers.kafka().createTopic(APP + "-" + handler, 1);
        }
        MainApp.deploy(new TestApp(APP, database.name())
                .with(RetryRuleHandlers.class)
                .with(RetryRuleHandlers.class.getDeclaredClasses())
                .with("twinbox.inbox.quick-tries", "3")
                .with("twinbox.inbox.batch.size", "10")
                .with("twinbox.inbox.parked.attempts", Integer.toString(ATTEMPTS))
                .with("twinbox.inbox.parked.retry.initial", "PT0.1S")
                .with("twinbox.inbox.parked.retry.max", "PT0.4S"));
    }

    @BeforeEach
    void clean() {
        database.execute("truncate inbox_parked");
    }

    /** Once in the batch, once alone. The batch does not count as an attempt. */
    @ParameterizedTest
    @ValueSource(strings = {"cdi", "ejb", "list", "repeating", "commit"})
    void anEventThatNoTryCanHelpIsParkedForTheOperatorAfterOneAttempt(String handler) {
        String[] ids = ParkingApp.ids(5);
        send(handler, "a", ids[0], "unknown-customer", 2);
        send(handler, "b", ids[1], "", 0);
        send(handler, "a", ids[2], "", 0);
        send(handler, "a", ids[3], "", 0);
        topics.flush();
        awaitLagZero(handler);

        assertThat(database.texts(
                        "select event_id || ' ' || state || ' ' || attempts from inbox_parked order by number"))
                .containsExactly(ids[0] + " dead 1", ids[2] + " behind 0", ids[3] + " behind 0");
        assertThat(database.calls(handler, ids[0])).isEqualTo(2);
        assertThat(database.texts("select error from inbox_parked where event_id = ?", ids[0]))
                .singleElement()
                .asString()
                .contains("UnknownCustomerException: unknown customer");
        assertThat(database.effects(handler)).contains(ids[1]).doesNotContain(ids[0], ids[2], ids[3]);

        send(handler, "a", ids[4], "", 0);
        topics.flush();
        awaitLagZero(handler);
        retry(ids[0]);
        awaitNothingParked();
        assertThat(database.effects(handler))
                .containsSubsequence(ids[0], ids[2], ids[3], ids[4])
                .doesNotHaveDuplicates();
        assertThat(database.calls(handler, ids[0])).isEqualTo(3);
    }

    @Test
    void anotherFailureOfTheHandlerIsRetriedAsBefore() {
        String id = Topics.id();
        send("cdi", "a", id, "runtime", 1 + ATTEMPTS - 1);
        topics.flush();
        awaitLagZero("cdi");
        awaitNothingParked();

        assertThat(database.effects("cdi")).containsOnlyOnce(id);
        assertThat(database.calls("cdi", id)).isEqualTo(1 + ATTEMPTS);
    }

    /** It names everything. A conflict and a call that takes too long are not what it throws. */
    @Test
    void whatIsNotTheHandlersDoingIsRetriedWhateverItNames() {
        String conflict = Topics.id();
        String late = Topics.id();
        send("strict", "a", conflict, "sql:do 'begin raise sqlstate $$40001$$; end'", 4);
        send("strict", "b", late, "wait", 2);
        topics.flush();
        awaitLagZero("strict");
        awaitNothingParked();

        assertThat(database.effects("strict")).containsOnlyOnce(conflict, late);
    }

    @ParameterizedTest
    @ValueSource(strings = {"cdi", "ejb", "list", "repeating"})
    void anEventThatIsWantedLaterWaitsWithItsKeyAndCostsNoAttempt(String handler) {
        int calls = 3 * ATTEMPTS;
        String[] ids = ParkingApp.ids(4);
        long before = MainApp.status(APP, "retriedLater");
        long failures = MainApp.status(APP, "failures");
        send(handler, "a", ids[0], "later:PT0.3S", calls - 1);
        send(handler, "b", ids[1], "", 0);
        send(handler, "a", ids[2], "", 0);
        send(handler, "a", ids[3], "later:PT0.3S", 1);
        topics.flush();
        awaitLagZero(handler);
        assertThat(database.effects(handler)).contains(ids[1]);
        awaitNothingParked();

        assertThat(database.effects(handler))
                .containsSubsequence(ids[1], ids[0], ids[2], ids[3])
                .doesNotHaveDuplicates();
        assertThat(database.calls(handler, ids[0])).isEqualTo(calls);
        assertThat(shortestWait(handler, ids[0]))
                .as("shortest wait of a parked event")
                .isGreaterThanOrEqualTo(0.3);
        assertThat(MainApp.status(APP, "retriedLater") - before).isEqualTo(calls - 2 + 1);
        assertThat(MainApp.status(APP, "failures")).isEqualTo(failures);
    }

    /** Between its calls, the first two left out: they are the one in the batch and the one alone. */
    private static double shortestWait(String handler, String id) {
        return Double.parseDouble(database.texts("""
                        select min(wait)::text
                          from (select extract(epoch from at - lag(at) over (order by at)) as wait,
                                       row_number() over (order by at) as call
                                  from call where handler = ? and event_id = ?) c
                         where call > 2""", handler, id).get(0));
    }

    @ParameterizedTest
    @ValueSource(strings = {"cdi", "repeating"})
    void anOperatorNeedNotWaitForTheDelay(String handler) {
        String id = Topics.id();
        send(handler, "a", id, "later:PT168H", 3);
        topics.flush();
        awaitLagZero(handler);
        assertThat(database.texts("""
                        select state || ' ' || attempts || ' ' || error from inbox_parked
                         where next_try_at between clock_timestamp() + interval '167 hours 55 minutes'
                                               and clock_timestamp() + interval '168 hours'""")).containsExactly("retry 0 dev.twinbox.RetryLaterException: not yet");

        retry(id);
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.calls(handler, id)).isEqualTo(3));
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.texts("""
                        select state || ' ' || attempts from inbox_parked
                         where next_try_at > clock_timestamp() + interval '167 hours'""")).containsExactly("retry 0"));
        retry(id);
        awaitNothingParked();
        assertThat(database.effects(handler)).containsOnlyOnce(id);
    }

    @Test
    void atMostOnceHasNoLater() {
        String id = Topics.id();
        long dropped = MainApp.status(APP, "dropped");
        send("lossy", "a", id, "later:PT0.1S", 1);
        topics.flush();
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(MainApp.status(APP, "dropped") - dropped).isEqualTo(1));

        assertThat(database.calls("lossy", id)).isEqualTo(1);
        assertThat(database.count("inbox_parked")).isZero();
        assertThat(database.effects("lossy")).doesNotContain(id);
    }

    private static void send(String handler, String key, String id, String action, int times) {
        topics.add(APP + "-" + handler, key, id, action, times);
    }

    private static void awaitLagZero(String handler) {
        MainApp.awaitLagZero(APP, APP + "-" + handler);
    }

    private static void awaitNothingParked() {
        await().atMost(LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_parked")).isZero());
    }

    private static void retry(String id) {
        String number = database.texts("select number from inbox_parked where event_id = ?", id)
                .get(0);
        assertThat(Servers.payara().get("/" + APP + "/status?retry=" + number).strip())
                .isEqualTo("true");
    }
}
