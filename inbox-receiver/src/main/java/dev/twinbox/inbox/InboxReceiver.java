package dev.twinbox.inbox;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventSerializer;
import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.config.Setting;
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
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SortedSet;
import java.util.TreeSet;
import java.util.function.Predicate;
import java.util.stream.Collectors;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Ties the receiver to the application's container: gives it handlers, data source, threads and metrics of the server. */
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

    /** {@link InboxMetrics}, which this class must not need to be loaded. */
    private @Nullable AutoCloseable metrics;

    private @Nullable CreationalContext<?> handlerContext;

    /** Throws what an operator has to correct before the application can be deployed. */
    void start() {
        extension.started(status);
        if (extension.handlers().isEmpty()) {
            LOG.log(Level.INFO, "No @InboxHandler in this application; the receiver has nothing to do");
            return;
        }
        InboxConfig config = extension.config();
        LOG.log(Level.INFO, "Receiver starts: {0}", config);
        JtaDatabase database = new JtaDatabase(transaction, registry, lookUp(config.dataSource()));
        parkedEvents.started(new ParkedRows(config.table(), config.parking().table()), database);
        handledEvents.started(
                new HandledEvents.Access(config.group(), claimingHandlers(), new InboxRows(config.table()), database));
        Receiver started = new Receiver(config, extension.handlers(), database, status.receiver());
        started.check();
        metrics = metrics(config.group());
        receiver = started;
        started.start(subscriptions(config), Tracing.of(beans.createInstance()), threads);
    }

    /** Returns when nothing of it runs any more, or when it has waited for that in vain. */
    void stop() {
        if (receiver != null) {
            receiver.stop();
        }
        removeMetrics();
        if (handlerContext != null) {
            handlerContext.release();
        }
    }

    /** Null: the server has none. */
    private @Nullable AutoCloseable metrics(String group) {
        if (!extension.hasMetrics()) {
            return null;
        }
        try {
            return InboxMetrics.of(status.receiver(), group);
        } catch (RuntimeException | LinkageError e) { // nothing that the receiver could not do without
            LOG.log(
                    Level.WARNING,
                    "No metrics of the receiver, the server''s registry cannot be used: {0}",
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

    @SuppressWarnings("BanJNDI") // the name is the operator's configuration, not anybody's input
    private static DataSource lookUp(String name) {
        try {
            return InitialContext.doLookup(name);
        } catch (NamingException | ClassCastException e) {
            throw new InvalidConfigurationException(
                    "Configuration of the inbox",
                    List.of(Setting.DATA_SOURCE.key() + " is \"" + name
                            + "\", under which JNDI has no data source, define it on the server: " + e.getMessage()));
        }
    }

    /** One for the application's group, one for {@code AT_MOST_ONCE}; whichever has handlers. */
    private List<Subscription> subscriptions(InboxConfig config) {
        CreationalContext<?> context = beans.createCreationalContext(null);
        handlerContext = context;
        Map<String, Handler> bound = extension.handlers().stream()
                .collect(Collectors.toMap(HandlerMethod::name, method -> method.bind(beans, context)));
        List<Subscription> subscriptions = new ArrayList<>();
        addSubscription(subscriptions, config.group(), handlersByTopic(bound, method -> !isAtMostOnce(method)));
        addSubscription(subscriptions, config.atMostOnceGroup(), handlersByTopic(bound, InboxReceiver::isAtMostOnce));
        return subscriptions;
    }

    private void addSubscription(
            List<Subscription> subscriptions, String group, Map<String, Map<String, List<Handler>>> byTopic) {
        if (!byTopic.isEmpty()) {
            subscriptions.add(new Subscription(
                    group,
                    byTopic,
                    Aliases.of(extension.handlers()),
                    extension.config().formats(),
                    extension.config().unknownType(),
                    serializer));
        }
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
}
