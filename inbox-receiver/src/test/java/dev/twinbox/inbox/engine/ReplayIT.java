package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.DeliveryContract;
import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.Topics;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.jdbc.RecordedStarts;
import dev.twinbox.inbox.jdbc.ReplayJob;
import dev.twinbox.inbox.jdbc.ReplayJob.Counts;
import dev.twinbox.inbox.jdbc.ReplayJob.State;
import dev.twinbox.inbox.jdbc.ReplayTable;
import dev.twinbox.inbox.jdbc.ReplayedTable;
import java.lang.invoke.MethodHandles;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Jobs that handle events again, on a real broker and a real database. {@code ReplayKilledIT} kills processes. */
class ReplayIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final ReplayTable JOBS = ReplayTable.of(Instance.INBOX);

    private static Database database;

    private final String topic = "replay-" + UUID.randomUUID();
    private final Broker broker = new Broker();
    private UUID topicId;

    @BeforeAll
    static void createDatabase() {
        database = new Database("replay_engine");
    }

    @BeforeEach
    void create() {
        database.execute(
                "truncate inbox_event, inbox_parked, inbox_handler, inbox_paused, inbox_replay, inbox_replayed, "
                        + "inbox_event_offset, effect");
        broker.create(topic);
        topicId = broker.id(topic);
    }

    @AfterEach
    void close() {
        broker.close();
    }

    private ReplayRig rig() {
        return new ReplayRig(database, topic, topic);
    }

    private void send(String... values) {
        for (String value : values) {
            broker.send(topic, "key", value.split(" ")[0], value);
        }
    }

    private void awaitLive(int offset) {
        await().atMost(LIMIT).until(() -> broker.hasCommitted(topic, topic, offset));
    }

    private enum Known {
        SKIPPED,
        AGAIN
    }

    private long request(String handler, Known known, @Nullable String key, long from, long to) throws SQLException {
        try (Connection connection = database.connect()) {
            return JOBS.request(
                            connection,
                            new ReplayTable.Request(
                                    topic,
                                    handler,
                                    topic,
                                    topicId,
                                    key,
                                    known == Known.AGAIN,
                                    String.valueOf(from),
                                    String.valueOf(to),
                                    List.of(new ReplayJob.Partition(0, from, to, from))))
                    .orElseThrow();
        }
    }

    private static ReplayJob job(long number) throws SQLException {
        try (Connection connection = database.connect()) {
            return JOBS.latest(connection, 10).stream()
                    .filter(each -> each.number() == number)
                    .findFirst()
                    .orElseThrow();
        }
    }

    private static ReplayJob awaitEnd(long number) throws SQLException {
        await().atMost(LIMIT).until(() -> job(number).endedAt() != null);
        return job(number);
    }

    private static List<String> effects(String handler) {
        return database.texts("select event_id from effect where handler = ? order by id", handler);
    }

    private static void forget(String... ids) {
        Stream.of(ids).forEach(id -> database.execute("delete from inbox_event where event_id = '" + id + "'"));
    }

    @Test
    void whatTheInboxKnowsIsSkippedAndTheGroupStaysWhereItIs() throws SQLException {
        try (ReplayRig rig = rig()) {
            send("a", "b", "c", "d", "e");
            awaitLive(5);
            forget("b", "d", "e");

            ReplayJob done = awaitEnd(request("once", Known.SKIPPED, null, 0, 4));

            assertThat(done.state()).isEqualTo(State.FINISHED);
            assertThat(done.counts()).isEqualTo(new Counts(2, 2, 0, 0, 0));
            assertThat(done.left()).isZero();
            assertThat(effects("once")).containsExactly("a", "b", "c", "d", "e", "b", "d");
            assertThat(effects("repeating")).containsExactly("a", "b", "c", "d", "e");
            assertThat(database.count("inbox_event where handler = 'once'")).isEqualTo(4);
            assertThat(Objects.requireNonNull(broker.committed(topic, topic)).offset())
                    .isEqualTo(5);
            assertThat(rig.status.troubles()).isEmpty();
        }
    }

    /** The topic has one event twice, as after a crash of the relay. */
    @Test
    void againHasOneEffectMoreForEachEventAlsoIfTheTopicHasItTwice() throws SQLException {
        try (ReplayRig rig = rig()) {
            send("a", "b", "a", "c");
            broker.send(topic, "other", "x", "x");
            awaitLive(5);

            ReplayJob done = awaitEnd(request("once", Known.AGAIN, "key", 0, 5));

            assertThat(done.state()).isEqualTo(State.FINISHED);
            assertThat(effects("once")).containsExactly("a", "b", "c", "x", "a", "b", "c");
            assertThat(database.count("inbox_event where handler = 'once'")).isEqualTo(4);

            awaitEnd(request("once", Known.AGAIN, null, 1, 2));
            assertThat(effects("once")).containsExactly("a", "b", "c", "x", "a", "b", "c", "b");
            assertThat(rig.status.troubles()).isEmpty();
        }
    }

    @Test
    void anEventThatFailsIsParkedWithThoseOfItsKeyAndItsRetryHasTheEffect() throws SQLException {
        try (ReplayRig rig = rig()) {
            rig.repair();
            send("a", "b fail", "c");
            broker.send(topic, "other", "x", "x");
            awaitLive(4);
        }
        try (ReplayRig rig = rig()) {
            ReplayJob done = awaitEnd(request("once", Known.AGAIN, null, 0, 4));

            assertThat(done.counts()).isEqualTo(new Counts(2, 0, 2, 0, 0));
            assertThat(effects("once")).containsExactly("a", "b", "c", "x", "a", "x");
            assertThat(database.texts("select event_id from inbox_parked order by number"))
                    .containsExactly("b", "c");

            rig.repair();
            await().atMost(LIMIT).until(() -> database.count("inbox_parked") == 0);
            assertThat(effects("once")).containsExactly("a", "b", "c", "x", "a", "x", "b", "c");
            assertThat(database.count("inbox_event where handler = 'once'")).isEqualTo(4);
        }
    }

    /** So its live events come after those of the job. */
    @Test
    void aPausedHandlerIsCalledByTheJobOnly() throws SQLException {
        try (ReplayRig rig = rig()) {
            send("a", "b");
            awaitLive(2);
            try (Connection connection = database.connect()) {
                PausedTable.of(Instance.INBOX).pause(connection, topic, PausedTable.Kind.HANDLER, "once");
            }
            await().atMost(LIMIT).until(() -> rig.status.paused().handlers().containsKey("once"));
            send("c");
            awaitLive(3);
            forget("a", "b");

            ReplayJob done = awaitEnd(request("once", Known.SKIPPED, null, 0, 3));
            assertThat(done.counts()).isEqualTo(new Counts(2, 1, 0, 0, 0));
            assertThat(effects("once")).containsExactly("a", "b", "a", "b");

            try (Connection connection = database.connect()) {
                PausedTable.of(Instance.INBOX).resume(connection, null, PausedTable.Kind.HANDLER, "once");
            }
            await().atMost(LIMIT).until(() -> effects("once").size() == 5);
            assertThat(effects("once")).containsExactly("a", "b", "a", "b", "c");
        }
    }

    @Test
    void otherContractsAndListsHaveTheirOneEffectToo() throws SQLException {
        try (ReplayRig rig = rig()) {
            send("a", "b", "a");
            awaitLive(3);
            rig.lists.clear();

            assertThat(awaitEnd(request("repeating", Known.AGAIN, null, 0, 3)).state())
                    .isEqualTo(State.FINISHED);
            assertThat(effects("repeating")).containsExactly("a", "b", "a", "a", "b");

            awaitEnd(request("listing", Known.AGAIN, null, 0, 3));
            assertThat(rig.lists).containsExactly(List.of("a", "b"));
        }
    }

    @Test
    void aTopicThatIsCreatedAnewFailsTheJob() throws Exception {
        send("a", "b");
        broker.createAnew(topic);
        send("c", "d");
        try (ReplayRig rig = rig()) {
            ReplayJob failed = awaitEnd(request("once", Known.AGAIN, null, 0, 2));

            assertThat(failed.state()).isEqualTo(State.FAILED);
            assertThat(failed.error()).contains("was deleted and created anew").contains("Request the job again");
            assertThat(failed.counts()).isEqualTo(Counts.NONE);
            assertThat(rig.status.troubles()).isEmpty();
        }
    }

    @Test
    void offsetsThatAreGoneAreCounted() throws Exception {
        try (ReplayRig rig = rig()) {
            send("a", "b", "c", "d");
            awaitLive(4);
            broker.deleteBefore(topic, 3);

            ReplayJob done = awaitEnd(request("once", Known.AGAIN, null, 1, 4));

            assertThat(done.state()).isEqualTo(State.FINISHED);
            assertThat(done.counts()).isEqualTo(new Counts(1, 0, 0, 0, 2));
            assertThat(effects("once")).containsExactly("a", "b", "c", "d", "d");
        }
    }

    /** The first event is being handled then. */
    @Test
    void aCanceledJobBeginsNoFurtherEffect() throws SQLException {
        try (ReplayRig rig = rig();
                Connection gate = database.connect()) {
            send("a wait", "b");
            awaitLive(2);
            try (Statement statement = gate.createStatement()) {
                statement.execute("select pg_advisory_lock(42)");
                send("c wait", "d");
                long job = request("repeating", Known.AGAIN, null, 0, 2);
                await().atMost(LIMIT)
                        .until(() -> database.count("pg_locks where locktype = 'advisory' and not granted") >= 2);
                try (Connection connection = database.connect()) {
                    assertThat(JOBS.cancel(connection, job)).isTrue();
                    assertThat(JOBS.cancel(connection, job)).isFalse();
                }
                statement.execute("select pg_advisory_unlock(42)");
                awaitLive(4);
                assertThat(job(job).state()).isEqualTo(State.CANCELED);

                long next = request("repeating", Known.AGAIN, null, 1, 2);
                assertThat(awaitEnd(next).state()).isEqualTo(State.FINISHED);
                assertThat(rig.status.troubles()).isEmpty();
            }
        }
    }

    /** As if another instance had taken it: the claims of this one find nothing to claim. */
    @Test
    void aJobThatAnotherInstanceHasIsLeftAloneUntilItsLeaseEnds() throws SQLException {
        send("a", "b", "c");
        long job = request("once", Known.AGAIN, null, 0, 3);
        database.execute("update inbox_replay set state = 'running', owner = gen_random_uuid(), "
                + "lease_until = clock_timestamp() + interval '6 seconds', next_offsets = '{1}'");
        database.execute("insert into inbox_replayed values (" + job + ", 'a', 0), (" + job + ", 'b', 0)");
        try (ReplayRig rig = rig()) {
            awaitLive(3);
            assertThat(effects("once")).containsExactly("a", "b", "c");
            assertThat(job(job).endedAt()).isNull();

            ReplayJob done = awaitEnd(job);
            assertThat(effects("once")).containsExactly("a", "b", "c", "c");
            assertThat(done.counts()).isEqualTo(new Counts(1, 1, 0, 0, 0));
            assertThat(database.count("inbox_parked")).as("recorded starts").isZero();
            assertThat(rig.status.troubles()).isEmpty();
        }
    }

    /** It has been started three times. Each time the process ended. */
    @Test
    void anEventThatEndsTheProcessIsGivenUp() throws SQLException {
        try (ReplayRig rig = rig()) {
            send("a", "b", "c");
            awaitLive(3);
            assertThat(rig.status.troubles()).isEmpty();
        }
        long job = request("once", Known.AGAIN, null, 0, 3);
        database.execute("update inbox_replay set state = 'running', owner = gen_random_uuid(), "
                + "lease_until = clock_timestamp()");
        try (Connection connection = database.connect()) {
            Delivery killer = delivery("b");
            new RecordedStarts(Instance.PARKED).record(connection, topic, killer.event(), killer.handler());
        }
        database.execute("update inbox_parked set attempts = 3");
        try (ReplayRig rig = rig()) {
            assertThat(awaitEnd(job).counts()).isEqualTo(new Counts(1, 0, 2, 0, 0));
            assertThat(effects("once")).containsExactly("a", "b", "c", "a");
            assertThat(database.texts("select event_id || ' ' || state from inbox_parked order by number"))
                    .containsExactly("b dead", "c behind");
            assertThat(database.texts("select event_id from inbox_event where handler = 'once'"))
                    .containsExactly("a");
            assertThat(rig.status.troubles()).isEmpty();
        }
    }

    /** An owner that was frozen finds that its attempt failed, and parks the event, when the next owner is done. */
    @Test
    void aFailureThatIsStoredLateDoesNotUndoWhatTheNextOwnerHasDone() throws SQLException {
        ReplayJob job = job(request("once", Known.AGAIN, null, 0, 9));
        Delivery done = delivery("done");
        Delivery open = delivery("open");
        database.execute("insert into inbox_replayed values (" + job.number() + ", 'done', 0)");
        for (String id : List.of("done", "open")) {
            database.execute("insert into inbox_event (consumer_group, handler, event_id) values ('" + topic
                    + "', 'once', '" + id + "')");
        }
        Claims.OfReplay late = new Claims.OfReplay(
                new InboxTable(Instance.INBOX, Instance.PARKED),
                ReplayedTable.of(Instance.INBOX),
                new ParkedTable(Instance.PARKED),
                job,
                UUID.randomUUID(),
                new HashMap<>(),
                null);
        try (Connection connection = database.connect()) {
            assertThatThrownBy(() -> late.take(connection, List.of(open), (delivery, result) -> {}))
                    .hasMessage("job " + job.number() + " is over, or another instance has it");
            late.isParked(connection, done);
            assertThat(late.hasHappened(connection, done)).isTrue();
            assertThat(database.count("inbox_event")).isEqualTo(2);

            assertThat(late.hasHappened(connection, open)).isFalse();
            late.isParked(connection, open);
            assertThat(database.texts("select event_id from inbox_event")).containsExactly("done");
            assertThat(late.hasHappened(connection, open)).isTrue();
        }
    }

    private Delivery delivery(String id) {
        ConsumerRecord<byte[], byte[]> record =
                new ConsumerRecord<>(topic, 0, 1, Topics.bytes("key"), Topics.bytes(id));
        record.headers().add(CloudEventHeaders.ID, Topics.bytes(id)).add(CloudEventHeaders.TYPE, Topics.bytes("order"));
        Handler handler = new Handler(
                "once",
                DeliveryContract.EXACTLY_ONCE_EFFECT,
                HandlerShape.EVENT,
                String.class,
                MethodHandles.empty(Handler.CALL));
        Subscription subscription = new Subscription(
                topic,
                Map.of(topic, Map.of("order", List.of(handler))),
                Aliases.NONE,
                TopicFormat.OfTopics.CLOUD_EVENTS,
                UnknownType.SKIP,
                new NoSerializer());
        return new Delivery(handler, ReceivedEvent.of(record, subscription));
    }

    @Test
    void twoInstancesShareNoJob() throws SQLException {
        try (ReplayRig rig = rig();
                ReplayRig other = rig()) {
            String[] ids =
                    Stream.iterate(0, i -> i + 1).limit(50).map(i -> "e" + i).toArray(String[]::new);
            send(ids);
            awaitLive(50);

            ReplayJob done = awaitEnd(request("once", Known.AGAIN, null, 0, 50));

            assertThat(done.counts()).isEqualTo(new Counts(50, 0, 0, 0, 0));
            assertThat(effects("once")).hasSize(100);
            assertThat(effects("once").subList(50, 100)).containsExactly(ids);
            await().atMost(LIMIT) // one of them may still join the group
                    .until(() -> rig.status.troubles().isEmpty()
                            && other.status.troubles().isEmpty());
        }
    }
}
