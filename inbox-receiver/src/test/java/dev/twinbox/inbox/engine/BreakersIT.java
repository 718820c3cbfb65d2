package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Instance.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.event.UnknownType;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The circuit breaker of a handler, on a real database. {@code CircuitBreakerIT} has a server. */
class BreakersIT {

    private static final int CALLS_OF_AN_EVENT = 2; // in the batch and alone
    private static final String LONGEST_WAIT = "PT30S"; // for a probe

    private static Database database;

    private final List<String> calls = new CopyOnWriteArrayList<>();

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
        open(instance);
        return instance;
    }

    private void open(Instance instance) {
        for (int i = 0; i * CALLS_OF_AN_EVENT < Breaker.FEWEST_CALLS; i++) {
            instance.receive(record(i, "v1", "e" + i, "k" + i, "e" + i + " checked"));
        }
        assertThat(instance.status.openBreakers()).isEqualTo(1);
        calls.clear();
    }

    /** Time passes for the breakers. */
    private static void pass(Instance instance, String time) {
        instance.nanos.addAndGet(Duration.parse(time).toNanos());
    }

    /** Retries what is due, and makes the probe that is. */
    private static void passAndRetry(Instance instance, String time) throws SQLException {
        pass(instance, time);
        instance.retryAll();
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

        for (int i = 0; i < 3; i++) {
            passAndRetry(instance, LONGEST_WAIT);
        }
        assertThat(calls).hasSize(3).doesNotHaveDuplicates();
        assertThat(parked("%")).isEqualTo(before);
        assertThat(before).contains("e0 aBreaking retry 1", "n1 aBreaking behind 0");

        database.execute("update inbox_parked set record_value = convert_to(event_id, 'UTF8')");
        calls.clear();
        pass(instance, LONGEST_WAIT);
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

        passAndRetry(instance, LONGEST_WAIT);
        assertThat(calls).hasSize(1);
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

    @Test
    void deadEventsTakeNoRoom() throws SQLException {
        Instance instance = withOpenBreaker(10, "aBreaking:v1");
        database.execute("update inbox_parked set state = 'dead', next_try_at = null where event_id = 'e0'");

        assertThat(instance.receive(record(50, "v1", "n1", "k", "n1")).next()).isEqualTo(Outcome.Next.GO_ON);
        assertThat(instance.receive(record(51, "v1", "n2", "k", "n2")).next()).isEqualTo(Outcome.Next.HOLD);
    }

    /** A thread that retries, and whose handler returns when the test says so, whatever interrupts it. */
    private static final class SlowRetry implements AutoCloseable {
        private final CountDownLatch called = new CountDownLatch(1);
        private final CountDownLatch mayReturn = new CountDownLatch(1);
        private final FutureTask<Void> retry;

        SlowRetry(Instance instance) throws InterruptedException {
            instance.beforeCall(this::call);
            retry = new FutureTask<>(() -> {
                instance.retryAll();
                return null;
            });
            Thread thread = new Thread(retry, "slow retry");
            thread.setDaemon(true);
            thread.start();
            assertThat(called.await(30, TimeUnit.SECONDS)).isTrue();
            instance.beforeCall(() -> {});
        }

        private void call() {
            called.countDown();
            while (true) {
                try {
                    mayReturn.await();
                    return;
                } catch (InterruptedException e) {
                    // It does not listen.
                }
            }
        }

        void finish() throws Exception {
            mayReturn.countDown();
            retry.get(30, TimeUnit.SECONDS);
        }

        @Override
        public void close() {
            mayReturn.countDown();
        }
    }

    @Test
    void fault117TheNextProbeBeginsAWhileAfterTheEndOfTheLastOne() throws Exception {
        Instance instance = withOpenBreaker(100, "aBreaking:v1");
        pass(instance, "PT1S");
        try (SlowRetry slow = new SlowRetry(instance)) {
            passAndRetry(instance, "PT1M");
            assertThat(calls).as("calls beside the probe that is on its way").isEmpty();
            slow.finish();
        }
        assertThat(calls).hasSize(1);

        passAndRetry(instance, "PT1.9S");
        assertThat(calls).hasSize(1);
        passAndRetry(instance, "PT0.1S");
        assertThat(calls).hasSize(2);
    }

    /** Its thread does not come back, or comes back later. */
    @Test
    void fault117AProbeThatHangsEndsWhenItIsAbandoned() throws Exception {
        Instance instance = withOpenBreaker(100, "aBreaking:v1");
        database.execute("update inbox_parked set record_value = convert_to(event_id, 'UTF8')");
        pass(instance, "PT1S");
        try (SlowRetry hanging = new SlowRetry(instance)) {
            instance.interruptCalls();
            passAndRetry(instance, "PT1M");
            assertThat(calls).isEmpty();
            instance.abandonCalls();
            passAndRetry(instance, "PT1.9S");
            assertThat(calls).isEmpty();

            hanging.finish();
        }
        assertThat(calls).hasSize(1);
        assertThat(instance.status.openBreakers()).isEqualTo(1);
        assertThat(database.count("inbox_parked")).isEqualTo(10);
        passAndRetry(instance, "PT0.1S");
        assertThat(instance.status.openBreakers()).isZero();
    }

    @Test
    void fault117AProbeThatFailsBeforeTheCallCounts() throws SQLException {
        Instance instance = withOpenBreaker(100, "aBreaking:v1");
        database.execute("alter table inbox_event rename to inbox_event_away");
        try {
            assertThatThrownBy(() -> passAndRetry(instance, "PT1S")).isInstanceOf(SQLException.class);
        } finally {
            database.execute("alter table inbox_event_away rename to inbox_event");
        }

        passAndRetry(instance, "PT1.9S");
        assertThat(calls).isEmpty();
        passAndRetry(instance, "PT0.1S");
        assertThat(calls).hasSize(1);
    }

    @Test
    void fault117AProbeThatFindsNothingCounts() throws SQLException {
        Instance instance = withOpenBreaker(100, "aBreaking:v1");
        database.execute("update inbox_parked set next_try_at = clock_timestamp() + interval '1 hour'");
        passAndRetry(instance, "PT1S");
        database.execute("update inbox_parked set next_try_at = clock_timestamp()");

        passAndRetry(instance, "PT1.9S");
        assertThat(calls).isEmpty();
        passAndRetry(instance, "PT0.1S");
        assertThat(calls).hasSize(1);
    }

    /** It says nothing about what the handler needs now. */
    @Test
    void fault117ARetryThatBeganBeforeDoesNotCloseIt() throws Exception {
        Instance instance = new Instance(database, calls, UnknownType.SKIP, 100, "aBreaking:v1");
        instance.announcements.announce();
        instance.receive(record(40, "v1", "p", "p", "p fail"));
        database.execute("update inbox_parked set record_value = 'p'");
        try (SlowRetry before = new SlowRetry(instance)) {
            open(instance);
            before.finish();
        }

        assertThat(calls).containsExactly("aBreaking:p");
        assertThat(parked("p")).isEmpty();
        assertThat(instance.status.openBreakers()).isEqualTo(1);
    }

    @Test
    void fault118WhatIsNotRetriedDoesNotOpenIt() throws SQLException {
        Instance instance = new Instance(database, calls, UnknownType.SKIP, 100, "aBreaking:v1");
        instance.announcements.announce();
        for (int i = 0; i < Breaker.FEWEST_CALLS; i++) {
            instance.receive(record(i, "v1", "e" + i, "k" + i, "e" + i + " missing"));
        }

        assertThat(parked("e%")).hasSize(Breaker.FEWEST_CALLS).allMatch(each -> each.endsWith(" dead 1"));
        assertThat(instance.status.openBreakers()).isZero();
    }

    /** It was started before, twice. Without the mend it is dead at the second time, and a new one at the fourth. */
    @ParameterizedTest
    @ValueSource(ints = {0, 2})
    void fault120AnEventThatWaitsForRoomIsNotStarted(int startsBefore) throws SQLException {
        Instance instance = withOpenBreaker(10, "aBreaking:v1");
        if (startsBefore > 0) {
            database.execute("""
                    insert into inbox_parked (consumer_group, handler, event_id, event_type, claims, event_source, state,
                                              topic, partition, record_offset, header_names, header_values, attempts)
                    select consumer_group, handler, 'n1', event_type, claims, event_source, 'begun', topic, partition,
                           50, header_names, header_values, %d
                      from inbox_parked where event_id = 'e0'""".formatted(startsBefore));
        }
        List<String> before = parked("n1");

        for (int kills = 0; kills < 5; kills++) {
            assertThat(instance.receiveAfterCrash(record(50, "v1", "n1", "k", "n1"))
                            .next())
                    .isEqualTo(Outcome.Next.HOLD);
            assertThat(parked("n1")).isEqualTo(before);
        }
        database.execute("delete from inbox_parked where event_id = 'e0'");
        instance.receiveAfterCrash(record(50, "v1", "n1", "k", "n1"));
        assertThat(parked("n1")).containsExactly("n1 aBreaking retry 0");
    }

    /** Interrupted, it throws what the handler names. That says nothing about what the handler needs. */
    @Test
    void aCallThatTakesTooLongDoesNotOpenIt() throws SQLException {
        Instance instance = new Instance(database, calls, UnknownType.SKIP, 100, "aBreaking:v1");
        instance.announcements.announce();
        instance.beforeCall(instance::interruptCalls);
        for (int i = 0; i < Breaker.FEWEST_CALLS; i++) {
            instance.receive(record(i, "v1", "e" + i, "k" + i, "e" + i + " checked"));
        }

        assertThat(calls).hasSize(Breaker.FEWEST_CALLS);
        assertThat(instance.status.openBreakers()).isZero();
    }

    @Test
    void itIsWornOutUntilACallIsCommitted() throws SQLException {
        Instance instance = withOpenBreaker(100, "aBreaking:v1");
        pass(instance, "PT10M");
        instance.receive(record(50, "v1", "n1", "k50", "n1 fail"));
        assertThat(instance.status.notes()).isNotEmpty();
        database.execute("""
                create function refuse() returns trigger language plpgsql as
                $$ begin raise exception 'as the test says'; end $$""");
        database.execute("""
                create constraint trigger refuse after insert on inbox_event deferrable initially deferred
                for each row execute function refuse()""");
        try {
            instance.receive(record(51, "v1", "n2", "k51", "n2")); // cannot be parked either
        } finally {
            database.execute("drop function refuse cascade");
        }
        assertThat(instance.status.notes()).isNotEmpty();

        instance.receive(record(52, "v1", "n3", "k52", "n3"));
        assertThat(instance.status.notes()).isEmpty();
        assertThat(calls).endsWith("aBreaking:n2", "aBreaking:n3");
    }
}
