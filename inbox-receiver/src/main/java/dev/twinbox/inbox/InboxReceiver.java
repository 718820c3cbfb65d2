package dev.twinbox.inbox;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventSerializer;
import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.KeyLocks;
import dev.twinbox.config.ServerApis;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.config.InboxSettings;
import dev.twinbox.inbox.engine.Receiver;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.ErrorText;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerMethod;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.jdbc.InboxRows;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.inbox.jdbc.NewTransaction;
import dev.twinbox.inbox.jdbc.ParkedRows;
import dev.twinbox.jmx.ManagementBean;
import dev.twinbox.thread.ApplicationThreads;
import dev.twinbox.tracing.Tracing;
import jakarta.annotation.Resource;
import jakarta.ejb.EJB;
import jakarta.enterprise.concurrent.ManagedThreadFactory;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.context.spi.CreationalContext;
import jakarta.enterprise.inject.spi.BeanManager;
import jakarta.inject.Inject;
import jakarta.servlet.ServletContext;
import jakarta.transaction.TransactionSynchronizationRegistry;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * Connects the receiver to the application's container. It passes handlers, data source, threads and metrics of the
 * server.
 */
@ApplicationScoped
class InboxReceiver {

    private static final Logger LOG = System.getLogger(InboxReceiver.class.getName());

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

    private @Nullable Receiver receiver;

    /** An {@link InboxMetrics}. This class must be loadable without it. */
    private @Nullable AutoCloseable metrics;

    private @Nullable ManagementBean shown;

    private @Nullable CreationalContext<?> handlerContext;

    /** Throws if somebody has to correct something before the application can be deployed. */
    void start(ServletContext context) {
        extension.validate(context);
        extension.started(status);
        if (extension.handlers().isEmpty()) {
            LOG.log(Level.INFO, "No @InboxHandler in this application; the receiver has nothing to do");
            return;
        }
        InboxConfig config = extension.config();
        ServerApis.logAbsent();
        LOG.log(Level.INFO, "Receiver starts: {0}", config);
        JtaDatabase database = new JtaDatabase(transaction, registry, lookUp(config.dataSource()));
        parkedEvents.started(new ParkedRows(config.table(), config.parking().table()), database);
        handledEvents.started(
                new HandledEvents.Access(config.group(), claimingHandlers(), new InboxRows(config.table()), database));
        Receiver started = new Receiver(config, extension.handlers(), database, status.receiver());
        if (extension.handlers().stream().anyMatch(method -> method.options().isGuarded())) {
            started.guardBy(beans.createInstance().select(KeyLocks.class).get());
        }
        started.check();
        metrics = metrics(config.group());
        receiver = started;
        RequestScope scope = new RequestScope(beans, extension.requestScoped());
        Map<String, Handler> bound = bound();
        started.start(
                subscriptions(config, bound),
                subscription(config.group(), handlersByTopic(bound, method -> true)),
                Tracing.of(beans.createInstance()),
                scope::clear,
                new ApplicationThreads(threads, context.getClassLoader()));
        shown = ManagementBean.register(
                "Inbox", new TreeMap<>(Map.of("group", config.group())), new JmxInbox(status.receiver()));
    }

    /** Stops the receiver. Returns when its threads have ended, or when the wait for them is over. */
    void stop() {
        if (receiver != null) {
            receiver.stop();
        }
        removeMetrics();
        if (shown != null) {
            shown.close();
        }
        if (handlerContext != null) {
            handlerContext.release();
        }
    }

    /** Null if the server has no metrics. */
    private @Nullable AutoCloseable metrics(String group) {
        if (!extension.hasMetrics()) {
            return null;
        }
        try {
            return InboxMetrics.of(status.receiver(), group);
        } catch (RuntimeException | LinkageError e) { // the receiver works without metrics
            LOG.log(
                    Level.WARNING,
                    "The receiver runs without metrics; the server''s registry cannot be used: {0}",
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

    @SuppressWarnings("BanJNDI") // the name comes from the operator's configuration, not from user input
    private static DataSource lookUp(String name) {
        try {
            return InitialContext.doLookup(name);
        } catch (NamingException | ClassCastException e) {
            throw new InvalidConfigurationException(
                    "Configuration of the inbox",
                    List.of(InboxSettings.DATA_SOURCE.key() + " is \"" + name
                            + "\", but JNDI has no data source of this name, define it on the server: "
                            + e.getMessage()));
        }
    }

    private Map<String, Handler> bound() {
        CreationalContext<?> context = beans.createCreationalContext(null);
        handlerContext = context;
        return extension.handlers().stream()
                .collect(Collectors.toMap(HandlerMethod::name, method -> method.bind(beans, context)));
    }

    /** One for the application's group and one for {@code AT_MOST_ONCE}, each if it has handlers. */
    private List<Subscription> subscriptions(InboxConfig config, Map<String, Handler> bound) {
        List<Subscription> subscriptions = new ArrayList<>();
        addSubscription(subscriptions, config.group(), handlersByTopic(bound, method -> !isAtMostOnce(method)));
        addSubscription(subscriptions, config.atMostOnceGroup(), handlersByTopic(bound, InboxReceiver::isAtMostOnce));
        return subscriptions;
    }

    private void addSubscription(
            List<Subscription> subscriptions, String group, Map<String, Map<String, List<Handler>>> byTopic) {
        if (!byTopic.isEmpty()) {
            subscriptions.add(subscription(group, byTopic));
        }
    }

    private Subscription subscription(String group, Map<String, Map<String, List<Handler>>> byTopic) {
        return new Subscription(
                group,
                byTopic,
                Aliases.of(extension.handlers()),
                extension.config().formats(),
                extension.config().unknownType(),
                serializer);
    }

    private Map<String, Map<String, List<Handler>>> handlersByTopic(
            Map<String, Handler> bound, Predicate<HandlerMethod> ofGroup) {
        Map<String, Map<String, List<Handler>>> byTopic = new HashMap<>();
        for (HandlerMethod method : extension.handlers()) {
            if (ofGroup.test(method)) {
                byTopic.computeIfAbsent(method.topic(), t -> new HashMap<>())
                        .computeIfAbsent(method.type(), t -> new ArrayList<>())
                        .add(bound.get(method.name()));
            }
        }
        // The other group's types on the same topics are known, so they do not count as unknown.
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
}
