package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Instance.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.kafka.HandoverKind;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The rules for retries hold for events whose start is recorded, and for events that are parked already. */
class RetryRulesAfterCrashIT {

    private static Database database;

    private final List<String> calls = new ArrayList<>();
    private Instance instance;

    @BeforeAll
    static void create() {
        database = new Database("rules_after_crash");
    }

    @BeforeEach
    void start() throws SQLException {
        database.execute("truncate inbox_event, inbox_parked, inbox_handler");
        instance = new Instance(database, calls, UnknownType.SKIP, "oneStrict:v1");
        instance.announcements.announce();
    }

    private static List<String> parked() {
        return database.texts("select event_id || ' ' || state || ' ' || attempts from inbox_parked order by number");
    }

    private static void makeDue() {
        database.execute("update inbox_parked set next_try_at = clock_timestamp() where state = 'retry'");
    }

    @Test
    void aNamedFailureAfterACrashIsNotRetried() {
        instance.receiveAfterCrash(record(0, "v1", "a", "k", "a fail"), record(1, "v1", "b", "k", "b"));

        assertThat(parked()).containsExactly("a dead 1", "b behind 0");
        assertThat(calls).containsExactly("oneStrict:a");
    }

    @Test
    void anEventThatIsWantedLaterAfterACrashIsParkedForThatLong() throws SQLException {
        instance.receiveAfterCrash(record(0, "v1", "a", "k", "a later PT1H"), record(1, "v1", "b", "k", "b"));

        assertThat(parked()).containsExactly("a retry 0", "b behind 0");
        assertThat(database.count("inbox_parked where next_try_at between clock_timestamp() + interval '59 minutes' "
                        + "and clock_timestamp() + interval '1 hour'"))
                .isEqualTo(1);
        instance.retryAll();
        assertThat(calls).containsExactly("oneStrict:a");
    }

    /** Three attempts are configured. */
    @Test
    void aParkedEventMayBeWantedLaterAnyNumberOfTimes() throws SQLException {
        instance.receive(record(0, "v1", "a", "k", "a later PT1H"), record(1, "v1", "b", "k", "b"));
        for (int i = 0; i < 5; i++) {
            makeDue();
            instance.retryAll();
        }

        assertThat(parked()).containsExactly("a retry 0", "b behind 0");
        assertThat(calls).containsOnly("oneStrict:a").hasSize(2 + 5);
        assertThat(instance.status.sum(ReceiverStatus.Total.FAILURES)).isZero();
        assertThat(instance.status.sum(ReceiverStatus.Total.RETRIED_LATER)).isEqualTo(6);
    }

    /** Its first failure was another one. */
    @Test
    void aNamedFailureOfARetryEndsTheRetries() throws SQLException {
        instance.receive(record(0, "v1", "a", "k", "a checked"), record(1, "v1", "b", "k", "b"));
        assertThat(parked()).containsExactly("a retry 1", "b behind 0");
        database.execute("update inbox_parked set record_value = 'a fail' where event_id = 'a'");
        makeDue();
        instance.retryAll();

        assertThat(parked()).containsExactly("a dead 2", "b behind 0");
    }

    /** The handler names {@code SQLException}. After many conflicts the event is parked, so that its partition goes on. */
    @Test
    void aConflictIsRepeatedAllTheSame() {
        Batch batch = instance.batch(record(0, "v1", "a", "k", "a sql 40001"));
        Outcome outcome = instance.process(batch);
        assertThat(outcome.next()).isEqualTo(Outcome.Next.WAIT_FOR_EVENT);
        while (outcome.settled() == 0) {
            outcome = instance.process(batch);
        }

        assertThat(parked()).containsExactly("a retry 0");
    }

    /** Two attempts are configured, and three quick tries. The first two calls after the batch fail. */
    @ParameterizedTest
    @EnumSource(
            value = HandoverKind.class,
            names = {"CLEAN", "AFTER_CRASH"})
    void fault119ADelayLeavesAnAttempt(HandoverKind handover) throws SQLException {
        instance = new Instance(
                database, calls, UnknownType.SKIP, Breakers.MOST_WAITING, Instance.parking(3, 2), "one:v1");
        AtomicInteger toFail = new AtomicInteger(handover == HandoverKind.CLEAN ? 3 : 2);
        instance.beforeCall(() -> {
            if (toFail.getAndDecrement() > 0) {
                throw new IllegalStateException("as the test says");
            }
        });
        Batch batch = instance.batch(handover, record(0, "v1", "a", "k", "a later PT1H"));
        while (instance.process(batch).settled() == 0) {
            assertThat(toFail.get()).isNotNegative();
        }
        assertThat(parked()).containsExactly("a retry 1");
        database.execute("update inbox_parked set record_value = 'a'");
        makeDue();
        calls.clear();
        instance.retryAll();

        assertThat(calls).containsExactly("one:a");
        assertThat(parked()).isEmpty();
    }

    /** The handler names {@code SQLException}. A pool that gives up has no state. */
    @ParameterizedTest
    @CsvSource({"a sql, a retry 1", "a sql 08006, a retry 1", "a sql 55P03, a retry 1", "a sql 22001, a dead 1"})
    void fault121NoConnectionSaysNothingAboutTheEvent(String value, String expected) {
        instance.receive(record(0, "v1", "a", "k", value));

        assertThat(parked()).containsExactly(expected);
    }
}
