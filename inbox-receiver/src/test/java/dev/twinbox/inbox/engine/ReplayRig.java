package dev.twinbox.inbox.engine;

import dev.twinbox.DeliveryContract;
import dev.twinbox.EventReading;
import dev.twinbox.inbox.Database;
import dev.twinbox.inbox.NoSerializer;
import dev.twinbox.inbox.config.InboxConfig;
import dev.twinbox.inbox.event.Aliases;
import dev.twinbox.inbox.event.Handler;
import dev.twinbox.inbox.event.HandlerMethod;
import dev.twinbox.inbox.event.HandlerOptions;
import dev.twinbox.inbox.event.HandlerShape;
import dev.twinbox.inbox.event.Subscription;
import dev.twinbox.inbox.event.TopicFormat;
import dev.twinbox.inbox.event.UnknownType;
import dev.twinbox.inbox.jdbc.JtaDatabase;
import dev.twinbox.thread.Supervisor;
import dev.twinbox.tracing.Tracing;
import jakarta.enterprise.inject.spi.Bean;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;

/**
 * A whole receiver without a container, on a real broker and a real database. Its handlers write an effect for each event,
 * then do what its value says: {@code id fail} fails, {@code id wait} waits for the gate.
 */
final class ReplayRig implements AutoCloseable {

    private final JtaDatabase transactions;
    private final Receiver receiver;
    private volatile boolean isRepaired;

    /** Lists of ids with which the handler of lists was called. */
    final List<List<String>> lists = new CopyOnWriteArrayList<>();

    final ReceiverStatus status = new ReceiverStatus();

    /** Starts it. It has the handlers {@code once}, {@code repeating} and {@code listing} of the type {@code order}. */
    ReplayRig(Database database, String group, String topic) {
        transactions = LocalTransactions.on(database);
        InboxConfig config = KafkaMember.config(group, topic, "earliest");
        List<Handler> handlers = List.of(
                handler("listing", DeliveryContract.EXACTLY_ONCE_EFFECT, HandlerShape.LIST),
                handler("once", DeliveryContract.EXACTLY_ONCE_EFFECT, HandlerShape.EVENT),
                handler("repeating", DeliveryContract.AT_LEAST_ONCE, HandlerShape.EVENT));
        receiver = new Receiver(
                config,
                List.of(
                        method("listing", topic, DeliveryContract.EXACTLY_ONCE_EFFECT, HandlerShape.LIST),
                        method("once", topic, DeliveryContract.EXACTLY_ONCE_EFFECT, HandlerShape.EVENT),
                        method("repeating", topic, DeliveryContract.AT_LEAST_ONCE, HandlerShape.EVENT)),
                transactions,
                status);
        Subscription subscription = new Subscription(
                group,
                Map.of(topic, Map.of("order", handlers)),
                Aliases.NONE,
                TopicFormat.OfTopics.CLOUD_EVENTS,
                UnknownType.SKIP,
                new NoSerializer());
        receiver.start(List.of(subscription), subscription, Tracing.off(), () -> {}, Supervisor.DAEMONS);
    }

    /** What fails, fails no longer. */
    void repair() {
        isRepaired = true;
    }

    private Handler handler(String name, DeliveryContract delivery, HandlerShape shape) {
        try {
            MethodHandle call = MethodHandles.lookup()
                    .bind(this, "call", MethodType.methodType(void.class, String.class, Object.class));
            return new Handler(
                    name,
                    delivery,
                    shape,
                    String.class,
                    MethodHandles.dropArguments(call.bindTo(name), 1, Object.class)
                            .asType(Handler.CALL));
        } catch (ReflectiveOperationException e) {
            throw new IllegalStateException(e);
        }
    }

    private static HandlerMethod method(String name, String topic, DeliveryContract delivery, HandlerShape shape) {
        try {
            Bean<?> none = (Bean<?>) Proxy.newProxyInstance(
                    ReplayRig.class.getClassLoader(), new Class<?>[] {Bean.class}, (proxy, method, arguments) -> null);
            return new HandlerMethod(
                    name,
                    topic,
                    "order",
                    Set.of(),
                    delivery,
                    shape,
                    HandlerOptions.DEFAULT,
                    String.class,
                    EventReading.STRICT,
                    Object.class.getMethod("toString"),
                    none,
                    Object.class);
        } catch (NoSuchMethodException e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings("unused")
    private void call(String handler, Object value) throws Exception {
        if (value instanceof List<?> events) {
            List<String> ids =
                    events.stream().map(each -> each.toString().split(" ")[0]).toList();
            lists.add(ids);
            for (String id : ids) {
                write(handler, id);
            }
            return;
        }
        String[] parts = value.toString().split(" ");
        write(handler, parts[0]);
        if (parts.length > 1 && parts[1].equals("fail") && !isRepaired) {
            throw new IllegalStateException("as the event says");
        }
        if (parts.length > 1 && parts[1].equals("wait")) {
            try (Connection connection = transactions.connect();
                    PreparedStatement statement =
                            connection.prepareStatement("select pg_advisory_xact_lock_shared(42)")) {
                statement.execute();
            }
        }
    }

    private void write(String handler, String id) throws Exception {
        try (Connection connection = transactions.connect();
                PreparedStatement statement =
                        connection.prepareStatement("insert into effect (handler, event_id) values (?, ?)")) {
            statement.setString(1, handler);
            statement.setString(2, id);
            statement.executeUpdate();
        }
    }

    @Override
    public void close() {
        receiver.stop();
    }
}
