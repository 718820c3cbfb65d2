package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import dev.twinbox.DeliveryContract;
import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.thread.Supervisor;
import dev.twinbox.tracing.Tracing;
import java.lang.invoke.MethodHandles;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * A thread of the receiver waits for the database, outside of any handler. Its partition stood, and nothing said so: only
 * calls of handlers were watched.
 */
class Fault67WaitsForTheDatabaseIT {

    private static final Duration LIMIT = Duration.ofSeconds(60);
    private static final String WAITS = "waits for the database";

    private static Database database;
    private static Broker broker;

    private final String topic = "waits-" + UUID.randomUUID();
    private final ReceiverStatus status = new ReceiverStatus();
    private Receiver receiver;

    @BeforeAll
    static void createDatabase() {
        database = new Database("fault67");
        broker = new Broker();
        database.execute("create function wait() returns trigger language plpgsql as "
                + "'begin perform pg_advisory_xact_lock_shared(67); return null; end'");
        database.execute("create constraint trigger wait after insert on inbox_event deferrable initially deferred"
                + " for each row when (new.event_id = 'slow0') execute function wait()");
    }

    @AfterAll
    static void close() {
        broker.close();
    }

    @BeforeEach
    void create() {
        broker.create(topic);
    }

    @AfterEach
    void stop() {
        receiver.stop();
    }

    private void start() {
        Handler handler = new Handler(
                "h",
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
        receiver = new Receiver(
                KafkaMember.config(topic, topic, "earliest"), List.of(), LocalTransactions.on(database), status);
        receiver.start(List.of(subscription), subscription, Tracing.off(), () -> {}, Supervisor.DAEMONS);
    }

    private interface Obstacle {
        void place(Statement statement) throws SQLException;
    }

    /** While the obstacle is there, the receiver says so. Afterwards it goes on. */
    private void expectReport(Obstacle obstacle, Runnable work, String what) throws SQLException {
        try (Connection other = database.connect();
                Statement statement = other.createStatement()) {
            other.setAutoCommit(false);
            obstacle.place(statement);
            work.run();
            await().atMost(LIMIT)
                    .untilAsserted(() -> assertThat(status.notes().get(WAITS)).contains(what, "pg_blocking_pids"));
            assertThat(status.sum(ReceiverStatus.Total.EFFECTS)).isZero();
            await("not ready, once no handler can be the reason")
                    .atMost(LIMIT)
                    .untilAsserted(
                            () -> assertThat(status.troubles().get(WAITS)).contains(what));
            assertThat(status.notes()).doesNotContainKey(WAITS);
            other.rollback();
        }
        await().atMost(LIMIT)
                .untilAsserted(() ->
                        assertThat(status.sum(ReceiverStatus.Total.EFFECTS)).isEqualTo(1));
        await().atMost(LIMIT).untilAsserted(() -> assertThat(status.troubles()).isEmpty());
        assertThat(status.notes()).doesNotContainKey(WAITS);
    }

    @Test
    void aClaimThatAnotherSessionHoldsUp() throws SQLException {
        start();
        expectReport(
                statement ->
                        statement.execute("insert into inbox_event (consumer_group, handler, event_id, event_source)"
                                + " values ('" + topic + "', 'h', 'claim0', 0)"),
                () -> broker.send(topic, "claim", 1),
                "a batch of 1 event(s) from " + topic + "-0@0 (event claim0");
    }

    @Test
    void aCommitThatDoesNotReturn() throws SQLException {
        start();
        expectReport(
                statement -> statement.execute("select pg_advisory_xact_lock(67)"),
                () -> broker.send(topic, "slow", 1),
                "a batch of 1 event(s) from " + topic + "-0@0 (event slow0");
    }

    @Test
    void aQuestionWhereAPartitionStarts() throws SQLException {
        broker.send(topic, "start", 1);
        expectReport(
                statement -> statement.execute("lock table inbox_event_offset in access exclusive mode"),
                this::start,
                "a question about offsets of group " + topic);
    }
}
