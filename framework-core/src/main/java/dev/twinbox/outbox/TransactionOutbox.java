package dev.twinbox.outbox;

import dev.twinbox.EventSerializer;
import dev.twinbox.InvalidConfigurationException;
import dev.twinbox.InvalidEventException;
import dev.twinbox.OutboxPublisher;
import dev.twinbox.thread.ApplicationThreads;
import dev.twinbox.thread.ContextClassLoader;
import dev.twinbox.tracing.Tracing;
import jakarta.annotation.PostConstruct;
import jakarta.annotation.PreDestroy;
import jakarta.annotation.Resource;
import jakarta.ejb.EJB;
import jakarta.enterprise.context.ApplicationScoped;
import jakarta.enterprise.inject.Any;
import jakarta.enterprise.inject.Instance;
import jakarta.inject.Inject;
import jakarta.transaction.Status;
import jakarta.transaction.TransactionRequiredException;
import jakarta.transaction.TransactionSynchronizationRegistry;
import jakarta.transaction.TransactionalException;
import java.sql.SQLException;
import java.time.InstantSource;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Collections;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.ThreadFactory;
import java.util.function.Consumer;
import java.util.function.Supplier;
import javax.naming.InitialContext;
import javax.naming.NamingException;
import org.eclipse.microprofile.config.Config;
import org.eclipse.microprofile.config.ConfigProvider;

/** The outbox of the current JTA transaction. */
@ApplicationScoped
class TransactionOutbox implements OutboxPublisher {

    /** A class as the key: each application, having a class loader of its own, gets a buffer of its own. */
    private static final Object BUFFER_KEY = TransactionBuffer.class;

    @Resource(lookup = "java:comp/TransactionSynchronizationRegistry")
    TransactionSynchronizationRegistry registry;

    @EJB
    OutboxInsertBean drain;

    @EJB
    ContainerTransaction containerTransaction;

    @EJB
    ApplicationTransaction applicationTransaction;

    @Inject
    OpeningExtension openings;

    @Inject
    EventSerializer serializer;

    /** To find what a server may lack. */
    @Inject
    @Any
    Instance<Object> beans;

    private OutboxConfiguration configuration;
    private RowFactory rows;
    private OutboxWriter writer;
    private Opening opening;

    @PostConstruct
    void configure() {
        Config config = ContextClassLoader.call(TransactionOutbox.class, ConfigProvider::getConfig);
        configuration = OutboxSettings.read(config);
        rows = new RowFactory(configuration, serializer, InstantSource.system(), Tracing.of(beans));
        writer = new OutboxWriter(configuration);
        opening = new Opening(this::open, TransactionOutbox::managedThreads, configuration);
        openings.opens(opening);
    }

    /** Opens the outbox now, not only with the first event. */
    void start() {
        opening.start();
    }

    @PreDestroy
    void stop() {
        opening.stop();
    }

    private ChosenWay open() throws SQLException {
        writer.check();
        return new SelfTest(
                        registry,
                        writer.dataSource(),
                        configuration.dataSource(),
                        List.of(containerTransaction::run, applicationTransaction::run),
                        drain::run)
                .choose();
    }

    /** Looked up, as few applications need them: only one whose database is away when it starts. */
    @SuppressWarnings("BanJNDI") // a name of the platform
    private static ThreadFactory managedThreads() {
        try {
            ThreadFactory threads = InitialContext.doLookup("java:comp/DefaultManagedThreadFactory");
            return new ApplicationThreads(threads, TransactionOutbox.class.getClassLoader());
        } catch (NamingException | ClassCastException e) {
            throw new InvalidConfigurationException(
                    "Start of the outbox",
                    List.of("its database cannot be reached, and this server has no managed threads to wait for it ("
                            + e.getMessage() + "): add Jakarta Concurrency to the server, or deploy when the database"
                            + " works"));
        }
    }

    @Override
    public UUID publish(Object event) {
        return publishAll(Collections.singletonList(event)).get(0);
    }

    @Override
    public List<UUID> publishAll(Collection<?> events) {
        requireTransaction();
        if (events.isEmpty()) {
            return List.of();
        }
        List<OutboxRow> added = new ArrayList<>(events.size());
        for (Object event : events) {
            added.add(row(event, added.size(), events.size()));
        }
        if (registry.getTransactionStatus() != Status.STATUS_MARKED_ROLLBACK) {
            buffer().addAll(added);
        }
        return added.stream().map(OutboxRow::id).toList();
    }

    /** @throws TransactionalException naming the calling method outside of Twinbox */
    void requireTransaction() {
        requireTransaction(TransactionOutbox::callingMethod);
    }

    /**
     * A transaction marked for rollback is enough: the event is rolled back with it, as everything else.
     *
     * @param method the one that needs the transaction, for the message
     */
    void requireTransaction(Supplier<String> method) {
        // Never getRollbackOnly(): it is false on WildFly after a timeout.
        int status = registry.getTransactionStatus();
        if (status == Status.STATUS_ACTIVE || status == Status.STATUS_MARKED_ROLLBACK) {
            return;
        }
        String message = method.get() + " publishes an event and needs an active JTA transaction, but "
                + describe(status)
                + ": make the method or its caller transactional (a session bean's default, or @Transactional)";
        throw new TransactionalException(message, new TransactionRequiredException(message));
    }

    private OutboxRow row(Object event, int index, int count) {
        try {
            return rows.row(event);
        } catch (InvalidEventException e) {
            if (count == 1) {
                throw e;
            }
            throw new InvalidEventException("event " + (index + 1) + " of " + count + ": " + e.getMessage(), e);
        }
    }

    private TransactionBuffer buffer() {
        TransactionBuffer buffer = (TransactionBuffer) registry.getResource(BUFFER_KEY);
        if (buffer == null) {
            buffer = new TransactionBuffer(registry, writer(), configuration);
            registry.putResource(BUFFER_KEY, buffer);
        }
        return buffer;
    }

    private Consumer<List<OutboxRow>> writer() {
        return switch (opening.way()) {
            case DIRECTLY -> writer::insert;
            case THROUGH_EJB -> list -> drain.run(() -> writer.insert(list));
        };
    }

    private static String describe(int status) {
        return switch (status) {
            case Status.STATUS_NO_TRANSACTION -> "there is none";
            case Status.STATUS_COMMITTED, Status.STATUS_COMMITTING -> "it has already committed";
            case Status.STATUS_ROLLEDBACK, Status.STATUS_ROLLING_BACK -> "it has been rolled back";
            default -> "its status is " + status + " (jakarta.transaction.Status)";
        };
    }

    private static String callingMethod() {
        return StackWalker.getInstance()
                .walk(frames -> frames.filter(frame -> isApplication(frame.getClassName()))
                        .findFirst()
                        .map(frame -> frame.getClassName() + "." + frame.getMethodName())
                        .orElse("OutboxPublisher.publish"));
    }

    /** Neither Twinbox nor a proxy of it. */
    private static boolean isApplication(String className) {
        return !className.startsWith("dev.twinbox.OutboxPublisher")
                && !className.startsWith("dev.twinbox.outbox.")
                && !className.startsWith("java.")
                && !className.startsWith("jdk.")
                && !className.startsWith("org.jboss.weld.");
    }
}
