package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Instance.record;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.ParkedRows;
import dev.twinbox.inbox.jdbc.PausedTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A handler that an operator has paused, on a real database. {@code PausedIT} has a server. */
class PausedHandlerIT {

    private static final Duration LONGEST_WAIT_FOR_A_PROBE = Duration.ofSeconds(30);

    private static Database database;

    private final List<String> calls = new ArrayList<>();

    @BeforeAll
    static void create() {
        database = new Database("paused_handler");
    }

    @BeforeEach
    void clear() {
        database.execute("truncate inbox_event, inbox_parked, inbox_handler, inbox_paused");
    }

    private Instance instance(String... handlers) throws SQLException {
        return instance(100, handlers);
    }

    private Instance instance(int mostWaiting, String... handlers) throws SQLException {
        Instance instance = new Instance(database, calls, UnknownType.SKIP, mostWaiting, handlers);
        instance.announcements.announce();
        instance.pauses.begin();
        return instance;
    }

    private static void pause(PausedTable.Kind kind, String name, Instance... instances) throws SQLException {
        try (Connection connection = database.connect()) {
            PausedTable.of(Instance.INBOX).pause(connection, Instance.GROUP, kind, name);
        }
        refresh(instances);
    }

    private static void resume(PausedTable.Kind kind, String name, Instance... instances) throws SQLException {
        try (Connection connection = database.connect()) {
            PausedTable.of(Instance.INBOX).resume(connection, null, kind, name);
        }
        refresh(instances);
    }

    private static void refresh(Instance... instances) {
        for (Instance instance : instances) {
            instance.pauses.refresh();
        }
    }

    private static List<String> parked() {
        return database.texts("select event_id || ' ' || handler || ' ' || state || ' ' || attempts from inbox_parked "
                + "order by number");
    }

    @Test
    void eventsAreParkedInOrderWithTheCauseWhileOtherHandlersGoOnAndFollowOnResume() throws SQLException {
        Instance instance = instance("a:v1", "repeating:v2", "other:v1");
        pause(PausedTable.Kind.HANDLER, "a", instance);
        pause(PausedTable.Kind.HANDLER, "repeating", instance);

        instance.receive(
                record(1, "v1", "n1", "k", "n1"),
                record(2, "v1", "n2", "k", "n2"),
                record(3, "v1", "n3", null, "n3"),
                record(4, "v2", "n4", "k", "n4"));
        instance.retryAll();

        assertThat(calls).containsExactly("other:n1", "other:n2", "other:n3");
        assertThat(parked()).containsExactly("n1 a retry 0", "n2 a behind 0", "n3 a retry 0", "n4 repeating retry 0");
        assertThat(database.texts("select distinct error from inbox_parked where handler = 'a'"))
                .containsExactly("paused: an operator has paused handler a");
        assertThat(database.count("inbox_parked where failed_at is not null")).isZero();
        assertThat(database.count("inbox_event where handler = 'a'")).isZero();
        assertThat(instance.status.notes()).containsOnlyKeys("pause of handler a", "pause of handler repeating");
        assertThat(instance.status.troubles()).isEmpty();

        calls.clear();
        resume(PausedTable.Kind.HANDLER, "a", instance);
        instance.receive(record(5, "v1", "n5", "k", "n5"));
        instance.retryAll();

        assertThat(calls)
                .containsExactlyInAnyOrder("other:n5", "a:n1", "a:n2", "a:n3", "a:n5")
                .containsSubsequence("a:n1", "a:n2", "a:n5");
        assertThat(parked()).containsExactly("n4 repeating retry 0");
        assertThat(database.count("inbox_event where handler = 'a'")).isEqualTo(4);
        assertThat(instance.status.notes()).containsOnlyKeys("pause of handler repeating");
    }

    /** What the batch has claimed for the handler is given back, and parked when it is handed out again. */
    @Test
    void aPauseDuringABatchLosesNothingAndKeepsTheOrderAlsoEventByEvent() throws SQLException {
        for (String first : List.of("n1", "n1 fail")) {
            database.execute("truncate inbox_event, inbox_parked, inbox_paused");
            calls.clear();
            Instance instance = instance("a:v1", "b:v1");
            var records = List.of(
                    record(1, "v1", "n1", "k", first),
                    record(2, "v1", "n2", "k", "n2"),
                    record(3, "v1", "n3", "k", "n3"));
            Batch batch = instance.batch(records.get(0), records.get(1), records.get(2));
            instance.beforeCall(() -> pauseOnce(instance, batch));
            int settled = instance.process(batch).settled();
            assertThat(settled).isLessThan(3);
            instance.receive(records.subList(settled, 3));
            instance.retryAll();
            assertThat(calls).contains("b:n2", "b:n3").doesNotContain("a:n2", "a:n3");

            database.execute("update inbox_parked set record_value = 'n1' where record_offset = 1");
            resume(PausedTable.Kind.HANDLER, "a", instance);
            instance.receive(records); // as after a crash before the commit of the offset
            instance.retryAll();
            assertThat(effects()).containsExactly("a n1", "a n2", "a n3", "b n1", "b n2", "b n3");
            assertThat(parked()).isEmpty();
            assertThat(calls).containsSubsequence("a:n1", "a:n2", "a:n3").containsSubsequence("b:n1", "b:n2", "b:n3");
            assertThat(calls.stream().filter("a:n3"::equals)).hasSize(1);
        }
    }

    private static void pauseOnce(Instance instance, Batch batch) {
        if (!batch.isCutShort()) {
            try {
                pause(PausedTable.Kind.HANDLER, "a", instance);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
            batch.cutShort();
        }
    }

    private static List<String> effects() {
        return database.texts("select handler || ' ' || event_id from inbox_event order by 1");
    }

    /** A call that has begun goes on. What comes after it in its key waits. */
    @Test
    void aPauseDuringARetryEndsAfterItsEvent() throws SQLException {
        Instance instance = instance("a:v1");
        pause(PausedTable.Kind.HANDLER, "a", instance);
        instance.receive(record(1, "v1", "n1", "k", "n1"), record(2, "v1", "n2", "k", "n2"));
        resume(PausedTable.Kind.HANDLER, "a", instance);
        Batch none = instance.batch(record(9, "v1", "n9", "k", "n9"));
        instance.beforeCall(() -> pauseOnce(instance, none));

        instance.retryAll();
        instance.receive(record(3, "v1", "n3", "k", "n3"));
        instance.retryAll();
        assertThat(calls).containsExactly("a:n1");
        assertThat(parked()).containsExactly("n2 a retry 0", "n3 a behind 0");

        resume(PausedTable.Kind.HANDLER, "a", instance);
        instance.retryAll();
        assertThat(calls).containsExactly("a:n1", "a:n2", "a:n3");
    }

    /** They keep their attempts, and an operator may retry and discard them. */
    @Test
    void whatIsParkedAlreadyIsNotRetriedUntilTheHandlerIsResumed() throws SQLException {
        Instance instance = instance("a:v1");
        instance.receive(record(1, "v1", "n1", "k", "n1 fail"), record(2, "v1", "n2", "k", "n2"));
        assertThat(parked()).containsExactly("n1 a retry 1", "n2 a behind 0");
        pause(PausedTable.Kind.HANDLER, "a", instance);
        calls.clear();

        instance.retryAll();
        ParkedRows rows = new ParkedRows(Instance.INBOX, Instance.PARKED);
        long first = Long.parseLong(
                database.texts("select min(number) from inbox_parked").get(0));
        try (Connection connection = database.connect()) {
            assertThat(rows.retry(connection, first)).isTrue();
            instance.retryAll();
            assertThat(parked()).containsExactly("n1 a retry 0", "n2 a behind 0");
            rows.promote(
                    connection,
                    Objects.requireNonNull(rows.discard(connection, first).key()));
        }
        instance.retryAll();
        instance.receive(record(1, "v1", "n1", "k", "n1"));
        assertThat(calls).isEmpty();
        assertThat(parked()).containsExactly("n2 a retry 0");

        resume(PausedTable.Kind.HANDLER, "a", instance);
        instance.retryAll();
        assertThat(calls).containsExactly("a:n2");
        assertThat(parked()).isEmpty();
    }

    @Test
    void aPausedTopicIsNotRetriedEither() throws SQLException {
        Instance instance = instance("a:v1");
        instance.receive(record(1, "v1", "n1", "k", "n1 fail"));
        database.execute("insert into inbox_parked (consumer_group, claims, state, topic, partition, record_offset, "
                + "record_value, header_names, header_values, attempts, next_try_at) select consumer_group, false, state, "
                + "topic, partition, 7, 'n2', header_names, "
                + "array['v1'::bytea, 'n2'::bytea], 1, next_try_at from inbox_parked");
        pause(PausedTable.Kind.TOPIC, Instance.TOPIC, instance);
        calls.clear();

        for (int i = 0; i < 3; i++) {
            instance.retryOne();
        }
        assertThat(calls).isEmpty();
        assertThat(database.texts("select attempts from inbox_parked")).containsExactly("1", "1");

        database.execute("update inbox_parked set record_value = 'n1' where handler is not null");
        resume(PausedTable.Kind.TOPIC, Instance.TOPIC, instance);
        instance.retryAll();
        assertThat(calls).containsExactlyInAnyOrder("a:n1", "a:n2");
        assertThat(parked()).isEmpty();
    }

    /** A redelivery changes nothing, and a start after a crash is not counted. */
    @Test
    void redeliveriesAndStartsAfterACrashAreParkedOnce() throws SQLException {
        Instance before = instance("a:v1");
        before.receive(record(1, "v1", "done", "x", "done"));
        calls.clear();
        pause(PausedTable.Kind.HANDLER, "a");
        Instance instance = instance("a:v1");

        instance.receive(record(1, "v1", "done", "x", "done"), record(2, "v1", "n1", "k", "n1"));
        instance.receiveAfterCrash(record(2, "v1", "n1", "k", "n1"), record(3, "v1", "n2", "k", "n2"));
        instance.receive(record(3, "v1", "n2", "k", "n2"), record(3, "v1", "n2", "k", "n2"));

        assertThat(calls).isEmpty();
        assertThat(parked()).containsExactly("n1 a retry 0", "n2 a behind 0");
    }

    /** The other one has not read the pause yet: it parks behind what is parked, and loses no order. */
    @Test
    void twoInstancesThatLearnOfItAtDifferentTimesKeepTheOrder() throws SQLException {
        Instance first = instance("a:v1");
        Instance second = instance("a:v1");
        pause(PausedTable.Kind.HANDLER, "a", first);
        first.receive(record(1, "v1", "n1", "k", "n1"));
        second.receive(record(2, "v1", "n2", "k", "n2"), record(3, "v1", "n3", "m", "n3"));
        assertThat(calls).containsExactly("a:n3");
        refresh(second);
        second.retryAll();
        assertThat(calls).containsExactly("a:n3");

        resume(PausedTable.Kind.HANDLER, "a", second);
        first.receive(record(4, "v1", "n4", "k", "n4"));
        second.retryAll();
        assertThat(calls).containsExactly("a:n3", "a:n1", "a:n2", "a:n4");
    }

    @Test
    void thePartitionIsHeldWhenTooManyWait() throws SQLException {
        Instance instance = instance(2, "a:v1");
        pause(PausedTable.Kind.HANDLER, "a", instance);

        instance.receive(record(1, "v1", "n1", "k", "n1"), record(2, "v1", "n2", "k", "n2"));
        Outcome outcome = instance.receive(record(3, "v1", "n3", "k", "n3"));

        assertThat(outcome.next()).isEqualTo(Outcome.Next.HOLD);
        assertThat(outcome.cause())
                .hasMessage("2 events wait for handler a, which an operator has paused, so the partition waits too. "
                        + "Resume it: twinbox-inbox-cli.jar resume --handler a");
        assertThat(parked()).hasSize(2);

        resume(PausedTable.Kind.HANDLER, "a", instance);
        assertThat(instance.receive(record(3, "v1", "n3", "k", "n3")).next()).isEqualTo(Outcome.Next.GO_ON);
        instance.retryAll();
        assertThat(calls).containsExactly("a:n1", "a:n2", "a:n3");
    }

    /** Its own probes would call it. */
    @Test
    void aPausedHandlerIsNotProbedWhileItsBreakerIsOpen() throws SQLException {
        Instance instance = instance("aBreaking:v1");
        for (int i = 0; i < Breaker.FEWEST_CALLS; i++) {
            instance.receive(record(i, "v1", "e" + i, "k" + i, "e" + i + " checked"));
        }
        assertThat(instance.status.openBreakers()).isEqualTo(1);
        pause(PausedTable.Kind.HANDLER, "aBreaking", instance);
        calls.clear();

        instance.nanos.addAndGet(LONGEST_WAIT_FOR_A_PROBE.toNanos());
        instance.retryAll();
        assertThat(calls).isEmpty();
        instance.receive(record(50, "v1", "n1", "k", "n1"));
        assertThat(parked()).contains("n1 aBreaking retry 0");

        resume(PausedTable.Kind.HANDLER, "aBreaking", instance);
        instance.retryAll();
        assertThat(calls).as("the probe that was due").hasSize(1);
    }

    @Test
    void whatWasReadLastHoldsWhileTheTableCannotBeReadAndItIsSaid() throws SQLException {
        Instance instance = instance("a:v1");
        pause(PausedTable.Kind.HANDLER, "a", instance);
        database.execute("alter table inbox_paused rename to away");
        try {
            refresh(instance);
            assertThat(instance.status.notes().get("paused topics and handlers"))
                    .startsWith("cannot be read, so what was read last holds: topics [], handlers [a]. Cause: ")
                    .contains("inbox_paused");
            instance.receive(record(1, "v1", "n1", "k", "n1"));
            assertThat(calls).isEmpty();
        } finally {
            database.execute("alter table away rename to inbox_paused");
        }
        refresh(instance);
        assertThat(instance.status.notes()).containsOnlyKeys("pause of handler a");
    }

    /** A hidden row would be a pause that is not obeyed. */
    @Test
    void aPolicyThatHidesRowsIsAFailure() throws SQLException {
        database.execute("create role sees_nothing");
        database.execute("grant select on inbox_paused to sees_nothing");
        database.execute("alter table inbox_paused enable row level security");
        pause(PausedTable.Kind.HANDLER, "a");
        try (Connection connection = database.connect();
                var statement = connection.createStatement()) {
            statement.execute("set role sees_nothing");
            assertThatThrownBy(() -> PausedTable.of(Instance.INBOX).read(connection, Instance.GROUP))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("row-level security");
        } finally {
            database.execute("alter table inbox_paused disable row level security");
        }
    }

    @Test
    void tablesOfTheVersionBeforeKnowNoPausesAndAreMigratedWhileTheReceiverRuns() throws SQLException {
        database.execute("alter table inbox_paused rename to away");
        Instance instance = instance("a:v1");
        try {
            refresh(instance);
            instance.receive(record(1, "v1", "n1", "k", "n1"));
            assertThat(calls).containsExactly("a:n1");
            assertThat(instance.status.notes()).isEmpty();
        } finally {
            database.execute("alter table away rename to inbox_paused");
        }
        pause(PausedTable.Kind.HANDLER, "a", instance);
        instance.receive(record(2, "v1", "n2", "k", "n2"));
        assertThat(calls).containsExactly("a:n1");
    }
}
