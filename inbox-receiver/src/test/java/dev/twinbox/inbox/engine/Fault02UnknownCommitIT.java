package dev.twinbox.inbox.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.DeliveryContract;
import dev.twinbox.ParkedEvent.State;
import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.Delivery;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.ParkingDecision;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.AnnouncedHandler;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.inbox.jdbc.Paused;
import dev.twinbox.inbox.jdbc.PlainTransactions;
import dev.twinbox.inbox.jdbc.RecordedStarts;
import dev.twinbox.inbox.jdbc.RetriedWrites;
import dev.twinbox.inbox.kafka.HandoverKind;
import dev.twinbox.inbox.pause.Pauses;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import dev.twinbox.thread.WorkerPool;
import dev.twinbox.tracing.Tracing;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/**
 * An attempt's commit did not answer. Its effect may have happened, or may still happen while the server works on it.
 * Then the event must not be parked.
 */
class Fault02UnknownCommitIT {

    private static final SqlIdentifier INBOX = new SqlIdentifier(null, "inbox_event");
    private static final SqlIdentifier PARKED = new SqlIdentifier(null, "inbox_parked");
    private static final ParkingDecision NO_ANSWER =
            new ParkingDecision(new SQLException("connection lost", "08006"), true);

    private static final int QUICK_TRIES = 3;

    private static final Pauses NO_PAUSES = new Pauses(() -> Paused.NOTHING, (subject, text) -> {});

    private static Database database;

    private final InboxTable inbox = new InboxTable(INBOX, PARKED);
    private final Handler handler = new Handler(
            "h",
            DeliveryContract.EXACTLY_ONCE_EFFECT,
            HandlerShape.EVENT,
            String.class,
            MethodHandles.empty(Handler.CALL));
    private final PlainTransactions transactions = new PlainTransactions(database::connect);
    private final Parking parking = new Parking(
            "g",
            new ParkedTable(PARKED),
            new RecordedStarts(PARKED),
            new InboxConfig.Parking(
                    PARKED, QUICK_TRIES, 5, new Backoff(Duration.ofMinutes(1), Duration.ofMinutes(1)), State.DEAD),
            Claims.Effects.inInbox(inbox, "g"),
            new RetriedWrites(transactions.database()),
            NO_PAUSES,
            new ReceiverStatus());
    private int calls;

    @BeforeAll
    static void create() {
        database = new Database("unknown_commit");
    }

    @BeforeEach
    void clean() {
        database.execute("truncate inbox_event, inbox_parked");
    }

    @Test
    void whatWasCommittedIsNotParked() throws SQLException {
        database.execute("insert into inbox_event (consumer_group, handler, event_id) values ('g', 'h', '1')");

        parking.park(event(), handler, NO_ANSWER);

        assertThat(database.count("inbox_parked")).isZero();
        assertThat(database.count("inbox_event")).isEqualTo(1);
    }

    @Test
    void whatWasRolledBackIsParkedAndNotClaimed() throws SQLException {
        parking.park(event(), handler, NO_ANSWER);

        assertThat(database.texts("select state from inbox_parked")).containsExactly("retry");
        assertThat(database.count("inbox_event")).isZero();
    }

    @Test
    void aCommitThatIsStillInProgressIsWaitedFor() throws Exception {
        ExecutorService executor = Executors.newSingleThreadExecutor();
        try (Connection attempt = database.connect()) {
            attempt.setAutoCommit(false);
            inbox.claimParked(attempt, "g", new Delivery(handler, event()));
            Future<?> parked = executor.submit(() -> {
                parking.park(event(), handler, NO_ANSWER);
                return true;
            });
            await().until(() -> database.count("pg_locks where locktype = 'transactionid' and not granted") == 1);
            attempt.commit();
            parked.get();

            assertThat(database.count("inbox_parked")).isZero();
            assertThat(database.count("inbox_event")).isEqualTo(1);
        } finally {
            executor.shutdownNow();
        }
    }

    @Test
    void parkingIsRepeatedWhilePooledConnectionsAreBroken() throws SQLException {
        transactions.breakNext(5);

        parking.park(event(), handler, new ParkingDecision(new IllegalStateException("x"), false));

        assertThat(database.texts("select state from inbox_parked")).containsExactly("retry");
    }

    @Test
    void aHandlerIsNotCalledAgainBecauseItsParkingFailed() throws ReflectiveOperationException {
        ReceivedEvent event = event(failing());
        event.handleAlone();
        Processor processor = processor();
        database.execute("create or replace function refuse() returns trigger language plpgsql as "
                + "$$ begin raise exception 'not now' using errcode = '22P05'; end $$");
        database.execute("create trigger refuse before insert on inbox_parked execute function refuse()");

        for (int i = 0; i < 6; i++) {
            assertThat(processor.process(batch(event)).settled()).isZero();
        }
        assertThat(calls).isEqualTo(QUICK_TRIES);
        assertThat(database.count("inbox_parked")).isZero();

        database.execute("drop trigger refuse on inbox_parked");
        assertThat(processor.process(batch(event)).settled()).isEqualTo(1);
        assertThat(calls).isEqualTo(QUICK_TRIES);
        assertThat(database.texts("select attempts from inbox_parked")).containsExactly("" + QUICK_TRIES);
    }

    @Test
    void aParkedEventIsNotCalledAgainBecauseItsFailureCouldNotBeStored() throws Exception {
        Handler failing = failing();
        ReceivedEvent event = event(failing);
        ReceiverStatus status = new ReceiverStatus();
        Attempts attempts = attempts(status);
        ParkedRetries retries = new ParkedRetries(
                attempts,
                parking,
                inbox,
                subscription(failing),
                unknownTypes(status),
                announcements(status),
                held(status),
                status);
        parking.park(event, failing, new ParkingDecision(new IllegalStateException("first"), false));
        database.execute("update inbox_parked set next_try_at = clock_timestamp()");
        database.execute("create or replace function refuse() returns trigger language plpgsql as "
                + "$$ begin raise exception 'not now' using errcode = '22P05'; end $$");
        database.execute("create trigger refuse before update on inbox_parked for each row "
                + "when (new.error is distinct from old.error) execute function refuse()");

        for (int i = 0; i < 4; i++) {
            assertThatThrownBy(() -> retries.runOnce(() -> {}, () -> {})).isInstanceOf(SQLException.class);
            database.execute("update inbox_parked set next_try_at = clock_timestamp()");
        }
        assertThat(calls).isEqualTo(1);

        database.execute("drop trigger refuse on inbox_parked");
        assertThat(retries.runOnce(() -> {}, () -> {})).isFalse();
        assertThat(calls).isEqualTo(1);
        assertThat(database.texts("select error from inbox_parked where next_try_at > clock_timestamp()"))
                .containsExactly("java.lang.IllegalStateException: fails always");
    }

    private Attempts attempts(ReceiverStatus status) {
        CallWatch watch = new CallWatch(
                transactions.database(),
                new WorkerPool(Supervisor.DAEMONS, "worker", 1),
                new WorkerWaits(Duration.ofMinutes(5), CallWatch.GRACE, status),
                1,
                Duration.ofMinutes(5),
                List.of(),
                status,
                new StopRequest());
        return new Attempts(
                "g", transactions.database(), Tracing.off(), () -> {}, watch, breakers(status), parking, status);
    }

    private static Breakers breakers(ReceiverStatus status) {
        return new Breakers(HandlerTable.of(INBOX), Breakers.MOST_WAITING, status);
    }

    private Handler failing() throws ReflectiveOperationException {
        MethodHandle fail = MethodHandles.lookup().bind(this, "fail", Handler.CALL);
        return new Handler("h", DeliveryContract.EXACTLY_ONCE_EFFECT, HandlerShape.EVENT, String.class, fail);
    }

    private void fail(Object event, Object context) {
        calls++;
        throw new IllegalStateException("fails always");
    }

    private UnknownTypes unknownTypes(ReceiverStatus status) {
        return new UnknownTypes(
                "g",
                UnknownType.SKIP,
                HandlerTable.of(INBOX),
                inbox,
                parking,
                transactions.database(),
                status,
                UnknownTypes.MOST_WAITING);
    }

    private Announcements announcements(ReceiverStatus status) {
        AnnouncedHandler mine = new AnnouncedHandler("t", "order", "h", DeliveryContract.EXACTLY_ONCE_EFFECT);
        return new Announcements("g", List.of(mine), HandlerTable.of(INBOX), null, transactions.database(), status);
    }

    private static HeldHandlers held(ReceiverStatus status) {
        return new HeldHandlers(breakers(status), NO_PAUSES, HandlerTable.of(INBOX), 1);
    }

    private Processor processor() {
        ReceiverStatus status = new ReceiverStatus();
        Attempts attempts = attempts(status);
        Claims.FromKafka claims = new Claims.FromKafka(inbox, new ParkedTable(PARKED), "g", held(status), null);
        return new TransactionalProcessor(
                attempts, claims, unknownTypes(status), parking, status, new Guard(null, "group"));
    }

    private static Batch batch(ReceivedEvent event) {
        return new Batch(List.of(event), Duration.ofMinutes(1), HandoverKind.CLEAN);
    }

    private ReceivedEvent event() {
        return event(handler);
    }

    private static ReceivedEvent event(Handler handler) {
        ConsumerRecord<byte[], byte[]> record = new ConsumerRecord<>("t", 0, 0, null, utf8("{}"));
        record.headers().add(CloudEventHeaders.TYPE, utf8("order")).add(CloudEventHeaders.ID, utf8("1"));
        return ReceivedEvent.of(record, subscription(handler));
    }

    private static Subscription subscription(Handler handler) {
        return new Subscription(
                "g",
                Map.of("t", Map.of("order", List.of(handler))),
                Aliases.NONE,
                TopicFormat.OfTopics.CLOUD_EVENTS,
                UnknownType.SKIP,
                new NoSerializer());
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
