package dev.twinbox.inbox.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.DeliveryContract;
import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.ExplainedPlan;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.RecordedStart;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.thread.Supervisor;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The statements of the parked table, one by one, on a real database. */
class ParkedTableIT {

    private static final String GROUP = "g";
    private static final String TOPIC = "t";
    private static final Backoff NOW = new Backoff(Duration.ZERO, Duration.ZERO);
    private static final Backoff LATER = new Backoff(Duration.ofSeconds(10), Duration.ofSeconds(60));
    private static final SqlIdentifier INBOX = new SqlIdentifier(null, "inbox_event");
    private static final SqlIdentifier PARKED = new SqlIdentifier(null, "inbox_parked");

    private static Database database;

    private final InboxTable inbox = new InboxTable(INBOX, PARKED);
    private final ParkedTable parked = new ParkedTable(PARKED);
    private final ParkedRows rows = new ParkedRows(INBOX, PARKED);
    private final RecordedStarts starts = new RecordedStarts(PARKED);
    private final Handler handler = handler("h", DeliveryContract.EXACTLY_ONCE_EFFECT);
    private Connection connection;
    private long offset;

    @BeforeAll
    static void create() {
        database = new Database("parked_table");
    }

    @BeforeEach
    void connect() {
        database.execute("truncate inbox_event, inbox_parked");
        connection = database.connect();
    }

    @AfterEach
    void disconnect() throws SQLException {
        connection.close();
    }

    @Test
    void aClaimKnowsWhatIsParkedAndWhoHasToWaitBehindIt() throws SQLException {
        ReceivedEvent first = event("1", "key");
        ReceivedEvent second = event("2", "key");
        ReceivedEvent other = event("3", "other");
        ReceivedEvent keyless = event("4", null);
        park(first, State.RETRY, "broken");

        assertThat(claim(handler, first, second, other, keyless))
                .containsOnly(
                        Map.entry("2", ClaimResult.TO_FOLLOW),
                        Map.entry("3", ClaimResult.TO_HANDLE),
                        Map.entry("4", ClaimResult.TO_HANDLE));
        assertThat(database.texts("select event_id from inbox_event order by event_id"))
                .containsExactly("3", "4");
        // Sweeps again, now from the known time on.
        park(second, State.BEHIND, null);
        assertThat(claim(handler, first, second, other, keyless)).isEmpty();
    }

    @Test
    void aHandlerThatDoesNotClaimWaitsInLineTooAndLeavesAloneWhatIsParked() throws SQLException {
        Handler repeating = handler("r", DeliveryContract.AT_LEAST_ONCE);
        ReceivedEvent first = event("1", "key");
        ReceivedEvent second = event("2", "key");
        parked.park(connection, GROUP, first, repeating, State.RETRY, 3, "broken", NOW);

        assertThat(claim(repeating, first, second, event("3", "other")))
                .containsOnly(Map.entry("1", ClaimResult.DONE), Map.entry("2", ClaimResult.TO_FOLLOW));
        assertThat(database.count("inbox_event")).isZero();
    }

    @Test
    void anEventThatPassesAndAnotherHandlerHoldUpNobody() throws SQLException {
        park(event("1", "key"), State.PASSED, "broken");
        parked.park(
                connection,
                GROUP,
                event("2", "key"),
                handler("h2", DeliveryContract.EXACTLY_ONCE_EFFECT),
                State.DEAD,
                3,
                "x",
                NOW);

        assertThat(claim(handler, event("3", "key"))).containsOnly(Map.entry("3", ClaimResult.TO_HANDLE));
    }

    @Test
    void whatIsParkedComesBackAsItWas() throws SQLException {
        byte[] bytes = {0, -1, 'x'};
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>(TOPIC, 3, 42, bytes, bytes);
        record.headers()
                .add("ce_type", utf8("order"))
                .add("ce_id", utf8("odd"))
                .add("twice", null)
                .add("twice", bytes);
        ReceivedEvent event = ReceivedEvent.of(record, subscription());

        parked.park(connection, GROUP, event, handler, State.RETRY, 3, "why", NOW);
        ConsumerRecord<byte[], byte[]> back = due().orElseThrow().record();

        assertThat(back.key()).isEqualTo(bytes);
        assertThat(back.value()).isEqualTo(bytes);
        assertThat(back.topic() + back.partition() + "@" + back.offset()).isEqualTo("t3@42");
        assertThat(back.headers()).containsExactlyElementsOf(record.headers());
    }

    @Test
    void anAttemptIsCountedBeforeItIsMadeAndGivenBackIfTheDatabaseWasToBlame() throws SQLException {
        park(event("1", "key"), State.RETRY, "broken");

        DueEvent due = due().orElseThrow();
        assertThat(due.attempt()).isEqualTo(4);
        assertThat(attempts()).isEqualTo("4");
        parked.giveBack(connection, due, NOW);
        assertThat(attempts()).isEqualTo("3");
        // The attempt was given back, so the row no longer belongs to the instance that took it.
        assertThat(parked.lock(connection, due)).isNull();
    }

    /** As another worker does that has looked for what is due at the same time. The attempt would count for nothing. */
    @Test
    void fault125ARowThatAnotherSessionLocksForAMomentIsWaitedFor() throws Exception {
        park(event("1", "key"), State.RETRY, "broken");
        DueEvent due = due().orElseThrow();
        try (Connection other = database.connect();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            statement.execute("select from inbox_parked for update");
            FutureTask<@Nullable ClaimSession> locked = new FutureTask<>(() -> parked.lock(connection, due));
            Supervisor.DAEMONS.newThread(locked).start();
            await("it waits, or it has given up")
                    .atMost(Duration.ofSeconds(60))
                    .until(() -> locked.isDone()
                            || database.count("pg_locks where not granted and locktype in ('transactionid', 'tuple')")
                                    > 0);
            other.commit();

            assertThat(locked.get(60, TimeUnit.SECONDS)).isNotNull();
        }
    }

    @Test
    void afterItsLastAttemptAnEventIsDeadAndItsKeyWaitsForAnOperator() throws SQLException {
        park(event("1", "key"), State.RETRY, "broken");
        park(event("2", "key"), State.BEHIND, null);

        DueEvent due = due().orElseThrow();
        assertThat(parked.failedAgain(connection, due, 5, State.DEAD, "again", NOW))
                .isEqualTo(State.RETRY);
        due = due().orElseThrow();
        assertThat(parked.failedAgain(connection, due, 5, State.DEAD, "at last", NOW))
                .isEqualTo(State.DEAD);
        promote();

        assertThat(due()).isEmpty();
        assertThat(claim(handler, event("3", "key"))).containsOnly(Map.entry("3", ClaimResult.TO_FOLLOW));
        assertThat(rows.retry(connection, due.number())).isTrue();
        assertThat(rows.retry(connection, due.number())).as("pressed twice").isFalse();
        assertThat(due().orElseThrow().attempt()).isEqualTo(1);
    }

    @Test
    void whoPassesADeadEventIsNextAtOnce() throws SQLException {
        park(event("1", "key"), State.RETRY, "broken");
        park(event("2", "key"), State.BEHIND, null);

        parked.failedAgain(connection, due().orElseThrow(), 1, State.PASSED, "at last", NOW);
        promote();

        assertThat(due().orElseThrow().event().eventId()).isEqualTo("2");
    }

    @Test
    void aDiscardedEventCountsAsHandledAndTheNextOfItsKeyIsDue() throws SQLException {
        ReceivedEvent first = event("1", "key");
        park(first, State.DEAD, "broken");
        park(event("2", "key"), State.BEHIND, null);
        long number = rows.list(connection, GROUP, 0, 10).get(0).number();

        ParkedRows.Discarded discarded = rows.discard(connection, number);
        promote();

        assertThat(discarded.isDone()).isTrue();
        assertThat(rows.discard(connection, number).isDone())
                .as("pressed twice")
                .isFalse();
        assertThat(claim(handler, first)).isEmpty();
        assertThat(due().orElseThrow().event().eventId()).isEqualTo("2");
    }

    @Test
    void twoInstancesNeverTakeOneEventAndNeitherWaitsForTheOther() throws SQLException {
        park(event("1", "a"), State.RETRY, "broken");
        park(event("2", "b"), State.RETRY, "broken");
        try (Connection other = database.connect()) {
            connection.setAutoCommit(false);
            other.setAutoCommit(false);

            Optional<DueEvent> mine = parked.takeDue(connection, GROUP, Instant.EPOCH, of("h"), LATER);
            Optional<DueEvent> theirs = parked.takeDue(other, GROUP, Instant.EPOCH, of("h"), LATER);
            Optional<DueEvent> none = due();

            assertThat(mine.orElseThrow().number())
                    .isNotEqualTo(theirs.orElseThrow().number());
            assertThat(none).isEmpty();
            connection.rollback();
            other.rollback();
            connection.setAutoCommit(true);
        }
    }

    /** Fault 75: with short pauses a slow worker was overtaken, and its attempt was counted without being made. */
    @Test
    void fault75WhoTakesAnEventHasTimeToLockItHoweverShortThePausesAre() throws SQLException {
        park(event("1", "key"), State.RETRY, "broken");

        DueEvent due = due().orElseThrow();

        assertThat(database.texts("select next_try_at - clock_timestamp() > interval '5 seconds' from inbox_parked"))
                .containsExactly("t");
        // A failure brings the configured pause back.
        parked.failedAgain(connection, due, 9, State.DEAD, "broken again", NOW);
        assertThat(due()).isPresent();
    }

    @Test
    void anEventOfAHandlerThatThisVersionDoesNotHaveIsLeftToOthers() throws SQLException {
        parked.park(
                connection,
                GROUP,
                event("1", "a"),
                handler("new", DeliveryContract.EXACTLY_ONCE_EFFECT),
                State.RETRY,
                3,
                "x",
                NOW);

        assertThat(due()).isEmpty();
        assertThat(parked.takeDue(connection, GROUP, Instant.EPOCH, of("new"), LATER))
                .isPresent();
    }

    @Test
    void beginningsAreCountedUntilOneEnds() throws SQLException {
        ReceivedEvent event = event("1", "key");

        RecordedStart first = start(event);
        RecordedStart second = start(event);
        assertThat(second.number()).isEqualTo(first.number());
        assertThat(second.times()).isEqualTo(2);
        // A recorded start does not keep the event from being claimed, and blocks no key.
        assertThat(claim(handler, event, event("2", "key"))).hasSize(2);

        parked.remove(connection, first.number());
        assertThat(start(event).times()).isEqualTo(1);
        starts.park(connection, start(event).number(), State.DEAD, 3, "the process ended", NOW);
        assertThat(starts.record(connection, GROUP, event, handler)).isNull();
        assertThat(parked.count(connection, GROUP)).isEqualTo(new ParkedTable.Counts(0, 1));
    }

    @Test
    void whatSomebodyBegunIsParkedAtTheEndOfItsLineAllTheSame() throws SQLException {
        ReceivedEvent second = event("2", "key");
        start(second);
        park(event("1", "key"), State.RETRY, "broken");

        park(second, State.BEHIND, null);

        assertThat(database.texts("select event_id || ' ' || state from inbox_parked order by number"))
                .containsExactly("1 retry", "2 behind");
    }

    @Test
    void aLineThatACrashLeftWithoutAFirstIsFound() throws SQLException {
        park(event("1", "a"), State.BEHIND, null);
        park(event("2", "a"), State.BEHIND, null);
        park(event("3", "b"), State.RETRY, "broken");
        park(event("4", "b"), State.BEHIND, null);

        parked.promoteAll(connection, GROUP);

        assertThat(database.texts("select event_id from inbox_parked where state = 'retry' order by event_id"))
                .containsExactly("1", "3");
    }

    @Test
    void theWaitsGrowToTheirCapAndAreSpreadByChance() throws SQLException {
        for (int attempts : new int[] {1, 2, 3, 9, 1000}) {
            database.execute("truncate inbox_parked");
            parked.park(connection, GROUP, event("1", null), handler, State.RETRY, attempts, "x", LATER);
            double most = Math.min(60, 10 * Math.pow(2, attempts - 1));

            double wait = Double.parseDouble(
                    database.texts("select extract(epoch from next_try_at - parked_at) from inbox_parked")
                            .get(0));

            assertThat(wait).isBetween(most / 2 - 1, most + 1);
        }
    }

    /** Guarantee G7: settled events cost nothing, also while a long transaction keeps them from being vacuumed. */
    @Test
    void pollsStayFlatUnderAHeldXminAndClaimsReadNoHistory() throws SQLException {
        try (Connection longTransaction = database.connect()) {
            longTransaction.setAutoCommit(false);
            longTransaction.createStatement().execute("select pg_current_xact_id()");
            database.execute("""
                    insert into inbox_parked (consumer_group, handler, event_id, claims, state, topic, partition,
                                              record_offset, record_key, header_names, header_values, attempts, error,
                                              next_try_at)
                    select 'g', 'h', 'old-' || i, true, 'retry', 't', 0,
                           i, convert_to('k' || i % 1000, 'UTF8'), '{}', '{}', 3, 'x',
                           clock_timestamp() - interval '1 hour'
                      from generate_series(1, 50000) i""");
            database.execute(
                    "update inbox_parked set attempts = 4, next_try_at = clock_timestamp() - interval '30 minutes'");
            database.execute("delete from inbox_parked");
            park(event("due", "k1"), State.RETRY, "broken");

            Instant from = parked.now(connection).minus(Duration.ofMinutes(2));
            String poll = ExplainedPlan.of(
                    connection,
                    "select 1 where false",
                    explain -> parked.takeDue(explain, GROUP, from, of("h"), LATER));
            assertThat(ExplainedPlan.buffers(poll)).as(poll).isLessThan(100);

            connection.setAutoCommit(false);
            String claim = ExplainedPlan.of(
                    connection,
                    "select 1 where false",
                    explain -> inbox.claim(
                            explain,
                            GROUP,
                            List.of(new Delivery(handler, event("new", "k2"))),
                            (delivery, result) -> {}));
            assertThat(claim).as(claim).doesNotContain("Seq Scan on inbox");
            longTransaction.rollback();
        }
    }

    /** Fault 38: later events of the key would overtake the events that a policy hides. */
    @Test
    void aClaimFailsWhileRowSecurityHidesParkedEvents() throws SQLException {
        park(event("1", "key"), State.RETRY, "broken");
        database.execute("create role parked_table");
        database.execute("grant select, insert on inbox_event, inbox_parked to parked_table");
        connection.createStatement().execute("set role parked_table");
        connection.setAutoCommit(false);
        database.execute("create policy hidden on inbox_parked for select using (false)");
        database.execute("alter table inbox_parked enable row level security");

        assertThatThrownBy(() -> claim(handler, event("2", "key")))
                .isInstanceOf(SQLException.class)
                .hasMessageContaining("row-level security");
        connection.rollback();

        database.execute("alter table inbox_parked disable row level security");
        assertThat(claim(handler, event("2", "key"))).containsOnly(Map.entry("2", ClaimResult.TO_FOLLOW));
        connection.rollback();
    }

    private void park(ReceivedEvent event, State state, @Nullable String error) throws SQLException {
        if (error == null) {
            parked.follow(connection, GROUP, event, handler, state, null, NOW);
        } else {
            parked.park(connection, GROUP, event, handler, state, 3, error, NOW);
        }
    }

    private RecordedStart start(ReceivedEvent event) throws SQLException {
        RecordedStart start = starts.record(connection, GROUP, event, handler);
        assertThat(start).isNotNull();
        return start;
    }

    private static List<AnnouncedHandler> of(String name) {
        return List.of(new AnnouncedHandler(TOPIC, "order", name, DeliveryContract.EXACTLY_ONCE_EFFECT));
    }

    private Optional<DueEvent> due() throws SQLException {
        return parked.takeDue(connection, GROUP, Instant.EPOCH, of("h"), NOW);
    }

    private void promote() throws SQLException {
        parked.promote(
                connection, new BlockedKey(GROUP, "h", TOPIC, event("x", "key").keyHash()));
    }

    private String attempts() {
        return database.texts("select attempts from inbox_parked").get(0);
    }

    private Map<String, ClaimResult> claim(Handler by, ReceivedEvent... events) throws SQLException {
        List<Delivery> pairs = new ArrayList<>();
        for (ReceivedEvent event : events) {
            pairs.add(new Delivery(by, event));
        }
        Map<String, ClaimResult> answers = new HashMap<>();
        inbox.claim(
                connection,
                GROUP,
                pairs,
                (delivery, result) -> answers.put(delivery.event().id(), result));
        return answers;
    }

    private ReceivedEvent event(String id, @Nullable String key) {
        ConsumerRecord<byte[], byte[]> record =
                new ConsumerRecord<>(TOPIC, 0, offset++, key == null ? null : utf8(key), utf8("{}"));
        record.headers().add(CloudEventHeaders.TYPE, utf8("order")).add(CloudEventHeaders.ID, utf8(id));
        return ReceivedEvent.of(record, subscription());
    }

    private Subscription subscription() {
        return new Subscription(
                GROUP,
                Map.of(TOPIC, Map.of("order", List.of(handler))),
                Aliases.NONE,
                TopicFormat.OfTopics.CLOUD_EVENTS,
                UnknownType.SKIP,
                new NoSerializer());
    }

    private static Handler handler(String name, DeliveryContract delivery) {
        return new Handler(name, delivery, HandlerShape.EVENT, String.class, MethodHandles.empty(Handler.CALL));
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
