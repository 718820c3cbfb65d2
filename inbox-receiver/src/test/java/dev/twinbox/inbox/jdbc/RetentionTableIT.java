package dev.twinbox.inbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.DeliveryContract;
import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.ExplainedPlan;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.InboxTable.Expired;
import dev.twinbox.inbox.jdbc.RetentionTable.Progress;
import dev.twinbox.jdbc.SqlIdentifier;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The statements that delete old inbox rows, on a real database. */
class RetentionTableIT {

    private static final String GROUP = "g";
    private static final Duration KEEP = Duration.ofHours(1);
    private static final Duration DAY = Duration.ofDays(1);
    private static final SqlIdentifier INBOX = new SqlIdentifier(null, "inbox_event");

    private static Database database;

    private final InboxTable inbox = new InboxTable(INBOX, new SqlIdentifier(null, "inbox_parked"));
    private final RetentionTable retention = RetentionTable.of(INBOX);
    private Connection connection;

    @BeforeAll
    static void create() {
        database = new Database("retention_table");
    }

    @BeforeEach
    void connect() throws SQLException {
        database.execute("truncate inbox_event, inbox_parked, inbox_event_retention");
        connection = database.connect();
        retention.ensure(connection, GROUP);
        connection.setAutoCommit(false);
    }

    @AfterEach
    void disconnect() throws SQLException {
        connection.close();
    }

    @Test
    void whatHasHadItsRetentionGoesInOrderOfHandlingAndNothingElse() throws SQLException {
        handled("old", 3, "2 hours");
        handled("new", 3, "30 minutes");
        database.execute("insert into inbox_event select 'other', handler, event_id, handled_at from inbox_event");

        Expired expired = inbox.deleteExpired(connection, GROUP, Instant.EPOCH, until(), 2);
        connection.commit();

        assertThat(expired.deleted()).isEqualTo(2);
        assertThat(expired.isFull()).isTrue();
        assertThat(left()).containsExactly("new-1", "new-2", "new-3", "old-3");
        expired = inbox.deleteExpired(connection, GROUP, expired.to(), until(), 2);
        connection.commit();
        assertThat(expired.isFull()).isFalse();
        assertThat(left()).containsExactly("new-1", "new-2", "new-3");
        assertThat(database.count("inbox_event where consumer_group = 'other'")).isEqualTo(6);
    }

    @Test
    void aClaimOfTheSameEventsDoesNotWaitForTheDeletion() throws SQLException {
        handled("e", 100, "2 hours");
        assertThat(inbox.deleteExpired(connection, GROUP, Instant.EPOCH, until(), 1000)
                        .deleted())
                .isEqualTo(100);

        try (Connection claiming = database.connect()) {
            claiming.createStatement().execute("set statement_timeout = '10s'");
            // The inbox knows it until the deletion is committed.
            assertThat(claim(claiming, ids("e", 100))).isEmpty();
            connection.commit();
            assertThat(claim(claiming, ids("e", 100))).hasSize(100);
        }
    }

    @Test
    void aRowThatSomebodyHasLockedHoldsUpTheDeletionForAMomentAndClaimsNotAtAll() throws SQLException {
        handled("e", 10, "2 hours");
        try (Connection locking = database.connect();
                Connection claiming = database.connect()) {
            locking.setAutoCommit(false);
            locking.createStatement().execute("select from inbox_event where event_id = 'e-5' for update");
            claiming.createStatement().execute("set statement_timeout = '10s'");
            connection.createStatement().execute("set statement_timeout = '10s'");
            retention.lock(connection, GROUP, KEEP, DAY);

            assertThatThrownBy(() -> inbox.deleteExpired(connection, GROUP, Instant.EPOCH, until(), 1000))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("lock timeout");
            assertThat(claim(claiming, ids("e", 10))).isEmpty();
            locking.rollback();
        }
        connection.rollback();
        assertThat(inbox.deleteExpired(connection, GROUP, Instant.EPOCH, until(), 1000)
                        .deleted())
                .isEqualTo(10);
    }

    /**
     * One instance may have parked an event that another one has handled. A retry by an operator must find that,
     * however late.
     */
    @Test
    void theRowOfAnEventThatIsParkedSurvives() throws SQLException {
        handled("e", 3, "2 hours");
        database.execute("""
                insert into inbox_parked (consumer_group, handler, event_id, claims, state, topic, partition,
                                          record_offset, header_names, header_values, attempts)
                select 'g', 'h', 'e-' || i, true, case i when 1 then 'begun' else 'dead' end, 't', 0, i, '{}', '{}', 3
                  from generate_series(1, 2) i""");

        Expired expired = inbox.deleteExpired(connection, GROUP, Instant.EPOCH, until(), 1000);
        connection.commit();

        assertThat(expired.deleted()).isEqualTo(2);
        assertThat(left()).containsExactly("e-2");
        // The event was settled in the meantime, so its row goes with the next sweep.
        database.execute("delete from inbox_parked");
        assertThat(inbox.deleteExpired(connection, GROUP, Instant.EPOCH, until(), 1000)
                        .deleted())
                .isEqualTo(1);
    }

    @Test
    void aBatchOfWhichAllStaysIsNotMetAgain() throws SQLException {
        database.execute("insert into inbox_event select 'g', 'h', 'same-' || i, now() - interval '2 hours' "
                + "from generate_series(1, 10) i");
        database.execute("""
                insert into inbox_parked (consumer_group, handler, event_id, claims, state, topic, partition,
                                          record_offset, header_names, header_values, attempts)
                select 'g', 'h', 'same-' || i, true, 'dead', 't', 0, i, '{}', '{}', 3 from generate_series(1, 10) i""");
        handled("later", 1, "90 minutes");

        Expired expired = inbox.deleteExpired(connection, GROUP, Instant.EPOCH, until(), 5);
        assertThat(expired.isFull()).isTrue();

        assertThat(inbox.deleteExpired(connection, GROUP, expired.to(), until(), 5)
                        .deleted())
                .isEqualTo(1);
    }

    @Test
    void oneInstanceHasTheTurnAndTheOthersDoNotWaitForIt() throws SQLException {
        try (Connection other = database.connect()) {
            other.setAutoCommit(false);
            Progress mine = retention.lock(connection, GROUP, KEEP, DAY);
            assertThat(mine).isNotNull();
            assertThat(mine.doneTo()).isEqualTo(Instant.EPOCH);
            assertThat(mine.isSweepDue()).isFalse();
            assertThat(Duration.between(mine.until(), Instant.now()))
                    .isBetween(KEEP.minusMinutes(1), KEEP.plusMinutes(1));

            assertThat(retention.lock(other, GROUP, KEEP, DAY)).isNull();
            retention.save(connection, GROUP, mine.until());
            connection.commit();

            Progress theirs = retention.lock(other, GROUP, KEEP, Duration.ZERO);
            assertThat(theirs).isNotNull();
            assertThat(theirs.doneTo()).isEqualTo(mine.until());
            assertThat(theirs.sweptAt()).isEqualTo(mine.sweptAt());
            assertThat(theirs.isSweepDue()).isTrue();
            assertThat(retention.saveSweep(other, GROUP, Instant.EPOCH)).isAfter(mine.sweptAt());
            other.rollback();
        }
    }

    /**
     * Guarantee G7: the cost of a batch does not depend on how much was deleted before, also while that cannot be
     * vacuumed.
     */
    @Test
    void batchesStayFlatUnderAHeldXmin() throws SQLException {
        handled("old", 100_000, "2 hours");
        try (Connection longTransaction = database.connect()) {
            longTransaction.setAutoCommit(false);
            longTransaction.createStatement().execute("select pg_current_xact_id()");
            retention.lock(connection, GROUP, KEEP, DAY);

            Instant from = Instant.EPOCH;
            for (int i = 0; i < 5; i++) {
                from = inbox.deleteExpired(connection, GROUP, from, until(), 1000)
                        .to();
                connection.commit();
            }
            String early = plan(from);
            for (int i = 0; i < 90; i++) {
                from = inbox.deleteExpired(connection, GROUP, from, until(), 1000)
                        .to();
                connection.commit();
            }
            String late = plan(from);
            String fromTheStart = plan(Instant.EPOCH);
            longTransaction.rollback();

            assertThat(late).as(late).contains("Index Scan using inbox_event_consumer_group_handled_at_idx");
            assertThat(late).as(late).doesNotContain("Seq Scan on inbox_event");
            assertThat(ExplainedPlan.buffers(late)).as(late).isLessThan(ExplainedPlan.buffers(early) + 300);
            // The cost that the position saves. It proves that the test would see the history.
            assertThat(ExplainedPlan.buffers(fromTheStart)).isGreaterThan(ExplainedPlan.buffers(late) + 300);
        }
    }

    private String plan(Instant from) throws SQLException {
        String plan = ExplainedPlan.of(
                connection,
                "select 0 as found, null::timestamptz as last, 0 as deleted",
                explaining -> inbox.deleteExpired(explaining, GROUP, from, until(), 1000));
        connection.rollback();
        return plan;
    }

    private Instant until() throws SQLException {
        try (var row = connection.createStatement().executeQuery("select clock_timestamp() - interval '1 hour'")) {
            row.next();
            return row.getTimestamp(1).toInstant();
        }
    }

    /** Inserts rows of events with this prefix, handled so long ago, one microsecond apart. */
    private static void handled(String prefix, int number, String ago) {
        database.execute(
                "insert into inbox_event select 'g', 'h', '" + prefix + "-' || i, clock_timestamp() - interval '" + ago
                        + "' + i * interval '1 microsecond' from generate_series(1, " + number + ") i");
        database.execute("analyze inbox_event");
    }

    private static List<String> left() {
        return database.texts("select event_id from inbox_event where consumer_group = 'g' order by event_id");
    }

    private static List<String> ids(String prefix, int number) {
        List<String> ids = new ArrayList<>();
        for (int i = 1; i <= number; i++) {
            ids.add(prefix + "-" + i);
        }
        return ids;
    }

    /** Returns the ids of the events to be handled. */
    private List<String> claim(Connection on, List<String> ids) throws SQLException {
        Handler handler = new Handler(
                "h",
                DeliveryContract.EXACTLY_ONCE_EFFECT,
                HandlerShape.EVENT,
                String.class,
                MethodHandles.empty(Handler.CALL));
        Subscription subscription = new Subscription(
                GROUP,
                Map.of("t", Map.of("order", List.of(handler))),
                Aliases.NONE,
                TopicFormat.OfTopics.CLOUD_EVENTS,
                UnknownType.SKIP,
                new NoSerializer());
        List<Delivery> pairs = new ArrayList<>();
        for (String id : ids) {
            ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>("t", 0, 0, null, utf8("{}"));
            record.headers().add(CloudEventHeaders.TYPE, utf8("order")).add(CloudEventHeaders.ID, utf8(id));
            pairs.add(new Delivery(handler, ReceivedEvent.of(record, subscription)));
        }
        List<String> claimed = new ArrayList<>();
        inbox.claim(
                on,
                GROUP,
                pairs,
                (delivery, result) -> claimed.add(delivery.event().id()));
        return claimed;
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
