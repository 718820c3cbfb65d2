package dev.twinbox.inbox;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Scenario 6, CHECKED-EX: whatever a handler throws, a failed attempt commits nothing. */
class Scenario06CheckedExIT {

    private final Database database = MainApp.database();
    private final Topics topics = MainApp.topics();

    @ParameterizedTest
    @CsvSource({
        "ejb, Ejb.onOrder, checked",
        "ejb, Ejb.onOrder, error",
        "ejb, Ejb.onOrder, runtime",
        "ejb, Ejb.onOrder, business",
        "cdi, Cdi.onOrder, checked",
        "cdi, Cdi.onOrder, error",
        "cdi, Cdi.onOrder, runtime",
        "cdi, Cdi.onOrder, business",
        "transacted, Transacted.onOrder, checked",
        "transacted, Transacted.onOrder, error",
        "transacted, Transacted.onOrder, runtime",
        "transacted, Transacted.onOrder, business",
    })
    void aFailedHandlingLeavesNothingAndTheEventIsTriedUntilItSucceeds(String topic, String handler, String thrown) {
        String id = Topics.id();

        topics.send(topic, id, thrown, 2);
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.count("inbox_event where event_id = ?", id))
                        .isEqualTo(1));

        // Once in the batch, once alone, and once more after a wait.
        assertThat(database.calls(handler, id)).isEqualTo(3);
        assertThat(database.effects(handler)).containsOnlyOnce(id);
        MainApp.awaitLagZero(MainApp.GROUP, topic);
    }

    @Test
    void aStatementThatFailsOnlyAtTheCommitIsTheFaultOfItsEvent() {
        database.execute("create table if not exists parent (id int primary key)");
        database.execute(
                "create table if not exists child (p int references parent deferrable initially deferred, e text)");
        String before = Topics.id();
        String culprit = Topics.id();
        String after = Topics.id();

        topics.add("ejb", before, "", 0);
        topics.add("ejb", culprit, "sql:insert into child (p) values (1)", 2);
        topics.add("ejb", after, "", 0);
        topics.flush();
        MainApp.awaitLagZero(MainApp.GROUP, "ejb");

        assertThat(database.effects("Ejb.onOrder")).containsOnlyOnce(before, culprit, after);
        assertThat(database.count("child")).isZero();
        assertThat(database.calls("Ejb.onOrder", culprit)).isEqualTo(3);
    }

    @Test
    void anEventThatKeepsFailingIsParkedWithoutEffectAndRetriedUntilItSucceeds() {
        String culprit = Topics.id();
        String behind = Topics.id();

        topics.add("cdi", culprit, "runtime", 500);
        topics.add("cdi", behind, "", 0);
        topics.flush();
        MainApp.awaitLagZero(MainApp.GROUP, "cdi");

        assertThat(database.effects("Cdi.onOrder")).contains(behind).doesNotContain(culprit);
        assertThat(database.count("inbox_event where event_id = ?", culprit)).isZero();
        await().atMost(MainApp.LIMIT) // during the retries a start is recorded
                .untilAsserted(() -> assertThat(database.texts(
                                "select handler || ' ' || state || ' ' || error from inbox_parked where event_id = ?",
                                culprit))
                        .containsExactly("Cdi.onOrder retry java.lang.IllegalStateException: runtime"));
        await().atMost(MainApp.LIMIT).until(() -> Servers.payara().status("/health/ready") == 200);
        assertThat(Servers.payara().log().lines())
                .filteredOn(line ->
                        line.contains(culprit) && line.contains("failed 3 times in handler Cdi.onOrder and is parked"))
                .hasSize(1);

        heal(culprit);
        await().atMost(MainApp.LIMIT)
                .untilAsserted(() -> assertThat(database.effects("Cdi.onOrder")).containsOnlyOnce(culprit));
        assertThat(database.count("inbox_parked where event_id = ?", culprit)).isZero();
        assertThat(database.count("inbox_event where event_id = ?", culprit)).isEqualTo(1);
        assertThat(database.calls("Cdi.onOrder", behind)).isLessThanOrEqualTo(2);
    }

    /** The handler fails while the number of calls is small. */
    private void heal(String id) {
        database.execute("insert into call (handler, event_id, instance) select 'Cdi.onOrder', '" + id
                + "', 'healed' from generate_series(1, 500)");
    }
}
