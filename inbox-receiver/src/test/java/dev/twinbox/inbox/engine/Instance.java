package dev.twinbox.inbox.engine;

import dev.twinbox.CloudEventHeaders;
import dev.twinbox.DeliveryContract;
import dev.twinbox.KeyLock;
import dev.twinbox.KeyLocks;
import dev.twinbox.ParkedEvent.State;
import dev.twinbox.RetryLaterException;
import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.GuardedHandler;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.ReceivedEvent;
import dev.twinbox.inbox.event.StrictHandler;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.AnnouncedHandler;
import dev.twinbox.inbox.jdbc.Backoff;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.jdbc.RecordedStarts;
import dev.twinbox.inbox.jdbc.RetriedWrites;
import dev.twinbox.inbox.kafka.HandoverKind;
import dev.twinbox.inbox.pause.Pauses;
import dev.twinbox.jdbc.SqlIdentifier;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.thread.Supervisor;
import dev.twinbox.thread.WorkerPool;
import dev.twinbox.tracing.Tracing;
import java.io.FileNotFoundException;
import java.io.IOException;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.jspecify.annotations.Nullable;

/**
 * One instance of a receiving application without a container: its processor and its retries, on a real database. The
 * test hands it records.
 */
final class Instance {

    static final String GROUP = "g";
    static final String TOPIC = "t";
    static final SqlIdentifier INBOX = new SqlIdentifier(null, "inbox_event");
    static final SqlIdentifier PARKED = new SqlIdentifier(null, "inbox_parked");

    private static final Backoff NOW = new Backoff(Duration.ZERO, Duration.ZERO);
    private static final Duration LIMIT_OF_A_CALL = Duration.ofMinutes(5);

    /** Calls of handlers: {@code handler:event}. */
    final List<String> calls;

    final ReceiverStatus status = new ReceiverStatus();
    final Subscription subscription;
    final Announcements announcements;

    /** What is paused in its group, once it is refreshed. */
    final Pauses pauses;

    /** The clock of guards and circuit breakers, as {@link System#nanoTime}. */
    final AtomicLong nanos = new AtomicLong();

    private volatile Runnable beforeCall = () -> {};
    private final CallWatch watch;
    private final TransactionalProcessor processor;
    private final ParkedRetries retries;

    /** @param handlers what it can do, by {@code handler:type}; the name says whether it claims */
    Instance(Database database, List<String> calls, UnknownType unknownType, String... handlers) {
        this(database, calls, unknownType, UnknownTypes.MOST_WAITING, handlers);
    }

    Instance(Database database, List<String> calls, UnknownType unknownType, int mostWaiting, String... handlers) {
        this(database, calls, unknownType, mostWaiting, parking(1, 3), handlers);
    }

    /** Rules for retries without waits. */
    static InboxConfig.Parking parking(int quickTries, int attempts) {
        return new InboxConfig.Parking(PARKED, quickTries, attempts, NOW, State.DEAD);
    }

    Instance(
            Database database,
            List<String> calls,
            UnknownType unknownType,
            int mostWaiting,
            InboxConfig.Parking rules,
            String... handlers) {
        this.calls = calls;
        Map<String, List<Handler>> byType = new HashMap<>();
        List<AnnouncedHandler> mine = new ArrayList<>();
        for (String handler : handlers) {
            String[] parts = handler.split(":");
            byType.computeIfAbsent(parts[1], t -> new ArrayList<>()).add(handler(parts[0]));
            mine.add(new AnnouncedHandler(TOPIC, parts[1], parts[0], contract(parts[0])));
        }
        subscription = new Subscription(
                GROUP,
                Map.of(TOPIC, byType),
                Aliases.NONE,
                TopicFormat.OfTopics.CLOUD_EVENTS,
                unknownType,
                new NoSerializer());
        var local = LocalTransactions.on(database);
        InboxTable inbox = new InboxTable(INBOX, PARKED);
        ParkedTable parked = new ParkedTable(PARKED);
        PausedTable paused = PausedTable.of(INBOX);
        pauses = new Pauses(
                () -> local.inTransaction(connection -> paused.read(connection, GROUP)), status::noteOrRemove);
        Parking parking = new Parking(
                GROUP,
                parked,
                new RecordedStarts(PARKED),
                rules,
                Claims.Effects.inInbox(inbox, GROUP),
                new RetriedWrites(local),
                pauses,
                status);
        watch = new CallWatch(
                local,
                new WorkerPool(Supervisor.DAEMONS, "worker", 1),
                new WorkerWaits(Duration.ofMinutes(5), CallWatch.GRACE, status),
                1,
                LIMIT_OF_A_CALL,
                List.of(),
                status,
                new StopRequest());
        Breakers breakers = new Breakers(HandlerTable.of(INBOX), mostWaiting, status, nanos::get);
        HeldHandlers held = new HeldHandlers(breakers, pauses, HandlerTable.of(INBOX), mostWaiting);
        Attempts attempts = new Attempts(GROUP, local, Tracing.off(), () -> {}, watch, breakers, parking, status);
        HandlerTable table = HandlerTable.of(INBOX);
        UnknownTypes unknownTypes =
                new UnknownTypes(GROUP, unknownType, table, inbox, parking, local, status, mostWaiting);
        announcements = new Announcements(GROUP, mine, table, Duration.ofDays(15), local, status);
        processor = new TransactionalProcessor(
                attempts,
                new Claims.FromKafka(inbox, parked, GROUP, held, null),
                unknownTypes,
                parking,
                status,
                new Guard(locks(), GROUP, nanos::get));
        retries = new ParkedRetries(attempts, parking, inbox, subscription, unknownTypes, announcements, held, status);
    }

    /** Another instance has each lock. Asked for handlers whose name ends with {@code Guarded}. */
    private static KeyLocks locks() {
        return new KeyLocks() {
            @Override
            public Optional<KeyLock> tryLock(String key, Duration lease) {
                return Optional.empty();
            }

            @Override
            public boolean tryLockInTransaction(String key) {
                throw new UnsupportedOperationException();
            }
        };
    }

    private static DeliveryContract contract(String name) {
        if (name.startsWith("lossy")) {
            return DeliveryContract.AT_MOST_ONCE;
        }
        return name.startsWith("repeating") ? DeliveryContract.AT_LEAST_ONCE : DeliveryContract.EXACTLY_ONCE_EFFECT;
    }

    private Handler handler(String name) {
        try {
            MethodHandle call = MethodHandles.lookup()
                    .bind(this, "call", MethodType.methodType(void.class, String.class, Object.class));
            MethodHandle method = MethodHandles.dropArguments(call.bindTo(name), 1, Object.class)
                    .asType(Handler.CALL);
            if (name.endsWith("Guarded")) {
                return GuardedHandler.of(name, contract(name), method);
            }
            if (name.endsWith("Breaking")) {
                return StrictHandler.of(
                        name, contract(name), method, Set.of(FileNotFoundException.class), Set.of(IOException.class));
            }
            return name.endsWith("Strict")
                    ? StrictHandler.of(
                            name, contract(name), method, Set.of(RuntimeException.class, SQLException.class), Set.of())
                    : new Handler(name, contract(name), HandlerShape.EVENT, String.class, method);
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    /** The handler: the value says what it does. */
    @SuppressWarnings("unused")
    private void call(String handler, Object value) throws Exception {
        String[] parts = value.toString().split(" ");
        beforeCall.run();
        calls.add(handler + ":" + parts[0]);
        if (parts.length > 1 && parts[1].equals("fail")) {
            throw new IllegalStateException("as the event says");
        }
        if (parts.length > 1 && parts[1].equals("checked")) {
            throw new IOException("as the event says");
        }
        if (parts.length > 1 && parts[1].equals("missing")) {
            throw new FileNotFoundException("as the event says");
        }
        if (parts.length > 1 && parts[1].equals("sql")) {
            throw new SQLException("as the event says", parts.length > 2 ? parts[2] : null);
        }
        if (parts.length > 1 && parts[1].equals("later")) {
            throw new RetryLaterException(Duration.parse(parts[2]));
        }
    }

    /** A record of this id; {@code value} begins with a word that names it in {@link #calls}. */
    static ConsumerRecord<byte[], byte[]> record(
            long offset, String type, String id, @Nullable String key, String value) {
        ConsumerRecord<byte[], byte[]> record =
                new ConsumerRecord<>(TOPIC, 0, offset, key == null ? null : utf8(key), utf8(value));
        record.headers().add(CloudEventHeaders.TYPE, utf8(type)).add(CloudEventHeaders.ID, utf8(id));
        return record;
    }

    /** The same record from this CloudEvents source. */
    static ConsumerRecord<byte[], byte[]> from(String source, ConsumerRecord<byte[], byte[]> record) {
        record.headers().add(CloudEventHeaders.SOURCE, utf8(source));
        return record;
    }

    /** Handles records as one batch. Returns the outcome after as many batches as that takes. */
    @SafeVarargs
    @SuppressWarnings("varargs")
    final Outcome receive(ConsumerRecord<byte[], byte[]>... records) {
        return receive(List.of(records));
    }

    Outcome receive(List<ConsumerRecord<byte[], byte[]>> records) {
        return receive(records, HandoverKind.CLEAN);
    }

    /** The previous owner of the partition may have been killed by one of them. */
    @SafeVarargs
    @SuppressWarnings("varargs")
    final Outcome receiveAfterCrash(ConsumerRecord<byte[], byte[]>... records) {
        return receive(List.of(records), HandoverKind.AFTER_CRASH);
    }

    private Outcome receive(List<ConsumerRecord<byte[], byte[]>> records, HandoverKind handover) {
        List<ReceivedEvent> events = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            events.add(ReceivedEvent.of(record, subscription));
        }
        Outcome outcome = Outcome.goOn(0);
        while (!events.isEmpty()) {
            outcome = processor.process(new Batch(List.copyOf(events), Duration.ofMinutes(1), handover));
            events.subList(0, outcome.settled()).clear();
            if (outcome.next() != Outcome.Next.GO_ON) {
                break;
            }
        }
        return outcome;
    }

    /** The same records as one batch that is handled by {@link #process}. */
    @SafeVarargs
    @SuppressWarnings("varargs")
    final Batch batch(ConsumerRecord<byte[], byte[]>... records) {
        return batch(HandoverKind.CLEAN, records);
    }

    @SafeVarargs
    @SuppressWarnings("varargs")
    final Batch batch(HandoverKind handover, ConsumerRecord<byte[], byte[]>... records) {
        List<ReceivedEvent> events = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            events.add(ReceivedEvent.of(record, subscription));
        }
        return new Batch(events, Duration.ofMinutes(1), handover);
    }

    Outcome process(Batch batch) {
        return processor.process(batch);
    }

    /** What happens whenever a handler is about to be called. */
    void beforeCall(Runnable event) {
        beforeCall = event;
    }

    /** All calls of handlers have taken longer than they may, and are interrupted. */
    void interruptCalls() {
        watch.runOnce(System.nanoTime() + LIMIT_OF_A_CALL.toNanos());
    }

    /** All calls that were interrupted have gone on for too long. */
    void abandonCalls() {
        watch.runOnce(System.nanoTime() + LIMIT_OF_A_CALL.plus(CallWatch.GRACE).toNanos());
    }

    /** Retries what is due until nothing is. */
    void retryAll() throws SQLException {
        retries.lookAfterThem();
        boolean found = true;
        while (found) {
            found = retries.runOnce(() -> {}, () -> {});
        }
    }

    /** Retries at most one event. */
    void retryOne() throws SQLException {
        retries.lookAfterThem();
        retries.runOnce(() -> {}, () -> {});
    }

    private static byte[] utf8(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
