package dev.twinbox.inbox.engine;

import dev.twinbox.DeliveryContract;
import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.KeyLocks;
import dev.twinbox.inbox.config.ConsumerSettings;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.HandlerMethod;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.jdbc.HandlerTable;
import dev.twinbox.inbox.jdbc.InboxSchema;
import dev.twinbox.inbox.jdbc.InboxTable;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.inbox.jdbc.OffsetTable;
import dev.twinbox.inbox.jdbc.ParkedTable;
import dev.twinbox.inbox.jdbc.PausedTable;
import dev.twinbox.inbox.jdbc.RecordedStarts;
import dev.twinbox.inbox.jdbc.RetentionTable;
import dev.twinbox.inbox.jdbc.RetriedWrites;
import dev.twinbox.inbox.kafka.MetadataWatch;
import dev.twinbox.inbox.kafka.OffsetPolicy;
import dev.twinbox.inbox.kafka.RememberedOffsets;
import dev.twinbox.inbox.kafka.TopicLookup;
import dev.twinbox.inbox.pause.PauseLoop;
import dev.twinbox.inbox.pause.Pauses;
import dev.twinbox.inbox.replay.ReplayLoop;
import dev.twinbox.thread.StopRequest;
import dev.twinbox.tracing.Tracing;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.ThreadFactory;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.jspecify.annotations.Nullable;

/** The engine as a whole: it starts and stops the loops and the workers. */
public final class Receiver {

    private static final Logger LOG = System.getLogger(Receiver.class.getName());

    private final InboxConfig config;
    private final List<HandlerMethod> handlers;
    private final JtaDatabase database;
    private final ReceiverStatus status;
    private final InboxTable inbox;
    private final ParkedTable parked;
    private final DatabaseCheck check;
    private final Announcements announcements;
    private final Breakers breakers;
    private final Pauses pauses;
    private final HeldHandlers held;
    private final TopicLookup lookup;
    private final List<PollLoop> loops = new ArrayList<>();
    private final StopRequest stop = new StopRequest(ReceiverThreads::isShutDown);
    private @Nullable ReceiverThreads threads;
    private @Nullable RetentionLoop retention;
    private @Nullable KeyLocks locks;

    /**
     * Creates a receiver that is not started.
     *
     * @param handlers all handlers of the application
     */
    public Receiver(InboxConfig config, List<HandlerMethod> handlers, JtaDatabase database, ReceiverStatus status) {
        this.config = config;
        this.handlers = List.copyOf(handlers);
        this.database = database;
        this.status = status;
        this.inbox = new InboxTable(config.table(), config.parking().table());
        this.parked = new ParkedTable(config.parking().table());
        this.check = new DatabaseCheck(database, config.dataSource(), new InboxSchema(config.table()));
        this.announcements = new Announcements(
                config.group(),
                Announcements.of(handlers),
                HandlerTable.of(config.table()),
                config.retention(),
                database,
                status);
        this.breakers = new Breakers(HandlerTable.of(config.table()), Breakers.MOST_WAITING, status);
        this.pauses = pauses(config, new RetriedWrites(database), status);
        this.held = new HeldHandlers(breakers, pauses, HandlerTable.of(config.table()), Breakers.MOST_WAITING);
        status.showPaused(pauses::current);
        this.lookup = new TopicLookup(ConsumerSettings.adminProperties(config));
    }

    private static Pauses pauses(InboxConfig config, RetriedWrites transactions, ReceiverStatus status) {
        PausedTable table = PausedTable.of(config.table());
        return new Pauses(
                () -> transactions.run(connection -> table.read(connection, config.group())), status::noteOrRemove);
    }

    /**
     * Checks what can be checked before the first event. A mistake of the operator fails the deployment. A database or
     * broker that is down does not.
     *
     * @throws dev.twinbox.SchemaException if the database is not as the receiver needs it
     * @throws InvalidConfigurationException if a topic keeps records longer than the inbox keeps their rows
     */
    public void check() {
        try {
            check.run();
        } catch (SQLException e) {
            status.databaseFailed(e);
        }
        retention = retention();
    }

    /** Null if rows are kept for ever, or if no handler writes any. */
    private @Nullable RetentionLoop retention() {
        Duration keep = config.retention();
        Set<String> topics = handlers.stream()
                .filter(method -> method.delivery() == DeliveryContract.EXACTLY_ONCE_EFFECT)
                .map(HandlerMethod::topic)
                .collect(Collectors.toSet());
        if (keep == null || topics.isEmpty()) {
            return null;
        }
        TopicRetention topicRetention = new TopicRetention(config, keep, topics);
        TopicRetention.ParkingDecision verdict = topicRetention.compare();
        if (verdict.kind() == TopicRetention.ParkingDecision.Kind.TOO_SHORT) {
            throw new InvalidConfigurationException("Configuration of the inbox", verdict.problems());
        }
        RetentionTable table = RetentionTable.of(config.table());
        return new RetentionLoop(config, keep, inbox, table, topicRetention, verdict, database, status, stop);
    }

    /** Gives the locks of the application to handlers that are guarded. Called before {@link #start}. */
    public void guardBy(KeyLocks ofApplication) {
        locks = ofApplication;
    }

    /**
     * Starts all threads.
     *
     * @param subscriptions one for each consumer group
     * @param ofParked all handlers, of whatever contract: what is parked for them is retried in the application's group
     * @param afterCall runs on the thread of a handler's call when the call has ended
     * @param factory makes threads of the container
     */
    public void start(
            List<Subscription> subscriptions,
            Subscription ofParked,
            Tracing tracing,
            Runnable afterCall,
            ThreadFactory factory) {
        ReceiverThreads started = new ReceiverThreads(factory, config.workers(), status.loopEnds(), stop);
        threads = started;
        WorkerWaits waits = new WorkerWaits(longestCall(), CallWatch.GRACE, status);
        CallWatch watch = new CallWatch(
                database,
                started.workers(),
                waits,
                config.workers(),
                config.handlerTimeout(),
                ownTimeouts(),
                status,
                stop);
        started.start(watch, "twinbox-inbox-watch");
        Function<Parking, Attempts> attempts = parking ->
                new Attempts(parking.group(), database, tracing, afterCall, watch, breakers, parking, status);
        for (Subscription subscription : subscriptions) {
            start(subscription, attempts.apply(parking(subscription.group())), waits, started);
        }
        startRetries(ofParked, attempts.apply(parking(ofParked.group())), waits, started);
        startReplays(ofParked, attempts, waits, started);
        startPauses(started);
        if (retention != null) {
            started.start(retention, "twinbox-inbox-retention");
        }
    }

    /** Last, because it wakes the other loops. */
    private void startPauses(ReceiverThreads started) {
        pauses.listen(() -> loops.forEach(PollLoop::wakeUp));
        PauseLoop loop = new PauseLoop(pauses, stop);
        status.watch("paused topics and handlers", loop::secondsSinceLastRun);
        started.start(loop, "twinbox-inbox-pause");
    }

    private List<Duration> ownTimeouts() {
        List<Duration> own = new ArrayList<>();
        for (HandlerMethod method : handlers) {
            Duration timeout = method.options().timeout();
            if (timeout != null) {
                own.add(timeout);
            }
        }
        return own;
    }

    private Duration longestCall() {
        return ownTimeouts().stream()
                .reduce(config.handlerTimeout(), (one, other) -> one.compareTo(other) > 0 ? one : other);
    }

    private void start(Subscription subscription, Attempts attempts, WorkerWaits waits, ReceiverThreads started) {
        String group = subscription.group();
        Parking parking = parking(group);
        Claims.FromKafka claims = new Claims.FromKafka(inbox, parked, group, held, null);
        boolean isAtMostOnce = group.equals(config.atMostOnceGroup());
        UnknownTypes unknownTypes = unknownTypes(parking);
        Processor processor = isAtMostOnce
                ? new AtMostOnceProcessor(attempts, claims, config.unknownType(), status)
                : new TransactionalProcessor(attempts, claims, unknownTypes, parking, status, new Guard(locks, group));
        OffsetPolicy policy = isAtMostOnce ? OffsetPolicy.BEFORE_HANDLING : OffsetPolicy.AFTER_HANDLING;
        PollLoop loop = new PollLoop(
                group,
                check,
                announcements,
                pauses,
                members(subscription, new WatchedProcessor(processor, waits), policy, waits, started),
                config.backoff(),
                status,
                stop);
        loops.add(loop);
        started.start(loop, "twinbox-inbox-poll-" + loops.size());
    }

    private UnknownTypes unknownTypes(Parking parking) {
        return new UnknownTypes(
                config.group(),
                config.unknownType(),
                HandlerTable.of(config.table()),
                inbox,
                parking,
                database,
                status,
                UnknownTypes.MOST_WAITING);
    }

    private Supplier<GroupMember> members(
            Subscription subscription,
            Processor processor,
            OffsetPolicy policy,
            WorkerWaits waits,
            ReceiverThreads started) {
        String group = subscription.group();
        RememberedOffsets memory = memory(group, policy);
        Executor background = question ->
                started.background().execute(waits.watched("a question about offsets of group " + group, question));
        return () -> {
            MetadataWatch metadata = new MetadataWatch();
            return new GroupMember(
                    new KafkaConsumer<>(
                            ConsumerSettings.properties(config, group), metadata, new ByteArrayDeserializer()),
                    metadata::takeChange,
                    subscription,
                    processor,
                    policy,
                    config,
                    status,
                    memory,
                    pauses,
                    started.share()::execute,
                    background);
        };
    }

    private Parking parking(String group) {
        return parking(group, Claims.Effects.inInbox(inbox, group));
    }

    private Parking parking(String group, Claims.Effects effects) {
        return new Parking(
                group,
                parked,
                new RecordedStarts(config.parking().table()),
                config.parking(),
                effects,
                new RetriedWrites(database),
                pauses,
                status);
    }

    private void startRetries(Subscription ofParked, Attempts attempts, WorkerWaits waits, ReceiverThreads started) {
        Parking parking = parking(ofParked.group());
        ParkedRetries retries = new ParkedRetries(
                attempts, parking, inbox, ofParked, unknownTypes(parking), announcements, held, status);
        started.start(
                new RetryLoop(retries, started.share(), waits, config.databaseBackoff(), status, stop),
                "twinbox-inbox-retry");
    }

    private void startReplays(
            Subscription ofAll, Function<Parking, Attempts> attempts, WorkerWaits waits, ReceiverThreads started) {
        Map<String, String> topics = handlers.stream()
                .filter(method -> method.delivery() != DeliveryContract.AT_MOST_ONCE)
                .collect(Collectors.toMap(HandlerMethod::name, HandlerMethod::topic));
        ReplayWorker worker = new ReplayWorker(config, started.share(), waits, breakers, claims -> {
            Parking parking = parking(config.group(), claims);
            Guard open = new Guard(null, config.group()); // only one instance has the job
            return new TransactionalProcessor(
                    attempts.apply(parking), claims, unknownTypes(parking), parking, status, open);
        });
        Supplier<Consumer<byte[], byte[]>> consumers =
                () -> new KafkaConsumer<>(ConsumerSettings.propertiesOfReplay(config));
        RetriedWrites writes = new RetriedWrites(database);
        started.start(
                new ReplayLoop(config, ofAll, topics, writes, lookup, consumers, worker, pauses, stop),
                "twinbox-inbox-replay");
    }

    private RememberedOffsets memory(String group, OffsetPolicy policy) {
        return new RememberedOffsets(
                group,
                policy,
                config.start(),
                lookup,
                OffsetTable.of(config.table()),
                database,
                () -> new KafkaConsumer<>(ConsumerSettings.propertiesOfProbe(config)));
    }

    /** Stops all threads. Returns when they have ended, or when the wait for them is over. */
    public void stop() {
        if (loops.isEmpty()) {
            return;
        }
        LOG.log(Level.INFO, "Receiver of group {0} stops", config.group());
        stop.ask();
        loops.forEach(PollLoop::wakeUp);
        if (retention != null) {
            retention.wakeUp();
        }
        boolean isStopped = threads == null || threads.awaitEnd(config.shutdownTimeout());
        lookup.close();
        LOG.log(
                isStopped ? Level.INFO : Level.WARNING,
                isStopped
                        ? "Receiver stopped: {0} effects, {1} duplicates skipped"
                        : "Receiver stopped, but some of its threads did not end within "
                                + ReceiverThreads.longestWait(config.shutdownTimeout()),
                status.sum(ReceiverStatus.Total.EFFECTS),
                status.sum(ReceiverStatus.Total.DUPLICATES));
    }
}
