package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Instance.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.event.UnknownType;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The circuit breaker of a handler, on a real database. {@code CircuitBreakerIT} has a server. */
class BreakersIT {

    private static final int CALLS_OF_AN_EVENT = 2; // in the batch and alone

    private static Database database;

    private final List<String> calls = new ArrayList<>();

    @BeforeAll
    static void create() {
        database = new Database("breakers");
    }

    @BeforeEach
    void clear() {
        database.execute("truncate inbox_event, inbox_parked, inbox_handler");
    }

    /** Its breaker is open after events of the keys k0, k1, … */
    private Instance withOpenBreaker(int mostWaiting, String... handlers) throws SQLException {
        Instance instance = new Instance(database, calls, UnknownType.SKIP, mostWaiting, handlers);
        instance.announcements.announce();
        for (int i = 0; i * CALLS_OF_AN_EVENT < Breaker.FEWEST_CALLS; i++) {
            instance.receive(record(i, "v1", "e" + i, "k" + i, "e" + i + " checked"));
        }
        assertThat(instance.status.openBreakers()).isEqualTo(1);
        calls.clear();
        return instance;
    }

    private static List<String> parked(String ids) {
        return database.texts(
                "select event_id || ' ' || handler || ' ' || state || ' ' || attempts from inbox_parked "
                        + "where event_id like ? order by number",
                ids);
    }

    @Test
    void whileItIsOpenEventsAreParkedInOrderAndOtherHandlersGoOn() throws SQLException {
        Instance instance = withOpenBreaker(100, "aBreaking:v1", "repeatingBreaking:v2", "other:v1");
        assertThat(instance.status.notes()).containsOnlyKeys("circuit breaker of handler aBreaking");

        instance.receive(
                record(50, "v1", "n1", "k", "n1"),
                record(51, "v1", "n2", "k", "n2"),
                record(52, "v1", "n3", null, "n3"),
                record(53, "v2", "n4", "k", "n4"));

        assertThat(calls).containsExactly("other:n1", "other:n2", "other:n3", "repeatingBreaking:n4");
        assertThat(parked("n%"))
                .containsExactly("n1 aBreaking retry 0", "n2 aBreaking behind 0", "n3 aBreaking retry 0");
        assertThat(database.texts("select event_id from inbox_event where handler = 'aBreaking'"))
                .isEmpty();
    }

    @Test
    void aRedeliveryWhileItIsOpenChangesNothing() throws SQLException {
        Instance before = new Instance(database, calls, UnknownType.SKIP, "aBreaking:v1");
        before.receive(record(40, "v1", "done", "x", "done"));
        Instance open = withOpenBreaker(100, "aBreaking:v1");

        open.receive(record(40, "v1", "done", "x", "done"), record(41, "v1", "n1", "y", "n1"));
        open.receive(record(41, "v1", "n1", "y", "n1"), record(41, "v1", "n1", "y", "n1"));

        assertThat(parked("n%")).containsExactly("n1 aBreaking retry 0");
        assertThat(parked("done")).isEmpty();
        assertThat(calls).isEmpty();
    }

    /** For a handler without an inbox row, too, and after a crash. */
    @Test
    void itHoldsForEachContractAndAfterACrash() throws SQLException {
        Instance instance = withOpenBreaker(100, "repeatingBreaking:v1");

        instance.receive(record(50, "v1", "n1", "k", "n1"));
        instance.receiveAfterCrash(record(51, "v1", "n2", "k", "n2"), record(52, "v1", "n3", "m", "n3"));

        assertThat(calls).isEmpty();
        assertThat(parked("n%"))
                .containsExactly(
                        "n1 repeatingBreaking retry 0",
                        "n2 repeatingBreaking behind 0",
                        "n3 repeatingBreaking retry 0");
    }

    @Test
    void probesTakeDifferentKeysAndCostNoAttemptAndASuccessLetsAllFollow() throws SQLException {
        Instance instance = withOpenBreaker(100, "aBreaking:v1");
        instance.receive(record(50, "v1", "n1", "k0", "n1"), record(51, "v1", "n2", "k1", "n2"));
        List<String> before = parked("%");

        await().atMost(Duration.ofSeconds(30)).until(() -> {
            instance.retryAll();
            return calls.size() >= 3;
        });
        assertThat(calls).doesNotHaveDuplicates();
        assertThat(parked("%")).isEqualTo(before);
        assertThat(before).contains("e0 aBreaking retry 1", "n1 aBreaking behind 0");

        database.execute("update inbox_parked set record_value = convert_to(event_id, 'UTF8')");
        calls.clear();
        await().atMost(Duration.ofSeconds(60)).until(() -> {
            instance.retryAll();
            return database.count("inbox_parked") == 0;
        });
        assertThat(calls)
                .hasSize(12)
                .containsSubsequence("aBreaking:e0", "aBreaking:n1")
                .containsSubsequence("aBreaking:e1", "aBreaking:n2");
        assertThat(instance.status.openBreakers()).isZero();
        assertThat(instance.status.notes()).isEmpty();
        instance.receive(record(60, "v1", "n9", "k9", "n9"));
        assertThat(calls).endsWith("aBreaking:n9");
    }

    /** Of a probe, too. It is not why the breaker is open. */
    @Test
    void anotherFailureCountsAsAnAttempt() throws SQLException {
        Instance instance = withOpenBreaker(100, "aBreaking:v1");
        database.execute("update inbox_parked set record_value = convert_to(event_id || ' fail', 'UTF8')");

        await().atMost(Duration.ofSeconds(30)).until(() -> {
            instance.retryAll();
            return !calls.isEmpty();
        });
        assertThat(instance.status.openBreakers()).isEqualTo(1);
        assertThat(database.texts(
                        "select attempts from inbox_parked where event_id = ?",
                        calls.get(0).split(":")[1]))
                .containsExactly("2");
    }

    @Test
    void thePartitionIsHeldWhenTooManyWait() throws SQLException {
        Instance instance = withOpenBreaker(11, "aBreaking:v1");

        assertThat(instance.receive(record(50, "v1", "n1", "k", "n1")).next()).isEqualTo(Outcome.Next.GO_ON);
        Outcome outcome = instance.receive(record(51, "v1", "n2", "k", "n2"));

        assertThat(outcome.next()).isEqualTo(Outcome.Next.HOLD);
        assertThat(outcome.settled()).isZero();
        assertThat(outcome.cause())
                .hasMessage("11 events wait for handler aBreaking, whose circuit breaker is open, so the partition "
                        + "waits too. Repair what the handler needs");
        assertThat(parked("n%")).containsExactly("n1 aBreaking retry 0");
    }
}
