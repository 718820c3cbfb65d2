package dev.twinbox.inbox;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventSerializer;
import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.inbox.GroupMember.OffsetPolicy;
import dev.twinbox.tracing.Tracing;
import jakarta.annotation.Resource;
import jakarta.ejb.EJB;
import jakarta.enterprise.concurrent.ManagedThreadFactory;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.spi.CreationalContext;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Collectors;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.jspecify.annotations.Nullable;

/** The receiver as a whole: starts its loops and workers, on threads of the container, and stops them. */
@ApplicationScoped
class InboxReceiver {

    private static final Logger LOG = System.getLogger(InboxReceiver.class.getName());

    private static final String AT_MOST_ONCE_SUFFIX = "-at-most-once";

    /** What leaving the group and ending the threads may take beyond the wait for handlers. */
    private static final Duration LEAVE_TIMEOUT = Duration.ofSeconds(10);

    private static final Duration INTERRUPT_TIMEOUT = Duration.ofSeconds(2);

    @Inject
    private InboxExtension extension;

    @Inject
    private BeanManager beans;

    @Inject
    private InboxStatus status;

    @Inject
    private ParkedEvents parkedEvents;

    @Inject
    private HandledEvents handledEvents;

    @Inject
    private EventSerializer serializer;

    @EJB
    private NewTransaction transaction;

    @Resource
    private ManagedThreadFactory threads;

    @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
    private TransactionSynchronizationRegistry registry;

    private final List<PollLoop> loops = new ArrayList<>();
    private final List<Thread> loopThreads = new ArrayList<>();
    private @Nullable RetryLoop retries;
    private @Nullable RetentionLoop retention;

    /** {@link InboxMetrics}, which this class must not need to be loaded. */
    private @Nullable AutoCloseable metrics;

    private @Nullable ExecutorService workers;
    private @Nullable CreationalContext<?> handlerContext;
    private Duration stopTimeout = Duration.ZERO;

    /** Throws what a person has to mend before the application can be deployed. */
    void start() {
        extension.started(status);
        if (extension.handlers().isEmpty()) {
            LOG.log(Level.INFO, "No @InboxHandler in this application; the receiver has nothing to do");
            return;
        }
        InboxConfig config = extension.config();
        LOG.log(Level.INFO, "Receiver starts: {0}", config);
        stopTimeout = config.stopTimeout();
        DataSource dataSource = lookUp(config.dataSource());
        InboxTable table = new InboxTable(config.table(), config.parking().table());
        ParkedTable parked = new ParkedTable(config.table(), config.parking().table());
        ShortTransaction shortTransaction = new ShortTransaction(transaction, registry, dataSource);
        parkedEvents.started(parked, shortTransaction);
        handledEvents.started(new HandledEvents.Access(config.group(), claimingHandlers(), table, shortTransaction));
        RetentionTable retentionTable = RetentionTable.of(config.table());
        DatabaseCheck check =
                new DatabaseCheck(transaction, dataSource, config.dataSource(), table, parked, retentionTable);
        checkNow(check);
        RetentionLoop oldRows = retention(config, table, retentionTable, shortTransaction);
        metrics = metrics(config.group());
        Tracing tracing = Tracing.of(beans.createInstance());
        ExecutorService executor = startWorkers(config.workers());
        workers = executor;
        for (Subscription subscription : subscriptions(config.group())) {
            Parking parking = new Parking(subscription.group(), parked, config.parking(), shortTransaction, status);
            Workshop workshop = new Workshop(
                    subscription.group(), transaction, registry, dataSource, table, parking, status, tracing);
            boolean atMostOnce = subscription.group().equals(config.group() + AT_MOST_ONCE_SUFFIX);
            Processor processor = atMostOnce ? new AtMostOnceProcessor(workshop) : new TransactionalProcessor(workshop);
            OffsetPolicy policy = atMostOnce ? OffsetPolicy.BEFORE_HANDLING : OffsetPolicy.AFTER_HANDLING;
            startLoop(new PollLoop(
                    "receiver of group " + subscription.group(),
                    check,
                    () -> new GroupMember(
                            new KafkaConsumer<>(ConsumerSettings.properties(config, subscription.group())),
                            subscription,
                            processor,
                            policy,
                            config,
                            status,
                            executor),
                    config.backoff(),
                    status));
            if (!atMostOnce) {
                startRetries(new RetryLoop(workshop, subscription, config, shortTransaction, handlerNames()));
            }
        }
        if (oldRows != null) {
            retention = oldRows;
            startThread(oldRows, "twinbox-inbox-retention");
        }
    }

    /**
     * Null: rows are kept for ever, or none is written.
     *
     * @throws InvalidConfigurationException if a topic can bring a record again whose row is gone
     */
    private @Nullable RetentionLoop retention(
            InboxConfig config, InboxTable table, RetentionTable retentionTable, ShortTransaction shortTransaction) {
        Duration keep = config.retention();
        Set<String> topics = extension.handlers().stream()
                .filter(method -> method.delivery() == DeliveryContract.EXACTLY_ONCE_EFFECT)
                .map(HandlerMethod::topic)
                .collect(Collectors.toSet());
        if (keep == null || topics.isEmpty()) {
            return null;
        }
        TopicRetention topicRetention = new TopicRetention(config, keep, topics);
        TopicRetention.Verdict verdict = topicRetention.compare();
        if (verdict.kind() == TopicRetention.Verdict.Kind.TOO_SHORT) {
            throw new InvalidConfigurationException("Configuration of the inbox", verdict.problems());
        }
        return new RetentionLoop(
                config, keep, table, retentionTable, topicRetention, verdict, shortTransaction, status);
    }

    /** Null: the server has none. */
    private @Nullable AutoCloseable metrics(String group) {
        if (!extension.hasMetrics()) {
            return null;
        }
        try {
            return InboxMetrics.of(status, group);
        } catch (RuntimeException | LinkageError e) { // nothing that the receiver could not do without
            LOG.log(
                    Level.WARNING,
                    "No metrics of the receiver, the server''s registry can not be used: {0}",
                    ErrorText.of(e));
            return null;
        }
    }

    private void removeMetrics() {
        AutoCloseable registered = metrics;
        if (registered != null) {
            try {
                registered.close();
            } catch (Exception e) {
                LOG.log(Level.WARNING, "The receiver''s metrics stay in the server''s registry: {0}", ErrorText.of(e));
            }
        }
    }

    private SortedSet<String> claimingHandlers() {
        return extension.handlers().stream()
                .filter(method -> method.delivery() == DeliveryContract.EXACTLY_ONCE_EFFECT)
                .map(HandlerMethod::name)
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private List<String> handlerNames() {
        return extension.handlers().stream().map(HandlerMethod::name).toList();
    }

    /** Returns when nothing of it runs any more, or when it has waited for that in vain. */
    void stop() {
        if (!loops.isEmpty()) {
            LOG.log(
                    Level.INFO,
                    "Receiver of group {0} is asked to stop",
                    extension.config().group());
        }
        loops.forEach(PollLoop::stop);
        if (retries != null) {
            retries.stop();
        }
        if (retention != null) {
            retention.stop();
        }
        Duration patience = stopTimeout.plus(LEAVE_TIMEOUT);
        long deadline = System.nanoTime() + patience.toNanos();
        boolean stopped = true;
        for (Thread thread : loopThreads) {
            stopped &= join(thread, deadline);
        }
        stopped &= stopWorkers();
        removeMetrics();
        if (handlerContext != null) {
            handlerContext.release();
        }
        if (!loops.isEmpty()) {
            LOG.log(
                    stopped ? Level.INFO : Level.WARNING,
                    stopped
                            ? "Receiver stopped: {0} effects, {1} duplicates skipped"
                            : "Receiver stopped and left threads behind, which did not end within "
                                    + patience.plus(INTERRUPT_TIMEOUT),
                    status.effects(),
                    status.duplicates());
        }
    }

    @SuppressWarnings("BanJNDI") // the name is the operator's configuration, not anybody's input
    private static DataSource lookUp(String name) {
        try {
            return InitialContext.doLookup(name);
        } catch (NamingException | ClassCastException e) {
            throw new InvalidConfigurationException(
                    "Configuration of the inbox",
                    List.of(Setting.DATA_SOURCE.key() + " is \"" + name + "\", under which JNDI has no data source: "
                            + e.getMessage()));
        }
    }

    /** What a person has to mend fails the deployment; a database that is away does not. */
    private void checkNow(DatabaseCheck check) {
        try {
            check.run();
        } catch (SQLException e) {
            status.databaseFailed(e);
        }
    }

    /** One for the application's group, one for {@code AT_MOST_ONCE}; whichever has handlers. */
    private List<Subscription> subscriptions(String group) {
        CreationalContext<?> context = beans.createCreationalContext(null);
        handlerContext = context;
        Map<String, Handler> bound = extension.handlers().stream()
                .collect(Collectors.toMap(HandlerMethod::name, method -> method.bind(beans, context)));
        List<Subscription> subscriptions = new ArrayList<>();
        for (boolean atMostOnce : new boolean[] {false, true}) {
            Map<String, Map<String, List<Handler>>> byTopic = handlersByTopic(bound, atMostOnce);
            if (!byTopic.isEmpty()) {
                subscriptions.add(new Subscription(
                        atMostOnce ? group + AT_MOST_ONCE_SUFFIX : group,
                        byTopic,
                        Aliases.of(extension.handlers()),
                        extension.config().formats(),
                        extension.config().unknownType(),
                        serializer));
            }
        }
        return subscriptions;
    }

    private Map<String, Map<String, List<Handler>>> handlersByTopic(Map<String, Handler> bound, boolean atMostOnce) {
        Map<String, Map<String, List<Handler>>> byTopic = new HashMap<>();
        for (HandlerMethod method : extension.handlers()) {
            if (isAtMostOnce(method) == atMostOnce) {
                byTopic.computeIfAbsent(method.topic(), t -> new HashMap<>())
                        .computeIfAbsent(method.type(), t -> new ArrayList<>())
                        .add(bound.get(method.name()));
            }
        }
        // Types of the other group on the same topics are known, not foreign.
        for (HandlerMethod method : extension.handlers()) {
            Map<String, List<Handler>> types = byTopic.get(method.topic());
            if (types != null) {
                types.putIfAbsent(method.type(), Subscription.none());
            }
        }
        return byTopic;
    }

    private static boolean isAtMostOnce(HandlerMethod method) {
        return method.delivery() == DeliveryContract.AT_MOST_ONCE;
    }

    private ExecutorService startWorkers(int number) {
        AtomicInteger count = new AtomicInteger();
        return new ThreadPoolExecutor(number, number, 0, TimeUnit.SECONDS, new LinkedBlockingQueue<>(), work -> {
            Thread thread = threads.newThread(work);
            thread.setName("twinbox-inbox-worker-" + count.incrementAndGet());
            return thread;
        });
    }

    private void startLoop(PollLoop loop) {
        loops.add(loop);
        startThread(loop, "twinbox-inbox-poll-" + loops.size());
    }

    private void startRetries(RetryLoop loop) {
        retries = loop;
        startThread(loop, "twinbox-inbox-retry");
    }

    private void startThread(Runnable loop, String name) {
        Thread thread = threads.newThread(loop);
        thread.setName(name);
        loopThreads.add(thread);
        thread.start();
    }

    private static boolean join(Thread thread, long deadline) {
        try {
            long millis = TimeUnit.NANOSECONDS.toMillis(deadline - System.nanoTime());
            thread.join(Math.max(1, millis));
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        if (thread.isAlive()) {
            thread.interrupt();
        }
        return !thread.isAlive();
    }

    private boolean stopWorkers() {
        ExecutorService executor = workers;
        if (executor == null) {
            return true;
        }
        executor.shutdownNow();
        try {
            return executor.awaitTermination(INTERRUPT_TIMEOUT.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }
}
