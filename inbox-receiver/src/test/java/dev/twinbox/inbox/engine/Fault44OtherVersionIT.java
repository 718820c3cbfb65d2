package dev.twinbox.inbox.engine;

import static dev.twinbox.inbox.engine.Instance.record;
import static org.assertj.core.api.Assertions.assertThat;

import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.HandlerTable;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Fault 44: while versions of an application are exchanged, the old instance skipped events of a type that only the new
 * one handles. With {@code unknown-type=park} they were dead and stayed so.
 */
class Fault44OtherVersionIT {

    private static Database database;

    private final List<String> calls = new ArrayList<>();

    @BeforeAll
    static void create() {
        database = new Database("fault44");
    }

    @BeforeEach
    void clear() {
        database.execute("truncate inbox_event, inbox_parked, inbox_handler");
    }

    private Instance old(UnknownType rule) throws SQLException {
        return announced(new Instance(database, calls, rule, "one:v1"));
    }

    private Instance latest() throws SQLException {
        return announced(new Instance(database, calls, UnknownType.SKIP, "one:v1", "two:v2", "repeating:v3"));
    }

    private static Instance announced(Instance instance) throws SQLException {
        instance.announcements.announce();
        return instance;
    }

    @ParameterizedTest
    @EnumSource(UnknownType.class)
    void theOldInstanceParksAndTheNewOneTakesThemInOrder(UnknownType rule) throws SQLException {
        Instance old = old(rule);
        Instance latest = latest();

        old.receive(
                record(0, "v2", "a", "k", "a"),
                record(1, "v1", "b", "k", "b"),
                record(2, "v2", "c", "k", "c"),
                record(3, "v2", "d", null, "d"),
                record(4, "v3", "e", "k", "e"));
        latest.receive(record(5, "v2", "f", "k", "f"));
        old.retryAll();
        assertThat(calls).as("what the old one can do").containsExactly("one:b");
        assertThat(database.count("inbox_parked where state in ('retry', 'behind') and handler is not null"))
                .isEqualTo(5);

        latest.retryAll();

        assertThat(calls)
                .contains("two:d", "repeating:e")
                .containsSubsequence("two:a", "two:c", "two:f")
                .hasSize(6);
        assertThat(database.count("inbox_parked")).isZero();
        assertThat(old.status.sum(ReceiverStatus.Total.SKIPPED)).isZero();
        assertThat(old.status.sum(ReceiverStatus.Total.PARKED)).isEqualTo(4);
    }

    /** It was handled by the new instance, whose offset was not committed. Then the old one gets it. */
    @Test
    void whatIsHandledAlreadyIsNotParked() throws SQLException {
        Instance old = old(UnknownType.SKIP);
        latest().receive(record(0, "v2", "a", "k", "a"));

        old.receive(record(0, "v2", "a", "k", "a"));

        assertThat(database.count("inbox_parked")).isZero();
        assertThat(calls).containsExactly("two:a");
    }

    /** The same name with another type: the old instance must leave alone what it cannot handle. */
    @Test
    void aHandlerWhoseTypeChangesIsTakenByTheVersionOfThatType() throws SQLException {
        Instance old = announced(new Instance(database, calls, UnknownType.SKIP, "h:v1"));
        Instance latest = announced(new Instance(database, calls, UnknownType.SKIP, "h:v2"));

        old.receive(record(0, "v2", "a", "k", "a"));
        old.retryAll();
        latest.receive(record(1, "v1", "b", "k2", "b"));
        latest.retryAll();
        old.retryAll();

        assertThat(calls).containsExactly("h:a", "h:b");
        assertThat(database.count("inbox_parked")).isZero();
    }

    /** The new version knows the old type by an alias, so one handler takes both. */
    @Test
    void aRenamedTypeKeepsTheOrderOfItsKeyWhenOneBatchHasBothNames() throws SQLException {
        Instance old = announced(new Instance(database, calls, UnknownType.SKIP, "h:v1"));
        Instance latest = announced(new Instance(database, calls, UnknownType.SKIP, "h:v2"));

        old.receive(record(0, "v1", "a", "k", "a"), record(1, "v2", "b", "k", "b"), record(2, "v1", "c", "k", "c"));
        latest.retryAll();
        old.retryAll();

        assertThat(calls).containsExactly("h:a", "h:b", "h:c");
        assertThat(database.count("inbox_parked")).isZero();
    }

    @Test
    void aTypeThatNobodyHandlesIsSkippedAndOneOfAnAtMostOnceHandlerIsNeverParked() throws SQLException {
        Instance old = old(UnknownType.SKIP);
        announced(new Instance(database, calls, UnknownType.SKIP, "lossy:signal"));

        old.receive(record(0, "foreign", "a", "k", "a"), record(1, "signal", "b", "k", "b"));

        assertThat(database.count("inbox_parked")).isZero();
        assertThat(old.status.sum(ReceiverStatus.Total.SKIPPED)).isEqualTo(1);
    }

    /** An event that was parked as unknown, and is retried before the new version runs everywhere. */
    @Test
    void whatWasParkedAsUnknownGetsTheNameOfItsHandler() throws SQLException {
        Instance old = old(UnknownType.PARK);
        old.receive(record(0, "v2", "a", "k", "a"));
        assertThat(database.texts("select state from inbox_parked")).containsExactly("dead");

        Instance latest = latest();
        database.execute("update inbox_parked set state = 'retry', attempts = 0, next_try_at = clock_timestamp()");
        old.retryAll();
        assertThat(database.texts("select state || handler from inbox_parked")).containsExactly("retrytwo");
        latest.retryAll();

        assertThat(calls).containsExactly("two:a");
        assertThat(database.count("inbox_parked")).isZero();
    }

    @Test
    void whatWaitsIsBoundedAndThenThePartitionIsHeldUntilThereIsRoom() throws SQLException {
        Instance old = announced(new Instance(database, calls, UnknownType.SKIP, 2, "one:v1"));
        Instance latest = latest();

        Outcome outcome = old.receive(
                record(0, "v2", "a", "k", "a"),
                record(1, "v2", "b", "k", "b"),
                record(2, "v1", "c", "k", "c"),
                record(3, "v2", "d", "k", "d"),
                record(4, "v1", "e", "k", "e"));

        assertThat(outcome.next()).isEqualTo(Outcome.Next.HOLD);
        assertThat(outcome.cause()).hasMessageContaining("2 events wait for handler two");
        assertThat(calls).containsExactly("one:c");

        latest.retryAll();
        assertThat(old.receive(record(3, "v2", "d", "k", "d"), record(4, "v1", "e", "k", "e"))
                        .next())
                .isEqualTo(Outcome.Next.GO_ON);
        latest.retryAll();
        assertThat(calls).containsExactly("one:c", "two:a", "two:b", "one:e", "two:d");
    }

    @Test
    void aRowStaysUntilItIsRetiredOrWasNotSeenForTheRetention() throws SQLException {
        Instance old = old(UnknownType.SKIP);
        latest();
        HandlerTable table = HandlerTable.of(Instance.INBOX);
        database.execute("update inbox_handler set seen_at = clock_timestamp() - interval '14 days'");
        old.retryAll();
        assertThat(database.count("inbox_handler")).as("still there").isEqualTo(3);

        try (Connection connection = database.connect()) {
            table.deleteOld(connection, Instance.GROUP, Duration.ofDays(13));
            assertThat(table.list(connection, null))
                    .extracting(row -> row.handler().handler())
                    .as("the old instance runs")
                    .containsExactly("one");
            latest();
            assertThat(table.retire(connection, "two", null, null, null)).isEqualTo(1);
        }
        old.receive(record(0, "v2", "a", "k", "a"));
        assertThat(old.status.sum(ReceiverStatus.Total.SKIPPED)).isEqualTo(1);
        assertThat(database.count("inbox_parked")).isZero();
    }
}
